// Pictures small enough to compute by hand from G45 PRM vol. 1b chapter 8 (seed 003), dword by dword, on the reference
// and on chips with 32-bit addresses. These tests validate the reference.
#include <gtest/gtest.h>

#include "covers.h"
#include "support/blit_bench.h"

namespace halogen {
namespace {

class HandBlit : public ::testing::TestWithParam<std::string> {
 protected:
  // DW1: depth, raster operation and pitch.
  static uint32_t control(unsigned depth, unsigned rop, int pitch, uint32_t flags = 0) {
    return flags | depth << 24 | rop << 16 | (static_cast<uint32_t>(pitch) & 0xffff);
  }
  static uint32_t yx(int y, int x) { return static_cast<uint32_t>(y) << 16 | (static_cast<uint32_t>(x) & 0xffff); }
  static uint32_t header(uint32_t opcode, uint32_t length, uint32_t flags = 0) {
    return 2u << 29 | opcode << 22 | flags | length;
  }
  void SetUp() override { target_ = std::make_unique<BlitTarget>(GetParam(), 0x110); }
  uint32_t at(uint64_t offset) const { return target_->at(offset); }
  std::vector<uint8_t>& bytes() { return target_->bytes(); }
  void draw(const Dwords& stream) { target_->draw(stream); }
  // Returns every non-zero byte of the area as offset and value.
  std::vector<std::pair<size_t, unsigned>> marks() {
    std::vector<std::pair<size_t, unsigned>> all;
    for (size_t i = 0; i < bytes().size(); ++i) {
      if (bytes()[i] != 0) all.emplace_back(i, bytes()[i]);
    }
    return all;
  }
  using Marks = std::vector<std::pair<size_t, unsigned>>;

  std::unique_ptr<BlitTarget> target_;
};

constexpr uint32_t kMask = 3u << 20, kAlpha = 2u << 20, kRgb = 1u << 20, kTiled = 1u << 11, kTiledSource = 1u << 15;
constexpr uint32_t kClip = 1u << 30, kSourceTransparent = 1u << 29, kPatternTransparent = 1u << 28, kSolid = 1u << 31;

// 8.2.2.1: 640x480 at 8 bpp, six pixels by four lines at (256, 256).
TEST_P(HandBlit, SixByFourBlockMatchesTheManualsExample) {
  COVERS("G45-8.2.2.1-01");
  COVERS("G45-8.9-02");
  draw({header(0x50, 4), control(0, 0xf0, 640), yx(256, 256), yx(260, 262), at(0), 0x1234'5677});
  Marks expected;
  for (const size_t line : {0x28100u, 0x28380u, 0x28600u, 0x28880u}) {
    for (size_t i = 0; i < 6; ++i) expected.emplace_back(line + i, 0x77);
  }
  EXPECT_EQ(marks(), expected);
}

// 8.2.3.1: a 64x64 fill at (128, 128) of a surface 1024 pixels wide at 8 bpp, with a pattern at 100000h.
TEST_P(HandBlit, PatternFillMatchesTheManualsExample) {
  COVERS("G45-8.2.3.1-01");
  COVERS("G45-8.2.2.4-03");
  for (size_t i = 0; i < 64; ++i) bytes()[0x10'0000 + i] = static_cast<uint8_t>(i + 1);
  draw({header(0x51, 4), control(0, 0xf0, 0x400), yx(128, 128), yx(192, 192), at(0), at(0x10'0000)});
  EXPECT_EQ(bytes()[0x20080 - 1], 0);
  for (size_t y = 0; y < 64; ++y) {
    for (size_t x = 0; x < 64; ++x) ASSERT_EQ(bytes()[0x20080 + y * 0x400 + x], y % 8 * 8 + x % 8 + 1) << x << "," << y;
    ASSERT_EQ(bytes()[0x20080 + y * 0x400 + 64], 0);
  }
  EXPECT_EQ(bytes()[0x20080 + 64 * 0x400], 0);
}

// 8.2.3.2: the letter f, 8x8, as immediate text with a transparent background on a grey screen.
TEST_P(HandBlit, LetterMatchesTheManualsExample) {
  COVERS("G45-8.2.3.2-01");
  constexpr uint8_t kLetter[8] = {0x00, 0x1c, 0x20, 0x78, 0x20, 0x20, 0x20, 0x00};
  std::ranges::fill(bytes(), uint8_t{0x80});
  draw({header(0x01, 6), control(0, 0xcc, 0x400, kClip | kSourceTransparent), yx(0, 0), yx(768, 1024), at(0), 0x55,
        0x11, 0, header(0x31, 1 + 2), yx(128, 128), yx(136, 136), 0x7820'1c00, 0x0020'2020});
  for (size_t y = 0; y < 8; ++y) {
    for (size_t x = 0; x < 8; ++x) {
      EXPECT_EQ(bytes()[(128 + y) * 0x400 + 128 + x], (kLetter[y] & 0x80 >> x) != 0 ? 0x11 : 0x80) << x << "," << y;
    }
  }
  EXPECT_EQ(std::ranges::count(bytes(), uint8_t{0x11}), 3 + 1 + 4 + 3);
}

// Linear commands name bytes; in a leftward copy the first byte is the last one.
TEST_P(HandBlit, LinearFillsAndMovesUseByteAddresses) {
  draw({header(0x40, 3, kMask), control(3, 0xf0, 64), 2u << 16 | 8, at(0x100), 0x0403'0201});
  EXPECT_EQ(marks(), (Marks{{0x100, 1},
                            {0x101, 2},
                            {0x102, 3},
                            {0x103, 4},
                            {0x104, 1},
                            {0x105, 2},
                            {0x106, 3},
                            {0x107, 4},
                            {0x140, 1},
                            {0x141, 2},
                            {0x142, 3},
                            {0x143, 4},
                            {0x144, 1},
                            {0x145, 2},
                            {0x146, 3},
                            {0x147, 4}}));
  std::ranges::fill(bytes(), uint8_t{0});
  for (size_t i = 0; i < 8; ++i) bytes()[0x100 + i] = static_cast<uint8_t>(i + 1);
  // Two pixels to the right over itself, from right to left, bottom up.
  draw({header(0x43, 4, kMask), control(3, 0xcc, -64, 1u << 30), 1u << 16 | 8, at(0x100 + 4 + 7), 0xffc0,
        at(0x100 + 7)});
  EXPECT_EQ(marks(), (Marks{{0x100, 1},
                            {0x101, 2},
                            {0x102, 3},
                            {0x103, 4},
                            {0x104, 1},
                            {0x105, 2},
                            {0x106, 3},
                            {0x107, 4},
                            {0x108, 5},
                            {0x109, 6},
                            {0x10a, 7},
                            {0x10b, 8}}));
}

TEST_P(HandBlit, NegativePitchDrawsUpwards) {
  draw({header(0x40, 3), control(0, 0xf0, -16), 3u << 16 | 2, at(0x200), 9});
  EXPECT_EQ(marks(), (Marks{{0x1e0, 9}, {0x1e1, 9}, {0x1f0, 9}, {0x1f1, 9}, {0x200, 9}, {0x201, 9}}));
}

TEST_P(HandBlit, WidthOrHeightZeroTouchesNothing) {
  COVERS("G45-8.1-04");
  // The address is unmapped, so an access would be reported, and would stop the engine on later chips.
  draw({header(0x40, 3),
        control(0, 0xf0, 16),
        0u << 16 | 4,
        0x1fff'f000,
        9,  //
        header(0x40, 3),
        control(0, 0xf0, 16),
        4u << 16 | 0,
        0x1fff'f000,
        9,  //
        header(0x43, 4),
        control(0, 0xcc, 16),
        0,
        0x1fff'f000,
        16,
        0x1fff'e000,  //
        header(0x40, 3),
        control(0, 0xf0, 16),
        1u << 16 | 1,
        at(5),
        7});
  EXPECT_EQ(marks(), (Marks{{5, 7}}));
  EXPECT_EQ(target_->misses(), 0u) << "no access";
  if (target_->bench() == nullptr) return;
  target_->bench()->draw({header(0x40, 3), control(0, 0xf0, 16), 1u << 16 | 1, 0x1fff'f000, 9});
  EXPECT_EQ(target_->misses(), 1u) << "an access of one byte is detected";
}

TEST_P(HandBlit, FirstCoordinatesAreInclusiveAndLastExclusive) {
  COVERS("G45-8.1-02");
  COVERS("G45-8.2.3.2-02");
  draw({header(0x03, 1), yx(2, 3), yx(4, 6),  //
        header(0x50, 4), control(0, 0xf0, 16, kClip), yx(0, 0), yx(9, 9), at(0), 1, header(0x50, 4),
        control(0, 0xf0, 16), yx(8, 1), yx(9, 3), at(0), 2});
  EXPECT_EQ(marks(), (Marks{{0x23, 1}, {0x24, 1}, {0x25, 1}, {0x33, 1}, {0x34, 1}, {0x35, 1}, {0x81, 2}, {0x82, 2}}));
}

TEST_P(HandBlit, NegativeDestinationIsClippedAtZero) {
  COVERS("G45-8.1-03");
  for (size_t i = 0; i < 16; ++i) bytes()[0x1000 + i] = static_cast<uint8_t>(0x11 * i);
  // Source (0, 0) corresponds to (-2, -1), so the first drawn pixel is source (2, 1).
  draw({header(0x53, 6), control(0, 0xcc, 16), yx(-1, -2), yx(1, 2), at(0x100), yx(0, 0), 4, at(0x1000)});
  EXPECT_EQ(bytes()[0x100], 0x66);
  EXPECT_EQ(bytes()[0x101], 0x77);
  EXPECT_EQ(std::count(bytes().begin(), bytes().begin() + 0x1000, 0), 0x1000 - 2);
}

TEST_P(HandBlit, NegativeSourceShiftsTheDestination) {
  COVERS("G45-8.1-05");
  COVERS("G45-8.9-05");
  for (size_t i = 0; i < 16; ++i) bytes()[0x1000 + i] = static_cast<uint8_t>(0x11 * i);
  // Source (-1, -2): the first pixel is source (0, 0) at destination (4 + 1, 3 + 2).
  draw({header(0x53, 6), control(0, 0xcc, 16), yx(3, 4), yx(6, 7), at(0x100), yx(-2, -1), 4, at(0x1000),
        // A source that is entirely negative draws nothing.
        header(0x53, 6), control(0, 0xcc, 16), yx(3, 4), yx(6, 7), at(0x100), yx(-3, -1), 4, at(0x1000),
        header(0x53, 6), control(0, 0xcc, 16), yx(3, 4), yx(6, 7), at(0x100), yx(0, -3), 4, at(0x1000)});
  bytes()[0x1000] = 0;
  Marks drawn = marks();
  std::erase_if(drawn, [](const auto& mark) { return mark.first >= 0x1000; });
  EXPECT_EQ(drawn, (Marks{{0x156, 0x11}}));  // (6, 5) got source (1, 0); (5, 5) got source (0, 0), a zero
}

TEST_P(HandBlit, MonoSourceStartsAtItsBitAndEndsAtAWord) {
  COVERS("G45-8.2.2.3-01");
  COVERS("G45-8.2.2.3-04");
  COVERS("G45-8.9.17-01");
  // Start 3, 14 pixels: bits 3..16, so a line takes two words. Line 0: pixels 0, 12 and 13; line 1: pixel 5.
  bytes()[0x1000] = 0x10, bytes()[0x1001] = 0x01, bytes()[0x1002] = 0x80, bytes()[0x1003] = 0xff;
  bytes()[0x1004] = 0xe0, bytes()[0x1005] = 0x80;
  draw({header(0x54, 6, 3u << 17), control(0, 0xcc, 32, kSourceTransparent), yx(0, 0), yx(2, 14), at(0x100), at(0x1000),
        5, 6});
  Marks drawn = marks();
  std::erase_if(drawn, [](const auto& mark) { return mark.first >= 0x1000; });
  EXPECT_EQ(drawn, (Marks{{0x100, 6}, {0x10c, 6}, {0x10d, 6}, {0x125, 6}}));
}

TEST_P(HandBlit, TextIsPackedByBitsOrBytes) {
  COVERS("G45-8.2.2.3-02");
  // Three pixels per line: 101, 011. Packed by bits: 1010 11..; by bytes: 101..... 011......
  const uint32_t setup = header(0x01, 6);
  const Dwords prepare = {setup, control(0, 0xcc, 16, kClip), yx(0, 0), yx(99, 99), at(0), 1, 2, 0};
  Dwords stream = prepare;
  const Dwords more = {header(0x31, 3),           yx(0, 0),  yx(2, 3),  0xac,       0,  //
                       header(0x31, 3, 1u << 16), yx(4, 0),  yx(6, 3),  0x60a0,     0,  //
                       header(0x26, 2),           yx(8, 0),  yx(10, 3), at(0x1000),     //
                       header(0x26, 2, 1u << 16), yx(12, 0), yx(14, 3), at(0x1001)};
  stream.insert(stream.end(), more.begin(), more.end());
  bytes()[0x1000] = 0xac, bytes()[0x1001] = 0xa0, bytes()[0x1002] = 0x60;
  draw(stream);
  for (const size_t y : {0u, 4u, 8u, 12u}) {
    EXPECT_EQ(target_->pixel(y * 16, 4), 0x00'020102u) << y;
    EXPECT_EQ(target_->pixel(y * 16 + 16, 4), 0x00'020201u) << y;
  }
}

TEST_P(HandBlit, ByteMaskAppliesOnlyAt32Bits) {
  COVERS("G45-8.9-12");
  const auto fill = [&](uint32_t mask, unsigned depth, int y) {
    return Dwords{header(0x50, 4, mask), control(depth, 0xf0, 16), yx(y, 0), yx(y + 1, 1), at(0), 0x4433'2211};
  };
  Dwords stream;
  int line = 0;
  for (const unsigned depth : {3u, 2u, 1u, 0u}) {
    for (const uint32_t mask : {0u, kRgb, kAlpha, kMask}) {
      const Dwords one = fill(mask, depth, line++);
      stream.insert(stream.end(), one.begin(), one.end());
    }
  }
  draw(stream);
  const uint32_t expected[] = {0,      0x33'2211, 0x4400'0000, 0x4433'2211, 0x2211, 0x2211, 0x2211, 0x2211,
                               0x2211, 0x2211,    0x2211,      0x2211,      0x11,   0x11,   0x11,   0x11};
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(target_->pixel(i * 16, 4), expected[i]) << i;
}

TEST_P(HandBlit, TiledPitchCountsDwords) {
  COVERS("G45-8.9-07");
  COVERS("G45-8.9-09");
  // Pitch 1024 bytes: 256 dwords. (600, 9) at 8 bpp: second row of tiles, second column, line 1 of the tile, byte 88.
  draw({header(0x50, 4, kTiled), control(0, 0xf0, 256), yx(9, 600), yx(10, 601), at(0x1000), 0x42,
        header(0x53, 6, kTiledSource), control(0, 0xcc, 64), yx(1, 2), yx(2, 3), at(0), yx(9, 600), 256, at(0x1000)});
  EXPECT_EQ(marks(), (Marks{{0x42, 0x42}, {0x1000 + 8 * 1024 + 4096 + 512 + 88, 0x42}}));
}

TEST_P(HandBlit, SolidTransparentPatternDrawsNothing) {
  COVERS("G45-8.9-13");
  const auto mono = [&](uint32_t flags, int y) {
    return Dwords{header(0x57, 10),
                  control(0, 0xf0, 16, flags),
                  yx(y, 0),
                  yx(y + 1, 4),
                  at(0),
                  64,
                  0,
                  at(0x1000),
                  7,
                  8,
                  0xa0a0'a0a0,
                  0xa0a0'a0a0};
  };
  Dwords stream;
  int line = 0;
  for (const uint32_t flags : {0u, kSolid, kPatternTransparent, kSolid | kPatternTransparent}) {
    const Dwords one = mono(flags, line++);
    stream.insert(stream.end(), one.begin(), one.end());
  }
  const Dwords both = {header(0x58, 10),
                       control(0, 0xf0, 16, kSolid | kPatternTransparent),
                       yx(4, 0),
                       yx(5, 4),
                       at(0),
                       at(0x1000),
                       1,
                       2,
                       7,
                       8,
                       0xa0a0'a0a0,
                       0xa0a0'a0a0};
  stream.insert(stream.end(), both.begin(), both.end());
  draw(stream);
  EXPECT_EQ(target_->pixel(0x00, 4), 0x07080708u);
  EXPECT_EQ(target_->pixel(0x10, 4), 0x07070707u);
  EXPECT_EQ(target_->pixel(0x20, 4), 0x00080008u);
  EXPECT_EQ(target_->pixel(0x30, 4), 0u);
  EXPECT_EQ(target_->pixel(0x40, 4), 0u);
}

TEST_P(HandBlit, MonoPatternLinesAreBytesAndPixelZeroIsBitSeven) {
  COVERS("G45-8.9.14-04");
  draw({header(0x52, 7), control(0, 0xf0, 16), yx(0, 0), yx(8, 8), at(0), 0, 1, 0x0804'0281, 0x8040'2010});
  // Line 0: 81 = pixels 0 and 7, line 1: 02 = pixel 6, ... line 7: 80 = pixel 0.
  EXPECT_EQ(marks(),
            (Marks{{0x00, 1}, {0x07, 1}, {0x16, 1}, {0x25, 1}, {0x34, 1}, {0x43, 1}, {0x52, 1}, {0x61, 1}, {0x70, 1}}));
}

TEST_P(HandBlit, PatternSeedsApplyToCoordinateZero) {
  COVERS("G45-8.9-11");
  // Pattern: only pixel 5 of line 2. Seeds 3 and 1: pixel x where x + 3 = 5 (mod 8), line y where y + 1 = 2 (mod 8).
  draw({header(0x52, 7, 3u << 12 | 1u << 8), control(0, 0xf0, 16, kPatternTransparent), yx(1, 1), yx(10, 12), at(0), 0,
        1, 0x0004'0000, 0});
  EXPECT_EQ(marks(), (Marks{{0x12, 1}, {0x1a, 1}, {0x92, 1}, {0x9a, 1}}));
}

TEST_P(HandBlit, SetPixelUsesTheSetupColors) {
  COVERS("G45-8.9.4-01");
  COVERS("G45-8.10.3-01");
  draw({header(0x01, 6), control(1, 0x5a, 32, kClip),
        yx(1, 1),        yx(3, 3),
        at(0),           0xffff'1234,
        0x5678,          0,         //
        header(0x24, 0), yx(1, 2),  // inside
        header(0x24, 0), yx(2, 1),  // inside, twice: D xor P
        header(0x24, 0), yx(2, 1),
        header(0x24, 0), yx(0, 1),
        header(0x24, 0), yx(1, 0),
        header(0x24, 0), yx(1, 3),
        header(0x24, 0), yx(3, 1)});
  EXPECT_EQ(marks(), (Marks{{0x24, 0x34}, {0x25, 0x12}}));
}

INSTANTIATE_TEST_SUITE_P(On, HandBlit, ::testing::Values("reference", "i965", "g45", "snb"),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace halogen
