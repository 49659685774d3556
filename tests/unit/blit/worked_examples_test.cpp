// The worked examples of the manual: G45 PRM vol. 1b 8.2.2.1 and 8.2.3 (seed 003).
#include "blit_bench.h"

namespace halogen {
namespace {

class BlitExample : public ::testing::TestWithParam<std::string> {
 protected:
  BlitBench bench{GetParam()};
};

// Checks the address of each line of a block of 6x4 pixels at (256, 256) of a 640x480 screen at 8 bits.
TEST_P(BlitExample, BlockOfFourLinesIsAtTheManualsAddresses) {
  COVERS("G45-8.2.2.1-01");
  const uint64_t screen = bench.allocate(640 * 480 / 4096 + 1);
  bench.run_commands(bench.color(screen, control(kDepth8, 0xf0, 640), {256, 256, 262, 260}, 0xa7));
  for (uint64_t address = 0; address < 640 * 480; ++address) {
    bool inside = false;
    for (const uint64_t line : {0x28100u, 0x28380u, 0x28600u, 0x28880u}) {
      inside |= address >= line && address < line + 6;
    }
    ASSERT_EQ(bench.byte_at(screen + address), inside ? 0xa7 : 0) << std::hex << address;
  }
}

// Fills 64x64 pixels at (128, 128) of a 1024x768 screen with a pattern. The pattern is 1 MB above the screen's first
// byte.
TEST_P(BlitExample, PatternFillHasTheManualsPixels) {
  COVERS("G45-8.2.3.1-01");
  const uint64_t screen = bench.allocate(0x101);
  const uint64_t pattern = screen + 0x100000;
  for (unsigned i = 0; i < 64; ++i) {
    bench.put_byte(pattern + i, static_cast<uint8_t>(0x40 + i));
  }
  bench.run_commands(bench.pattern(screen, control(kDepth8, 0xf0, 0x400), {128, 128, 192, 192}, pattern));
  EXPECT_EQ(bench.byte_at(screen + 0x20080), 0x40);
  for (uint64_t y = 0; y < 768; ++y) {
    for (uint64_t x = 0; x < 1024; ++x) {
      const bool inside = x >= 128 && x <= 191 && y >= 128 && y <= 191;
      ASSERT_EQ(bench.byte_at(screen + y * 1024 + x), inside ? 0x40 + (y - 128) % 8 * 8 + (x - 128) % 8 : 0)
          << x << ", " << y;
    }
  }
}

// A letter of 8x8 bits in black on grey; the background stays grey.
TEST_P(BlitExample, LetterHasATransparentBackground) {
  COVERS("G45-8.2.3.2-01");
  constexpr uint8_t kGray = 0x17;
  constexpr uint8_t kLetter[8] = {0x0c, 0x12, 0x10, 0x7c, 0x10, 0x10, 0x10, 0x10};
  const uint64_t screen = bench.allocate(192);
  bench.fill(screen, 1024 * 768, kGray);
  Dwords data{0, 0};
  for (unsigned line = 0; line < 8; ++line) {
    data[line / 4] |= static_cast<uint32_t>(kLetter[line]) << (line % 4 * 8);
  }
  bench.run_commands(bench.setup(screen, control(kDepth8, 0xcc, 0x400, kClip | kMonoSourceTransparent),
                                 {0, 0, 1024, 768}, 0x99, 0x00) +
                     BlitBench::text_immediate({128, 128, 136, 136}, data));
  for (uint64_t y = 0; y < 768; ++y) {
    for (uint64_t x = 0; x < 1024; ++x) {
      const bool inside = x >= 128 && x < 136 && y >= 128 && y < 136;
      const bool ink = inside && (kLetter[y - 128] >> (7 - (x - 128)) & 1) != 0;
      ASSERT_EQ(bench.byte_at(screen + y * 1024 + x), ink ? 0 : kGray) << x << ", " << y;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, BlitExample, ::testing::ValuesIn(every_chip()),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen
