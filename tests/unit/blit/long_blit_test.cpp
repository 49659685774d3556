// Long BLTs are done in parts. Other engines and the clock advance between the parts, and the result is the same as
// that of a single part. Most tests draw with XOR and many lines at the same address (pitch 0), so that a line that is
// drawn twice or not at all is visible.
#include <cstring>
#include <memory>

#include "blit_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint32_t kXorPattern = 0x5a;
constexpr int kLines = 8001;  // one page per line: 4 ms of virtual time
constexpr uint32_t kColor = 0x1357'9bdf;

struct LongBench : BlitBench {
  explicit LongBench(std::string_view name) : BlitBench(name), target(allocate(1)) {}

  // Draws `lines` lines at the same address: an odd number leaves the colour, an even number leaves zero.
  Dwords long_fill(int lines = kLines) const {
    return color(target, control(kDepth32, kXorPattern, 0), {0, 0, 1024, lines}, kColor);
  }
  void start(const Dwords& commands) {
    emit(engine, commands);
    submit(engine);
  }
  const engine::EngineState& engine_state() {
    for (unsigned number = 0; number < model.engines.size(); ++number) {
      if (model.engines[number].name == engine) {
        return device->engines().engine(number).state();
      }
    }
    return device->engines().engine(0).state();
  }
  const blit::BlitState& state() { return engine_state().blit; }
  const blit::Progress& progress() { return state().progress; }
  bool is_at_work() { return engine_state().long_command.work == engine::LongWork::blit; }
  uint32_t br00() { return static_cast<uint32_t>(state().br[0]); }
  bool in_the_middle() { return is_at_work() && progress().lines > 0 && progress().lines < kLines; }
  std::vector<uint32_t> page() {
    std::vector<uint32_t> dwords;
    for (uint64_t at = 0; at < kPage; at += 4) {
      dwords.push_back(peek(target + at));
    }
    return dwords;
  }
  void expect_page(uint32_t value) {
    for (uint64_t at = 0; at < kPage; at += 4) {
      ASSERT_EQ(peek(target + at), value) << at;
    }
  }

  uint64_t target;
};

class LongBlit : public ::testing::TestWithParam<std::string> {
 protected:
  LongBench bench{GetParam()};
};

TEST_P(LongBlit, EveryLineIsDrawnOnce) {
  bench.start(bench.long_fill());
  bench.device->advance(1'000'000);
  EXPECT_TRUE(bench.in_the_middle());
  EXPECT_FALSE(bench.idle());
  EXPECT_EQ(bench.br00(), 1u << 31 | 0x50u << 22 | kWriteAll | 1u << 4) << "busy";
  EXPECT_TRUE(bench.device->settle());
  EXPECT_TRUE(bench.idle());
  EXPECT_EQ(bench.br00(), 0x50u << 22 | kWriteAll | 1u << 4);
  bench.expect_page(kColor);
  bench.start(bench.long_fill());
  EXPECT_TRUE(bench.device->settle());
  bench.expect_page(0);
}

