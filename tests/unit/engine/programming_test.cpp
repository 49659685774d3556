// The ways in which software programs the chip: configuration space, registers and commands; the work of the command
// parser; and a copy to the screen. Notes (seed 004).
#include "picture/image.h"
#include "screen_bench.h"

namespace halogen {
namespace {

using Dwords = FlowBench::Dwords;

class Programming : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Gen4, Programming, ::testing::ValuesIn(gen4_chips()), chip_name);

TEST_P(Programming, ConfigurationPortsRegistersAndCommandsReachTheChip) {
  COVERS("NOTES-DRV-09");
  FlowBench bench(GetParam());
  device::Device& device = *bench.device;
  // As firmware does at power-on: read the address of the I/O ports.
  constexpr uint32_t kPorts = 0xf100, kPortBar = 0x20;
  device.config_write(kPortBar, 4, kPorts);
  EXPECT_EQ(device.config_read(kPortBar, 4) & ~7u, kPorts);
  // A register through the I/O ports, and through memory.
  const uint32_t mask = bench.engine_model("rcs0").mmio_base + kHwstam;
  device.io_write(kPorts, 4, mask);
  device.io_write(kPorts + 4, 4, 0xffff'fff0);
  EXPECT_EQ(bench.read(mask), 0xffff'fff0u);
  bench.write(mask, 0xffff'ff00);
  EXPECT_EQ(device.io_read(kPorts + 4, 4), 0xffff'ff00u);
  // Commands that the chip fetches: from the ring, and from a batch that the ring starts.
  const uint64_t data = bench.allocate(1);
  bench.start_ring("rcs0");
  const uint64_t batch = bench.place(FlowBench::join({bench.store(data + 4, 2), {kBatchEnd}}));
  bench.run_all("rcs0", FlowBench::join({bench.store(data, 1), bench.batch(batch), bench.store(data + 8, 3)}));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.peek(data + 4), 2u);
  EXPECT_EQ(bench.peek(data + 8), 3u);
  EXPECT_EQ(bench.events(), 0u);
}

TEST_P(Programming, ParserFetchesExecutesAndRoutes) {
  COVERS("NOTES-DRV-10");
  constexpr uint32_t kNopidWrite = 0x0040'0000;
  FlowBench bench(GetParam());
  bench.start_ring("rcs0");
  const uint64_t data = bench.allocate(1);
  const Dwords blit{0x5400'0004, 0, 0, 0, 0, 0x77};
  const Dwords draw{0x7b00'0004, 0, 0, 0, 0, 0};
  const Dwords media{0x7100'0002, 0, 0, 0};
  const uint64_t batch =
      bench.place(FlowBench::join({{kNopidWrite | 5, kNoop}, blit, draw, media, bench.store(data, 9), {kBatchEnd}}));
  bench.emit("rcs0", FlowBench::join({{kNopidWrite | 1, kNoop}, bench.batch(batch)}));
  bench.device->settle();
  EXPECT_EQ(bench.reg("rcs0", kNopid), 0u) << "the tail has not moved: no command is visible";
  // The parser sees the contents of memory at the time of the read.
  bench.poke(batch, kNopidWrite | 6);
  bench.submit("rcs0");
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg("rcs0", kNopid), 6u) << "the batch, after the ring";
  EXPECT_EQ(bench.peek(data), 9u) << "executed by the parser itself";
  EXPECT_EQ(bench.read(0x40040), 0x77u) << "2D: BR16 of the BLT engine";
  EXPECT_EQ(bench.executed("3DPRIMITIVE"), 1u);
  EXPECT_EQ(bench.executed("MEDIA_OBJECT"), 1u);
  EXPECT_EQ(bench.events(EventKind::unknown_command), 0u);
  EXPECT_EQ(bench.reg("rcs0", 0x34), bench.ring_tail("rcs0")) << "the head is at the tail";
}

class EachEngine : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Chips, EachEngine, ::testing::ValuesIn(all_chips()), chip_name);

TEST_P(EachEngine, HasItsOwnRingAndParser) {
  COVERS("NOTES-GEN-05");
  FlowBench bench(GetParam());
  bool early = false;
  for (const std::string& chip : gen4_chips()) {
    early = early || chip == GetParam();
  }
  EXPECT_TRUE(bench.has_engine("rcs0"));
  EXPECT_EQ(bench.has_engine("bcs0"), !early) << "a separate blitter exists since Sandy Bridge";
  std::vector<std::string_view> engines;
  for (const std::string_view name : {"rcs0", "vcs0", "bcs0"}) {
    if (bench.has_engine(name)) {
      engines.push_back(name);
      bench.start_ring(name);
    }
  }
  EXPECT_TRUE(early || engines.size() == 3);
  const uint64_t data = bench.allocate(1);
  for (uint32_t i = 0; i < engines.size(); ++i) {
    bench.emit(engines[i], bench.store(data + i * 8, 0x100 + i));
  }
  for (uint32_t i = 0; i < engines.size(); ++i) {
    EXPECT_EQ(bench.peek(data + i * 8), 0u) << engines[i] << ": the tail of the engine has not moved";
    bench.submit(engines[i]);
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(data + i * 8), 0x100 + i);
  }
}

// Copies into the visible surface after a vertical blank. The second half is too late for the frame.
TEST_P(Programming, CopiesToTheScreen) {
  COVERS("NOTES-DRV-01");
  constexpr uint32_t kLines = 80, kXrgb = 6u << 26, kUser = 1u << 1;
  constexpr uint32_t kOld = 0x0010'2030, kNew = 0x0040'5060;
  ScreenBench bench(GetParam());
  const uint64_t front = bench.allocate(kLines);  // one page per line
  const uint64_t back = bench.allocate(kLines);
  for (uint32_t line = 0; line < kLines; ++line) {
    for (uint32_t x = 0; x < 640; ++x) {
      bench.poke(front + line * 4096 + x * 4, kOld);
      bench.poke(back + line * 4096 + x * 4, kNew);
    }
  }
  bench.write(ScreenBench::timing(0, 0x1c), 639u << 16 | (kLines - 1));
  bench.write(ScreenBench::plane(0, 0x180), ScreenBench::kEnable | kXrgb);
  bench.write(ScreenBench::plane(0, 0x188), 4096);
  bench.write(ScreenBench::plane(0, 0x19c), static_cast<uint32_t>(front));
  bench.start_pipe(0);
  const auto shown = [&](uint32_t line) {
    const picture::Rgba pixel = bench.device->take_frame(0)->at(5, line);
    return uint32_t{pixel.red} << 16 | uint32_t{pixel.green} << 8 | pixel.blue;
  };
  // XY_SRC_COPY_BLT of some lines, 32 bits per pixel.
  const auto copy = [&](uint32_t first, uint32_t last) {
    return Dwords{0x54f0'0006,
                  0x03cc'0000 | 4096,
                  first << 16,
                  last << 16 | 640,
                  static_cast<uint32_t>(front),
                  first << 16,
                  4096,
                  static_cast<uint32_t>(back)};
  };
  bench.write(ScreenBench::kImr, ~kUser);
  bench.advance_to(bench.line_at(0, 0, 10));
  EXPECT_EQ(shown(10), kOld);
  bench.go(FlowBench::join({bench.wait(ScreenBench::kVblankA), copy(0, 40), {kUserInterrupt}}));
  bench.advance_to(bench.vblank_at(0, 0) - 1);
  EXPECT_FALSE(bench.done()) << "the request completes when its stamp is stored";
  EXPECT_EQ(bench.read(ScreenBench::kIir) & kUser, 0u);
  EXPECT_EQ(shown(10), kOld) << "not before the vertical blank";
  bench.advance_to(bench.line_at(0, 1, 1));
  EXPECT_TRUE(bench.done()) << "software can poll the completion";
  EXPECT_EQ(bench.read(ScreenBench::kIir) & kUser, kUser) << "software can also wait for an interrupt";
  EXPECT_EQ(shown(10), kNew);
  EXPECT_EQ(shown(50), kOld) << "half of each frame: the picture is torn";
  bench.go(copy(40, 80));
  bench.advance_to(bench.line_at(0, 1, 70));
  EXPECT_TRUE(bench.done());
  EXPECT_EQ(shown(50), kNew);
}

}  // namespace
}  // namespace halogen
