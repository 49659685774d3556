// A compression pass of GM965: what it writes to memory and tags, when it starts, and what it does not change.
#include <gtest/gtest.h>

#include "covers.h"
#include "unit/display/fbc_bench.h"

namespace halogen::display::fbc_test {
namespace {

std::string screen_name(const testing::TestParamInfo<Screen>& info) {
  const Screen& screen = info.param;
  return "w" + std::to_string(screen.width) + "_h" + std::to_string(screen.lines) + "_f" +
         std::to_string(screen.format) + "_x" + std::to_string(screen.x) + "_y" + std::to_string(screen.y) + "_p" +
         std::to_string(screen.plane);
}

const std::vector<Screen> kScreens = {
    {},
    {.y = 1},
    {.width = 1280, .lines = 800, .pitch_B = 5632, .x = 70, .y = 63},
    {.width = 648, .lines = 482, .pitch_B = 2048, .format = 5, .x = 3, .y = 2},
    {.width = 1024, .lines = 600, .pitch_B = 2560, .format = 4, .y = 37, .plane = 1},
    {.width = 2048, .lines = 1536, .pitch_B = 8192, .plane = 1},
};

class FbcScreens : public testing::TestWithParam<Screen> {};
INSTANTIATE_TEST_SUITE_P(All, FbcScreens, testing::ValuesIn(kScreens), screen_name);

// Checks every line against the reference encoder, with its length byte and its tag.
void expect_pass(FbcBench& bench) {
  std::vector<bool> fits;
  std::vector<std::vector<uint32_t>> all;
  for (uint32_t line = 0; line < bench.screen.lines; ++line) {
    all.push_back(slow_runs(bench.pixels(line), bench.screen.format));
    fits.push_back(all.back().size() * 4 <= bench.stride);
  }
  for (uint32_t line = 0; line < bench.screen.lines; ++line) {
    const uint32_t odd = bench.screen.y & 1;
    const uint32_t other = ((line + odd) ^ 1) - odd;  // the other line of the pair; none beyond the edges
    const bool pair_fits = fits[line] && (other >= bench.screen.lines || fits[other]);
    ASSERT_EQ(bench.tag_of_line(line), pair_fits ? kTagCompressed : kTagUncompressed) << "line " << line;
    if (!pair_fits) {
      continue;
    }
    const std::vector<uint32_t>& runs = all[line];
    const auto length = bench.stolen(FbcBench::kLengths + (bench.screen.y & 63) + line, 1)[0];
    ASSERT_EQ(std::to_integer<uint32_t>(length), (runs.size() + 7) / 8 - 1)
        << "sets of eight, minus one; line " << line;
    const std::vector<std::byte> memory =
        bench.stolen(FbcBench::kBuffer + uint64_t{line} * bench.stride, runs.size() * 4);
    ASSERT_EQ(std::memcmp(memory.data(), runs.data(), memory.size()), 0) << "line " << line;
  }
}

TEST_P(FbcScreens, ScreensAreCompressedLineByLine) {
  COVERS("G45-6.2-04");
  COVERS("G45-6.2-05");
  COVERS("G45-6.6-01");
  COVERS("G45-6.6-02");
  COVERS("G45-6.6-03");
  COVERS("G45-6.6-06");
  COVERS("G45-6.6-07");
  COVERS("G45-6.6-08");
  COVERS("G45-6.7-01");
  COVERS("G45-6.8.1-02");
  COVERS("G45-6.8.1-06");
  FbcBench bench(GetParam());
  bench.fill_desktop(bench.screen.width);
  // Some lines do not fit, at both positions of a pair.
  bench.fill_noise(0, 1);
  bench.fill_noise(5, 2);
  bench.fill_noise(10, 3);
  bench.fill_noise(11, 4);
  bench.fill_noise(bench.screen.lines - 1, 5);
  bench.enable(512);
  bench.pass();
  EXPECT_EQ(bench.status() & ~0x7ffu, FbcBench::kCompressed);
  expect_pass(bench);
  EXPECT_EQ(bench.events(), 0u);
}

TEST_P(FbcScreens, ScreensAreDecompressedLineByLine) {
  COVERS("G45-6.6-04");
  COVERS("G45-6.8.3-02");
  FbcBench bench(GetParam());
  bench.fill_desktop(77);
  bench.fill_noise(8, 1);
  bench.enable(512);
  bench.pass();
  const uint32_t mask = bench.screen.format == 6 ? 0xff'ffff : bench.screen.format == 5 ? 0xffff : 0x7fff;
  for (uint32_t line = 0; line < bench.screen.lines; ++line) {
    const std::vector<uint32_t> got = bench.compressed_line(line);
    if (bench.tag_of_line(line) != kTagCompressed) {
      ASSERT_TRUE(got.empty()) << line;
      continue;
    }
    std::vector<uint32_t> expected = bench.pixels(line);
    for (uint32_t& pixel : expected) {
      pixel &= mask;
    }
    ASSERT_EQ(got, expected) << line;
  }
}

// Data after the last run of a line is not read, and the length byte limits what is read.
TEST(FbcPass, LinesEndAtTheirWidth) {
  FbcBench bench;
  bench.fill_line(4, 0x11);
  bench.enable();
  bench.pass();
  // 640 pixels of one colour: runs of 256, 256 and 128; five dwords are left over.
  const std::vector<std::byte> zeros(20, std::byte{0xff});
  ASSERT_TRUE(bench.device->memory().write_physical(PhysAddr(FbcBench::kBuffer + 4 * 1024 + 12), zeros));
  EXPECT_EQ(bench.compressed_line(4), std::vector<uint32_t>(640, 0x11));
}

TEST(FbcPass, ScanOutReadsTheBufferInsteadOfTheSurface) {
  FbcBench bench;
  bench.fill_line(6, 0x22);
  bench.enable();
  bench.pass();
  bench.fill_line(6, 0x33);  // written without notification
  EXPECT_EQ(bench.compressed_line(6), std::vector<uint32_t>(640, 0x22));
  // The buffer is ordinary memory.
  const uint32_t run = 0xff00'0044;
  for (unsigned i = 0; i < 3; ++i) {
    ASSERT_TRUE(bench.device->memory().write_physical(PhysAddr(FbcBench::kBuffer + 6 * 1024 + 4 * i),
                                                      std::as_bytes(std::span(&run, 1))));
  }
  EXPECT_EQ(bench.compressed_line(6), std::vector<uint32_t>(640, 0x44));
}

// Offsets are from the public header, and each register is checked by its effect; tags fill 49 registers.
TEST(FbcRegisters, RegistersAreAtThePublicOffsets) {
  COVERS("G45-6.2-02");
  COVERS("G45-6.2-03");
  FbcBench bench({.width = 2048, .lines = 1536, .pitch_B = 8192, .y = 1});
  const std::pair<std::string_view, uint32_t> rows[] = {
      {"FBC_CFB_BASE", 0x3200}, {"FBC_LL_BASE", 0x3204},  {"FBC_CONTROL", 0x3208},   {"FBC_COMMAND", 0x320c},
      {"FBC_STATUS", 0x3210},   {"FBC_CONTROL2", 0x3214}, {"FBC_FENCE_OFF", 0x3218}, {"FBC_MOD_NUM", 0x3220},
  };
  const mmio::RegisterMap& map = bench.device->mmio().bank().map();
  for (const auto& [name, offset] : rows) {
    ASSERT_NE(map.find(name), nullptr) << name;
    EXPECT_EQ(map.find(name)->offset, offset) << name;
  }
  for (unsigned index = 0; index < 49; ++index) {
    ASSERT_NE(map.find("FBC_TAG", {}, index), nullptr) << index;
    EXPECT_EQ(map.find("FBC_TAG", {}, index)->offset, 0x3300 + 4 * index);
  }
  EXPECT_EQ(map.find("FBC_TAG", {}, 49), nullptr);
  // 1536 lines from an odd line on: a single line, 767 pairs, a single line. A register holds sixteen 2-bit tags.
  bench.enable();
  bench.pass();
  for (unsigned index = 0; index < 49; ++index) {
    const uint32_t ended = index == 48 ? 0x5555'5557u : 0xffff'ffffu;  // after the picture: never compressed
    EXPECT_EQ(bench.read(0x3300 + 4 * index), ended) << index;
  }
  bench.cpu_write(0, 0, 5);
  EXPECT_EQ(bench.read(0x3300), 0xffff'fffcu);
  bench.cpu_write(0, 1535, 5);
  EXPECT_EQ(bench.read(0x33c0), 0x5555'5554u);
}

TEST(FbcPass, StatusShowsThePass) {
  COVERS("G45-6.2-01");
  COVERS("G45-6.8.2-02");
  COVERS("G45-6.8.2-04");
  COVERS("G45-6.8.1-04");
  FbcBench bench;
  EXPECT_EQ(bench.status(), 0u);
  bench.enable();
  EXPECT_EQ(bench.status() & ~0x7ffu, FbcBench::kModified);
  bench.request();
  EXPECT_EQ(bench.read(FbcBench::kCommand), 0u);
  EXPECT_EQ(bench.count_tags(kTagModified), 240u);
  bench.next_vblank();
  // The first pair is marked before it is compressed, all others wait, also pairs outside of the screen.
  EXPECT_EQ(bench.status(), FbcBench::kCompressing);
  EXPECT_EQ(bench.tag(0), kTagCompressed);
  EXPECT_EQ(bench.count_tags(kTagUncompressed), 239u);
  EXPECT_EQ(bench.tag(783), kTagUncompressed);
  // The line counter increases and the tags follow it.
  uint32_t last = 0;
  unsigned steps = 0;
  while ((bench.status() & FbcBench::kCompressing) != 0) {
    const uint32_t line = bench.status() & 0x7ff;
    EXPECT_GE(line, last);
    EXPECT_EQ(line % 2, 0u);
    EXPECT_EQ(bench.tag_of_line(line), kTagCompressed);
    if (line + 2 < bench.screen.lines) {
      EXPECT_EQ(bench.tag_of_line(line + 2), kTagUncompressed);
    }
    last = line;
    ++steps;
    ASSERT_LT(steps, 10'000u);
    bench.device->advance(3000);
  }
  EXPECT_EQ(last, 478u);
  EXPECT_EQ(bench.status() & ~0x7ffu, FbcBench::kCompressed);
  EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
  // The status is read-only, except two bits for debugging.
  bench.write(FbcBench::kStatus, FbcBench::kCompressing | FbcBench::kModified | 0x7ff);
  EXPECT_EQ(bench.status(), FbcBench::kModified | 478u);
  bench.write(FbcBench::kStatus, FbcBench::kCompressed);
  EXPECT_EQ(bench.status(), FbcBench::kCompressed | 478u);
  // Tags can be written.
  bench.write(FbcBench::kTag + 4, 0xe4e4'e4e4);
  EXPECT_EQ(bench.read(FbcBench::kTag + 4), 0xe4e4'e4e4u);
  EXPECT_EQ(bench.tag(17), kTagUncompressed);
  EXPECT_EQ(bench.tag(19), kTagCompressed);
  // The other registers store what is written.
  bench.write(FbcBench::kControl, 0);
  for (const auto& [offset, bits] :
       {std::pair{0x3200u, 0xffff'f000u}, std::pair{0x3204u, 0xffff'f000u}, std::pair{0x3208u, 0x7fff'dfefu},
        std::pair{0x3214u, 0x1fu}, std::pair{0x3218u, ~0u}, std::pair{0x3220u, ~0u}}) {
    bench.write(offset, offset == 0x3208 ? 0x7fff'ffff : 0xffff'ffff);  // without the enable bit
    EXPECT_EQ(bench.read(offset), bits) << std::hex << offset;
  }
}

TEST(FbcPass, OnlyModifiedPairsAreCompressed) {
  COVERS("G45-6.8.4-01");
  FbcBench bench;
  bench.fill_desktop(1);
  bench.enable();
  bench.pass();
  ASSERT_EQ(bench.count_tags(kTagCompressed), 240u);
  // Every line changes in memory, but only two writes are tracked.
  for (uint32_t line = 0; line < bench.screen.lines; ++line) {
    bench.fill_line(line, 0x55);
  }
  bench.cpu_write(0, 101, 0x66);
  bench.engine_write(bench.surface, 200, 2);
  EXPECT_EQ(bench.tag_of_line(100), kTagModified);
  EXPECT_EQ(bench.tag_of_line(200), kTagModified);
  EXPECT_EQ(bench.count_tags(kTagModified), 2u);
  EXPECT_EQ(bench.status() & ~0x7ffu, FbcBench::kCompressed | FbcBench::kModified);
  EXPECT_TRUE(bench.compressed_line(100).empty());
  bench.pass();
  EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
  EXPECT_EQ(bench.compressed_line(200), std::vector<uint32_t>(640, 0x55));
  EXPECT_EQ(bench.compressed_line(100), std::vector<uint32_t>(640, 0x55));
  EXPECT_EQ(bench.compressed_line(101)[0], 0x66u);
  EXPECT_NE(bench.compressed_line(102), std::vector<uint32_t>(640, 0x55)) << "from the first pass";
}

TEST(FbcPass, LinesThatDidNotFitAreRetriedIfEnabled) {
  COVERS("G45-6.3-04");
  COVERS("G45-6.8.1-01");
  COVERS("G45-6.8.1-07");
  for (const bool enable : {false, true}) {
    SCOPED_TRACE(enable);
    FbcBench bench;
    bench.fill_noise(20, 1);
    bench.fill_noise(21, 2);
    bench.fill_noise(31, 3);
    bench.enable(1024, enable ? FbcBench::kUncompressible : 0);
    bench.pass();
    EXPECT_EQ(bench.tag_of_line(20), enable ? kTagUncompressible : kTagUncompressed);
    EXPECT_EQ(bench.tag_of_line(31), kTagUncompressed) << "both lines of a pair must fit";
    // The lines would fit now. A pass starts only if a pair is modified.
    bench.fill_line(20, 1);
    bench.fill_line(21, 1);
    bench.fill_line(31, 1);
    bench.cpu_write(0, 300, 1);
    bench.pass();
    EXPECT_EQ(bench.tag_of_line(20), enable ? kTagUncompressible : kTagCompressed);
    EXPECT_EQ(bench.tag_of_line(31), kTagCompressed);
    // Uncompressible lines are retried once they are modified.
    bench.cpu_write(0, 21, 7);
    EXPECT_EQ(bench.tag_of_line(20), kTagModified);
    bench.pass();
    EXPECT_EQ(bench.tag_of_line(20), kTagCompressed);
  }
}

TEST(FbcPass, StartsAtAVerticalBlankIfSomethingIsModified) {
  COVERS("G45-6.8.2-03");
  FbcBench bench;
  bench.enable();
  bench.request();
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.status() & FbcBench::kCompressing, 0u) << "not before the vertical blank";
  bench.next_vblank();
  EXPECT_EQ(bench.status() & FbcBench::kCompressing, FbcBench::kCompressing);
  // A request during a pass does not start a pass at that vertical blank; it waits for the next.
  bench.device->advance(FbcBench::kQuarterFrame);
  ASSERT_EQ(bench.status() & FbcBench::kCompressing, 0u);
  // Nothing is modified: no pass until something is.
  bench.request();
  bench.vblanks(3);
  EXPECT_EQ(bench.status() & FbcBench::kCompressing, 0u);
  bench.cpu_write(0, 0, 1);
  bench.next_vblank();
  EXPECT_EQ(bench.status() & FbcBench::kCompressing, FbcBench::kCompressing);
  bench.device->advance(FbcBench::kQuarterFrame);
  // Without a request there is no pass.
  bench.cpu_write(0, 0, 2);
  bench.vblanks(3);
  EXPECT_EQ(bench.tag(0), kTagModified);
  // Plane disabled: no pass.
  bench.write_plane(0, static_cast<uint32_t>(bench.surface));
  bench.next_vblank();
  bench.request();
  bench.vblanks(2);
  EXPECT_EQ(bench.status() & (FbcBench::kCompressing | FbcBench::kCompressed), 0u);
  // Linear surface: no pass.
  bench.write_plane(bench.control_bits() & ~FbcBench::kTiled, static_cast<uint32_t>(bench.surface));
  bench.vblanks(2);
  EXPECT_EQ(bench.status() & (FbcBench::kCompressing | FbcBench::kCompressed), 0u);
  // Pipe disabled: no vertical blank, so no pass.
  bench.write_plane(bench.control_bits(), static_cast<uint32_t>(bench.surface));
  bench.write(0x70008, 0);
  bench.device->advance(100'000'000);
  EXPECT_EQ(bench.status() & (FbcBench::kCompressing | FbcBench::kCompressed), 0u);
  bench.write(0x70008, 0x8000'0000);
  bench.next_vblank();
  EXPECT_EQ(bench.status() & FbcBench::kCompressing, FbcBench::kCompressing) << "the request is still set";
}

// A snapshot in the middle of a pair: both devices end in the same state.
TEST(FbcPass, PassContinuesAfterASnapshot) {
  FbcBench bench;
  bench.fill_desktop(9);
  bench.enable();
  bench.request();
  bench.next_vblank();
  bench.device->advance(301'000);
  const device::DeviceState middle = bench.device->snapshot();
  ASSERT_EQ(bench.status() & FbcBench::kCompressing, FbcBench::kCompressing);
  bench.device->advance(FbcBench::kQuarterFrame);
  const device::DeviceState end = bench.device->snapshot();
  bench.device->restore(middle);
  EXPECT_EQ(bench.device->snapshot(), middle);
  bench.device->advance(FbcBench::kQuarterFrame);
  EXPECT_EQ(bench.device->snapshot(), end);
  EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
  expect_pass(bench);
}

}  // namespace
}  // namespace halogen::display::fbc_test