// A guest may overwrite a command while its engine works on it: later parts execute what the first part saw.
TEST_P(LongBlit, OverwrittenCommandContinuesAsItBegan) {
  bench.start(bench.long_fill());
  bench.device->advance(1'000'000);
  while (bench.progress().lines % 2 != 0) {  // so far the lines cancel each other
    bench.device->advance(100);
  }
  ASSERT_TRUE(bench.in_the_middle());
  const uint64_t command = bench.engine_state().long_command.address;
  const uint64_t dwords = bench.long_fill().size();
  bench.poke(command, 0x5800'0000 | (bench.peek(command) & 0xff));  // another BLT of the same length
  for (uint64_t dword = 1; dword < dwords; ++dword) {
    bench.poke(command + 4 * dword, 0);
  }
  EXPECT_TRUE(bench.device->settle());
  EXPECT_TRUE(bench.idle());
  bench.expect_page(kColor);
}

// Device::advance returns after the requested time, however long the BLT is.
TEST_P(LongBlit, TimeAdvancesDuringTheBlt) {
  bench.start(bench.color(bench.target, control(kDepth8, kXorPattern, 0), {0, 0, 2048, 32767}, 1));
  for (unsigned i = 1; i <= 20; ++i) {
    bench.device->advance(100'000);
    EXPECT_TRUE(bench.is_at_work());
    EXPECT_GT(bench.progress().lines, (i - 1) * 390u) << "8 bytes per nanosecond";
    EXPECT_LT(bench.progress().lines, (i + 2) * 400u);
  }
}

TEST_P(LongBlit, StoreOfAnotherEngineCompletesDuringTheBlt) {
  std::string other;
  for (const spec::EngineModel& each : bench.model.engines) {
    if (each.name != bench.engine) {
      other = std::string(each.name);
    }
  }
  if (other.empty()) {
    GTEST_SKIP() << "this chip has only one engine";
  }
  const uint64_t data = bench.allocate(1);
  bench.start_ring(other);
  bench.start(bench.long_fill());
  bench.device->advance(500'000);
  ASSERT_TRUE(bench.in_the_middle());
  const auto low = static_cast<uint32_t>(data);
  bench.emit(other, bench.wide() ? Dwords{0x1040'0002, low, 0, 0xfeed'f00d} : Dwords{0x1040'0002, 0, low, 0xfeed'f00d});
  bench.submit(other);
  bench.device->advance(100'000);
  EXPECT_EQ(bench.peek(data), 0xfeed'f00du);
  EXPECT_TRUE(bench.in_the_middle());
  EXPECT_TRUE(bench.device->settle());
  bench.expect_page(kColor);
}

TEST_P(LongBlit, NextCommandOfTheRingWaits) {
  const uint64_t source = bench.target;
  const uint64_t copy = bench.allocate(1);
  bench.start(bench.long_fill() + bench.copy(copy, control(kDepth32, 0xcc, 64), {0, 0, 1, 1}, source, 64, 0, 0));
  bench.device->advance(1'000'000);
  ASSERT_TRUE(bench.in_the_middle());
  EXPECT_EQ(bench.peek(copy), 0u);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(copy), kColor);
}

TEST_P(LongBlit, SnapshotDuringTheBltResumesInAnotherDevice) {
  bench.start(bench.long_fill());
  bench.device->advance(1'500'000);
  ASSERT_TRUE(bench.in_the_middle());
  const auto snapshot = bench.device->snapshot();
  LongBench second(GetParam());
  ASSERT_EQ(second.target, bench.target);
  for (uint64_t page = bench.target; page < bench.target + 0x40 * kPage; page += kPage) {
    for (uint64_t at = 0; at < kPage; at += 4) {
      second.poke(page + at, bench.peek(page + at));
    }
  }
  const uint64_t ring = bench.ring_start(bench.engine);
  for (uint64_t at = 0; at < kPage; at += 4) {
    second.poke(ring + at, bench.peek(ring + at));
  }
  second.device->restore(snapshot);
  EXPECT_EQ(second.progress(), bench.progress());
  EXPECT_TRUE(second.device->settle());
  second.expect_page(kColor);
  EXPECT_TRUE(bench.device->settle()) << "the first device is not affected";
  bench.expect_page(kColor);
}

TEST_P(LongBlit, ResetDuringTheBltEndsIt) {
  bench.start(bench.long_fill());
  bench.device->advance(1'000'000);
  ASSERT_TRUE(bench.in_the_middle());
  bench.device->reset_engine(bench.engine_model(bench.engine));
  EXPECT_FALSE(bench.is_at_work());
  const std::vector<uint32_t> left = bench.page();
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.page(), left);
  if (bench.is_gen4()) {
    bench.enable_table();  // a register of the engine's block
  }
  // The same command at the same ring address restarts from its first line.
  for (uint64_t at = 0; at < kPage; at += 4) {
    bench.poke(bench.target + at, 0);
  }
  bench.start_ring(bench.engine, 8);
  bench.start(bench.long_fill());
  EXPECT_TRUE(bench.device->settle());
  bench.expect_page(kColor);
}

// A ring stops between commands, so the BLT completes, and the ring is not idle before that.
TEST_P(LongBlit, StoppedRingCompletesTheBlt) {
  constexpr uint32_t kMode = 0x9c, kStop = 1u << 8, kIdle = 1u << 9;
  bench.start(bench.long_fill() + bench.long_fill());
  bench.device->advance(500'000);
  ASSERT_TRUE(bench.in_the_middle());
  bench.set_reg(bench.engine, kMode, kStop << 16 | kStop);
  EXPECT_EQ(bench.reg(bench.engine, kMode) & kIdle, 0u);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(bench.engine, kMode) & kIdle, kIdle);
  EXPECT_FALSE(bench.idle()) << "the second BLT is pending";
  bench.expect_page(kColor);
  bench.set_reg(bench.engine, kMode, kStop << 16);
  EXPECT_TRUE(bench.device->settle());
  bench.expect_page(0);
}

// The guest changes the command while it runs, so that its lines no longer exist. Nothing is drawn outside of the union
// of both commands.
TEST_P(LongBlit, CommandThatChangesWhileItRunsDoesNotCrash) {
  bench.start(bench.long_fill());
  bench.device->advance(1'000'000);
  ASSERT_TRUE(bench.in_the_middle());
  bench.poke(bench.ring_start(bench.engine) + 3 * 4, pack_yx(3, 1024));
  EXPECT_TRUE(bench.device->settle());
  EXPECT_TRUE(bench.idle());
  EXPECT_FALSE(bench.is_at_work());
}

// Source and destination overlap: the direction rule holds across the parts. 600 lines of one page are 2.4 MB.
TEST_P(LongBlit, OverlappingCopyKeepsItsDirection) {
  constexpr int kHeight = 600;
  constexpr int kWidth = 1000;
  const uint64_t area = bench.allocate(kHeight + 16);
  const auto value = [](int x, int y) { return static_cast<uint32_t>(y) << 16 | static_cast<uint32_t>(x); };
  const struct { int dx, dy; } kMoves[] = {{3, 5}, {-2, -4}, {7, 0}, {-7, 0}, {0, 1}, {5, -3}};
  for (const auto [dx, dy] : kMoves) {
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < 1024; ++x) {
        bench.poke(area + static_cast<uint64_t>(y) * kPage + static_cast<uint64_t>(x) * 4, value(x, y));
      }
    }
    const int sx = std::max(0, -dx) + 4;
    const int sy = std::max(0, -dy) + 4;
    const int lines = kHeight - 16;
    bench.start(bench.copy(area, control(kDepth32, 0xcc, 4096), {sx + dx, sy + dy, sx + dx + kWidth, sy + dy + lines},
                           area, 4096, sx, sy));
    bench.device->advance(200'000);
    EXPECT_TRUE(bench.in_the_middle()) << dx << ", " << dy;
    EXPECT_TRUE(bench.device->settle());
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < 1024; ++x) {
        const bool moved = x >= sx + dx && x < sx + dx + kWidth && y >= sy + dy && y < sy + dy + lines;
        ASSERT_EQ(bench.peek(area + static_cast<uint64_t>(y) * kPage + static_cast<uint64_t>(x) * 4),
                  moved ? value(x - dx, y - dy) : value(x, y))
            << "moved by " << dx << ", " << dy << ": at " << x << ", " << y;
      }
    }
  }
}

