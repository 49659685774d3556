// Pipeline state in context images: saved and restored as commands, with MI_SET_CONTEXT, with run lists and with
// execlists. Encodings are from the manuals. A test sees a setting in the image that the next switch saves.
#include "flow_bench.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kCxtSize = 0x1a0;
constexpr uint32_t kInhibit = 1, kGlobal = 0x100;
constexpr uint32_t kRectangle = 0x7900'0002;  // 3DSTATE_DRAWING_RECTANGLE: edges, far edges, origin
constexpr uint32_t kPrimitive = 0x7b00'0004;  // 3DPRIMITIVE of Gen4 and Gen6
constexpr uint32_t kMaxImageDwords = 4096;    // no image of these chips is longer

using Dwords = FlowBench::Dwords;

Dwords rectangle(uint32_t edge) {
  return {kRectangle, 0, edge, 0};
}

class ContextSettings : public ::testing::TestWithParam<std::string> {
 protected:
  ContextSettings() : bench(GetParam()) {
    for (uint64_t& context : contexts) {
      context = bench.allocate(2);
    }
    bench.start_ring(kRcs);
  }
  void switch_to(unsigned which, uint32_t flags = 0) {
    bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(contexts[which]) | kGlobal | flags, kNoop, kNoop});
  }
  void set(uint32_t edge) { bench.run_all(kRcs, rectangle(edge)); }
  // Returns an edge of the rectangle in an image. Zero: the image has no rectangle.
  uint32_t edge_in(unsigned which) {
    for (uint64_t at = 0; at + 16 <= kMaxImageDwords; at += 4) {
      if (bench.peek(contexts[which] + at) == kRectangle) {
        return bench.peek(contexts[which] + at + 8);
      }
    }
    return 0;
  }
  uint64_t place_of_settings(unsigned which) {
    uint64_t at = 0;
    while (at < kMaxImageDwords && bench.peek(contexts[which] + at) != kRectangle) {
      at += 4;
    }
    return contexts[which] + at;
  }
  // Lines of 64 bytes. Gen4 stores the count minus one; Gen6 adds several parts, of which this is one.
  void set_lines(uint32_t lines) { bench.set_reg(kRcs, kCxtSize, bench.is_gen4() ? lines - 1 : lines); }

  FlowBench bench;
  uint64_t contexts[3] = {};
};