// In the unsafe direction SRC_COPY_BLT copies byte by byte, also across the parts.
TEST_P(LongBlit, OverlapInTheUnsafeDirectionRepeatsBytes) {
  constexpr uint64_t kWidth = 4000;
  constexpr uint64_t kHeight = 24;
  const uint64_t area = bench.allocate(kHeight + 1);
  for (uint64_t y = 0; y < kHeight; ++y) {
    for (uint64_t x = 0; x < kPage; ++x) {
      bench.put_byte(area + y * kPage + x, static_cast<uint8_t>(x * 7 + y));
    }
  }
  Dwords rest{control(kDepth8, 0xcc, 4096), static_cast<uint32_t>(kHeight << 16 | kWidth)};
  rest = rest + bench.at(area + 3) + Dwords{4096} + bench.at(area);
  bench.start(BlitBench::with_header(0x43, kWriteAll, rest));
  bool seen_in_a_line = false;
  for (unsigned i = 0; i < 40; ++i) {
    bench.device->advance(500);
    seen_in_a_line |= bench.is_at_work() && bench.progress().chunks != 0;
  }
  EXPECT_TRUE(seen_in_a_line) << "a part ended within a line";
  EXPECT_TRUE(bench.device->settle());
  for (uint64_t y = 0; y < kHeight; ++y) {
    for (uint64_t x = 0; x < kPage; ++x) {
      const uint64_t from = x < kWidth + 3 ? x % 3 : x;
      ASSERT_EQ(bench.byte_at(area + y * kPage + x), static_cast<uint8_t>(from * 7 + y)) << x << ", " << y;
    }
  }
}

// The pattern is read before the first pixel; the rectangle then overwrites it.
TEST_P(LongBlit, RectangleMayCoverItsPattern) {
  for (uint64_t i = 0; i < 64; ++i) {
    bench.poke(bench.target + 4 * i, static_cast<uint32_t>(i) * 0x0101'0101u);
  }
  bench.start(bench.pattern(bench.target, control(kDepth32, 0x0f, 0), {0, 0, 1024, kLines}, bench.target));
  bench.device->advance(1'000'000);
  EXPECT_TRUE(bench.in_the_middle());
  EXPECT_TRUE(bench.device->settle());
  for (uint64_t x = 0; x < 1024; ++x) {
    const auto pixel = static_cast<uint32_t>((kLines - 1) % 8 * 8 + x % 8);  // of the last line
    ASSERT_EQ(bench.peek(bench.target + 4 * x), ~(pixel * 0x0101'0101u)) << x;
  }
}

// Fault and halt: the BLT waits for a page in its middle and resumes after the response. No pixel is drawn twice.
TEST(LongBlitFault, PageResponseResumesTheBlt) {
  for (const char* const chip : {"bdw", "skl", "icl", "tgl"}) {
    LongBench bench(chip);
    constexpr uint64_t kPages = 700;
    constexpr uint64_t kHole = 600;
    const uint64_t area = bench.allocate(kPages);
    bench.set_entry(area / kPage + kHole, 0);
    const auto number = static_cast<unsigned>(&bench.engine_model(bench.engine) - bench.model.engines.data());
    memory::FaultUnit& faults = bench.device->memory().faults();
    faults.set_context(number, {.model = memory::FaultModel::halt, .page_requests = true, .pasid = 5});
    bench.start(bench.color(area, control(kDepth32, kXorPattern, 4096), {0, 0, 1024, kPages}, kColor));
    bench.device->advance(2'000'000);
    EXPECT_EQ(bench.device->engines().engine(number).state().wait.kind, engine::WaitKind::page) << chip;
    EXPECT_EQ(bench.progress().lines, kHole) << chip;
    EXPECT_EQ(bench.peek(area), kColor) << chip;
    bench.map(area / kPage + kHole, EngineBench::host_address(area + kHole * kPage));
    EXPECT_TRUE(bench.device->memory().faults().respond({5, area + kHole * kPage, true})) << chip;
    EXPECT_TRUE(bench.device->settle()) << chip;
    EXPECT_TRUE(bench.idle()) << chip;
    for (uint64_t at = 0; at < kPages * kPage; at += 1020) {
      ASSERT_EQ(bench.peek(area + at), kColor) << chip << " " << at;
    }
  }
}

const auto kName = [](const auto& chip) { return chip.param; };
INSTANTIATE_TEST_SUITE_P(Chips, LongBlit, ::testing::ValuesIn(every_chip()), kName);

}  // namespace
}  // namespace halogen