TEST_P(ContextSettings, SettingsAreSavedAndRestoredWithTheirContext) {
  switch_to(0, kInhibit);
  set(0x0011'0022);
  switch_to(1, kInhibit);
  EXPECT_EQ(edge_in(0), 0x0011'0022u);
  set(0x0033'0044);
  switch_to(0);
  EXPECT_EQ(edge_in(1), 0x0033'0044u);
  bench.poke(place_of_settings(0) + 8, 0x0055'0066);  // the next restore loads this value
  switch_to(1);
  EXPECT_EQ(edge_in(0), 0x0011'0022u) << "restored before, now saved again";
  switch_to(2, kInhibit);
  EXPECT_EQ(edge_in(1), 0x0033'0044u);
  EXPECT_EQ(bench.undefined(), 0u);
  EXPECT_EQ(bench.events(EventKind::unsupported), 0u);
}

TEST_P(ContextSettings, CommandsThatWereNeverSentAreNotInTheImage) {
  switch_to(0, kInhibit);
  switch_to(1, kInhibit);
  set(0x0011'0022);
  switch_to(0);
  switch_to(1);
  EXPECT_EQ(edge_in(0), 0u);
  switch_to(0);
  EXPECT_EQ(edge_in(1), 0x0011'0022u);
}

TEST_P(ContextSettings, RestoreInhibitRestoresNoSettings) {
  switch_to(0, kInhibit);
  set(0x0011'0022);
  switch_to(1, kInhibit);
  set(0x0033'0044);
  switch_to(0, kInhibit);
  switch_to(1, kInhibit);
  EXPECT_EQ(edge_in(0), 0x0033'0044u) << "the state that it found, not the state that it saved before";
}

TEST_P(ContextSettings, StateBaseAddressesAreRestored) {
  const bool gen4 = bench.is_gen4();
  const uint32_t header = 0x6101'0000 | (gen4 ? 4u : 8u);
  const auto bases = [&](uint32_t surface) {  // general and surface base, with their modify enable bits
    Dwords words(gen4 ? 6 : 10);
    words[0] = header;
    words[1] = 0x0010'0001;
    words[2] = surface | 1;
    return words;
  };
  const auto surface_in = [&](unsigned which) {
    for (uint64_t at = 0; at + 16 <= kMaxImageDwords; at += 4) {
      if (bench.peek(contexts[which] + at) == header) {
        return bench.peek(contexts[which] + at + 8);
      }
    }
    return 0u;
  };
  switch_to(0, kInhibit);
  bench.run_all(kRcs, bases(0x0220'0000));
  switch_to(1, kInhibit);
  bench.run_all(kRcs, bases(0x0330'0000));
  switch_to(0);
  switch_to(1);
  EXPECT_EQ(surface_in(0), 0x0220'0001u);
  EXPECT_EQ(surface_in(1), 0x0330'0001u);
}

TEST_P(ContextSettings, StateThatDoesNotFitIsReportedAndLost) {
  set_lines(20);  // 320 dwords: room for registers and a rectangle, not for a palette too
  switch_to(0, kInhibit);
  set(0x0011'0022);
  switch_to(1, kInhibit);
  EXPECT_EQ(edge_in(0), 0x0011'0022u);
  EXPECT_EQ(bench.events(EventKind::unsupported), 0u);
  switch_to(0);
  Dwords palette(257);
  palette[0] = 0x7902'00ff;  // 3DSTATE_SAMPLER_PALETTE_LOAD0
  bench.run_all(kRcs, palette);
  switch_to(1, kInhibit);
  EXPECT_EQ(bench.events(EventKind::unsupported), 1u);
  EXPECT_EQ(edge_in(0), 0u);
  EXPECT_NE(bench.peek(contexts[0]), 0u) << "the registers were saved";
  switch_to(0);
  switch_to(1, kInhibit);
  EXPECT_EQ(edge_in(0), 0u) << "nothing was restored";
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(ContextSettings, RestoreDoesNotStartWorkAndSurvivesInvalidCommands) {
  const uint32_t sets[][4] = {{kPrimitive, 0, 0, 0},    // starts work
                              {0x7fff'0001, 0, 0, 0},   // unknown command
                              {0x5000'0001, 0, 0, 0},   // a BLT command or invalid
                              {0x7902'00ff, 0, 0, 0}};  // longer than the rest of the image
  set_lines(20);
  for (const auto& each : sets) {
    switch_to(0, kInhibit);
    set(0x0011'0022);
    switch_to(1, kInhibit);
    const uint64_t place = place_of_settings(0);
    ASSERT_LT(place, contexts[0] + kMaxImageDwords);
    bench.poke(place, std::span(each));
    const size_t before = bench.undefined();
    switch_to(0);
    EXPECT_GT(bench.undefined() + bench.events(EventKind::unsupported), before);
    set(0x0077'0088);
    switch_to(1, kInhibit);
    EXPECT_EQ(edge_in(0), 0x0077'0088u) << "the engine continues";
  }
}

INSTANTIATE_TEST_SUITE_P(Rings, ContextSettings, ::testing::ValuesIn(ring_chips()), chip_name);

// i915 allocates the sum of three of the parts, rounded up to whole pages.
TEST(ContextSize, Gen6SizeEqualsTheSizeThatDriversAllocate) {
  FlowBench bench("snb");
  bench.start_ring(kRcs);
  const uint32_t size = bench.reg(kRcs, kCxtSize);
  const uint64_t bytes = uint64_t{(size >> 18 & 63) + (size >> 6 & 63) + (size & 63)} * 64;
  EXPECT_EQ(bytes, 4096u);
  const uint64_t context = bench.allocate(2), other = bench.allocate(2);
  for (uint64_t at = 0; at < 2 * EngineBench::kPage; at += 4) {
    bench.poke(context + at, 0xdddd'dddd);
  }
  bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(context) | kInhibit, kNoop, kNoop});
  bench.run_all(kRcs, {kSetContext, static_cast<uint32_t>(other) | kInhibit, kNoop, kNoop});
  EXPECT_NE(bench.peek(context + bytes - 4), 0xdddd'ddddu);
  EXPECT_EQ(bench.peek(context + bytes), 0xdddd'ddddu);
}

TEST(RunListSettings, SettingsAreSavedAndRestoredWithTheirContext) {
  FlowBench bench("gm45");
  const uint64_t first = bench.allocate(2), second = bench.allocate(2), table = 0x0400'0000;
  for (uint32_t page = 0; page < 1024; ++page) {
    bench.host.put<uint32_t>(table + 4 * page, static_cast<uint32_t>(EngineBench::host_address(page * 4096)) | 1);
  }
  constexpr uint32_t kTable = 0x20c4, kGfxMode = 0x520, kCurrent = 0x190, kNext = 0x198;
  const auto edge_in = [&](uint64_t context) {
    for (uint64_t at = 0; at + 16 <= 2048; at += 4) {
      if (bench.peek(context + at) == kRectangle) {
        return bench.peek(context + at + 8);
      }
    }
    return 0u;
  };
  bench.set_reg(kRcs, kGfxMode, 0x8000'8000);
  bench.write(kTable, table | 1);
  bench.set_reg(kRcs, kCurrent, static_cast<uint32_t>(second) | 1);
  bench.start_ring(kRcs);
  bench.set_reg(kRcs, kNext, static_cast<uint32_t>(first) | 1);
  bench.run_all(kRcs, {kArbCheck, kNoop});  // saves an image of the second context, which has no settings
  bench.write(kTable, table | 1);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, rectangle(0x0011'0022));
  const auto switch_to = [&](uint64_t context) {
    bench.set_reg(kRcs, kNext, static_cast<uint32_t>(context) | 1);
    bench.run_all(kRcs, {kArbCheck, kNoop});
    EXPECT_EQ(bench.reg(kRcs, kCurrent), context | 1);
    bench.write(kTable, table | 1);
    bench.start_ring(kRcs);
  };
  switch_to(second);
  EXPECT_EQ(edge_in(first), 0x0011'0022u);
  switch_to(first);
  EXPECT_EQ(edge_in(second), 0u) << "the settings of the first context were not kept";
  bench.poke(first, {0, 0, 0});
  switch_to(second);
  EXPECT_EQ(edge_in(first), 0x0011'0022u) << "restored, then saved again";
}

class ExeclistSettings : public ::testing::TestWithParam<const char*> {};

// The longest commands: binding tables, gathered constants, stream output declarations.
TEST_P(ExeclistSettings, StateThatDoesNotFitIsReportedAndLost) {
  ContextBench bench(GetParam());
  constexpr size_t kRingPages = 16;
  constexpr uint32_t kControl = ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait;
  ContextBench::Context context = bench.create(kRcs, 1, kControl, kRingPages);
  const auto send = [&](uint32_t opcode, uint32_t dwords) {
    Dwords words(dwords);
    words[0] = opcode << 16 | (dwords - 2);
    bench.emit(context, words);
  };
  bench.emit(context, Dwords{kRectangle, 0, 0x0011'0022, 0});
  for (const uint32_t opcode : {0x7843u, 0x7844u, 0x7845u, 0x7846u, 0x7847u}) {
    send(opcode, 513);
  }
  bench.run(context);
  EXPECT_EQ(bench.events(EventKind::unsupported), 0u) << "these settings fit";
  for (const uint32_t opcode : {0x7834u, 0x7835u, 0x7836u, 0x7837u, 0x7838u}) {
    send(opcode, 257);
  }
  send(0x7917, 513);
  for (uint32_t opcode = 0x7839; !bench.has_queue() && opcode <= 0x7842; ++opcode) {
    send(opcode, 257);  // constants of shaders for an older interface
  }
  bench.set_image(context, ContextBench::kImageControl, 0xffff'0000 | ContextBench::kNoSwitchOnWait);
  bench.run(context);
  EXPECT_EQ(bench.events(EventKind::unsupported), 1u);
}

INSTANTIATE_TEST_SUITE_P(Chips, ExeclistSettings, ::testing::Values("bdw", "skl", "icl"));

}  // namespace
}  // namespace halogen
