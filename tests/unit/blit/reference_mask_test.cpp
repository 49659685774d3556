// Pixels that are not written, on every chip: chroma keys in all modes, masks of both mono operands, clipping, and
// unmapped operands that the operation does not read.
#include <gtest/gtest.h>

#include "covers.h"
#include "support/blit_bench.h"

namespace halogen {
namespace {

using blit_reference::encode;
using blit_reference::Encoded;

constexpr uint32_t kPitch = 256;
constexpr size_t kSource = 0x5'0000, kPattern = 0x6'0000;
// An unmapped address.
constexpr uint64_t kNowhere = 0x0f00'0000;

class Masks : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { target_ = std::make_unique<BlitTarget>(GetParam()); }
  Dwords encoded(const Encoded& command) const { return encode(command, target_->wide()); }
  static uint32_t yx(int64_t y, int64_t x) {
    return static_cast<uint32_t>(y & 0xffff) << 16 | static_cast<uint32_t>(x & 0xffff);
  }
  static unsigned pixel_B(unsigned depth) { return depth == 0 ? 1 : depth == 3 ? 4 : 2; }
  std::unique_ptr<BlitTarget> target_;
};

// Values around the limits of a range, component by component. For each depth, components are (shift, bits).
struct Format {
  std::vector<std::pair<unsigned, unsigned>> colors;
  int alpha_shift, alpha_bits;
};
const Format kFormats[4] = {{{{0, 8}}, -1, 0},
                            {{{0, 5}, {5, 6}, {11, 5}}, -1, 0},
                            {{{0, 5}, {5, 5}, {10, 5}}, 15, 1},
                            {{{0, 8}, {8, 8}, {16, 8}}, 24, 8}};

struct Key {
  uint32_t low = 0, high = 0;
  std::vector<uint32_t> pixels;
  std::vector<bool> inside_rgb, inside_argb;
};

// Returns a key and pixels with every combination of low - 1, low, high and high + 1 in the components, alpha included:
// 4, 64 or 256 pixels.
Key make_key(unsigned depth) {
  const Format& format = kFormats[depth];
  std::vector<std::pair<unsigned, unsigned>> parts = format.colors;
  const bool alpha = format.alpha_bits != 0;
  if (alpha) parts.emplace_back(static_cast<unsigned>(format.alpha_shift), static_cast<unsigned>(format.alpha_bits));
  Key key;
  size_t count = 1;
  std::vector<std::array<uint32_t, 4>> levels;
  for (const auto& [shift, bits] : parts) {
    const uint32_t top = (1u << bits) - 1;
    const uint32_t low = bits == 1 ? 1 : top / 3, high = bits == 1 ? 1 : top / 2 + 1;
    key.low |= low << shift, key.high |= high << shift;
    levels.push_back({low - 1, low, high, (high + 1) & top});
    count *= 4;
  }
  for (size_t i = 0; i < count; ++i) {
    uint32_t pixel = 0;
    bool rgb = true, all = true;
    size_t rest = i;
    for (size_t part = 0; part < parts.size(); ++part, rest /= 4) {
      const uint32_t value = levels[part][rest % 4];
      pixel |= value << parts[part].first;
      const bool inside = value == levels[part][1] || value == levels[part][2];
      all = all && inside;
      if (!alpha || part + 1 != parts.size()) rgb = rgb && inside;
    }
    key.pixels.push_back(pixel), key.inside_rgb.push_back(rgb), key.inside_argb.push_back(all);
  }
  return key;
}

TEST_P(Masks, ChromaKeysMatchTheReferenceInEveryMode) {
  COVERS("G45-8.2.1.4-02");
  COVERS("G45-8.10.1-03");
  COVERS("G45-8.10.1-04");
  COVERS("G45-8.10.1-05");
  COVERS("G45-8.10.1-06");
  COVERS("G45-8.10.1-07");
  COVERS("G45-8.10.1-08");
  COVERS("G45-8.10.1-09");
  for (unsigned depth = 0; depth < 4; ++depth) {
    const Key key = make_key(depth);
    const unsigned pixel = pixel_B(depth);
    const auto width = static_cast<uint32_t>(key.pixels.size());
    for (uint32_t mode = 0; mode < 8; ++mode) {
      for (const unsigned opcode : {0x73u, 0x76u, 0x77u}) {
        if (opcode != 0x73 && (mode == 1 || mode == 3)) continue;  // illegal without a source
        SCOPED_TRACE(::testing::Message() << "depth " << depth << " mode " << mode << " opcode " << opcode);
        const bool by_source = mode == 1 || mode == 3;
        std::ranges::fill(target_->bytes(), uint8_t{0x3c});
        for (uint32_t x = 0; x < width; ++x) target_->put((by_source ? kSource : 0) + x * pixel, key.pixels[x], pixel);
        const std::vector<uint8_t> before = target_->bytes();
        Encoded command{.opcode = opcode, .header = 3u << 20 | mode << 17, .br = {}, .immediate = {}};
        command.br[13] = depth << 24 | 0x55u << 16 | 1024;  // inverts D: visible whatever the source is
        command.br[22] = yx(0, 0), command.br[23] = yx(1, width);
        command.br[9] = target_->at(0);
        command.br[11] = 1024, command.br[12] = target_->at(kSource);
        command.br[15] = target_->at(kPattern);
        command.br[18] = key.low, command.br[19] = key.high;
        if (opcode == 0x77) command.immediate.assign(16 * pixel, 0);
        target_->draw(encoded(command));
        for (uint32_t x = 0; x < width; ++x) {
          bool written = true;
          if (mode == 1) written = !key.inside_rgb[x];
          if (mode == 3) written = !key.inside_argb[x];
          if (mode == 5) written = key.inside_argb[x];
          if (mode == 7) written = key.inside_rgb[x];
          uint32_t expected = 0;
          std::memcpy(&expected, &before[x * pixel], pixel);
          const uint32_t mask = pixel == 4 ? ~0u : (1u << (8 * pixel)) - 1;
          if (written) expected = ~expected & mask;
          ASSERT_EQ(target_->pixel(x * pixel, pixel), expected) << std::hex << key.pixels[x];
        }
      }
    }
  }
}

// If both mono operands are transparent, a pixel is written only if both bits are set.
TEST_P(Masks, BothMonoOperandsMayBeTransparent) {
  COVERS("G45-8.2.1.4-01");
  COVERS("G45-8.10.2-02");
  COVERS("G45-8.2.1-03");
  for (unsigned flags = 0; flags < 4; ++flags) {
    const bool pattern = (flags & 1) != 0, source = (flags & 2) != 0;
    SCOPED_TRACE(::testing::Message() << "pattern " << pattern << " source " << source);
    std::ranges::fill(target_->bytes(), uint8_t{0x77});
    target_->bytes()[kSource] = 0x0f, target_->bytes()[kSource + 1] = 0x0f;
    Encoded command{.opcode = 0x58, .header = 0, .br = {}, .immediate = {}};
    command.br[13] = (source ? 1u << 29 : 0) | (pattern ? 1u << 28 : 0) | 0x3cu << 16 | kPitch;  // P xor S
    command.br[22] = yx(0, 0), command.br[23] = yx(1, 16);
    command.br[9] = target_->at(0), command.br[12] = target_->at(kSource);
    command.br[18] = 0x01, command.br[19] = 0x02;  // source
    command.br[16] = 0x10, command.br[17] = 0x20;  // pattern
    command.br[20] = command.br[21] = 0x3333'3333;
    target_->draw(encoded(command));
    for (uint32_t x = 0; x < 16; ++x) {
      const bool s = (x & 4) != 0, p = (x & 2) != 0;
      unsigned expected = (s ? 2u : 1u) ^ (p ? 0x20u : 0x10u);
      if ((source && !s) || (pattern && !p)) expected = 0x77;
      EXPECT_EQ(target_->bytes()[x], expected) << x;
    }
  }
}

// Clipped pixels are not accessed, even where nothing is mapped; later pixels are drawn.
TEST_P(Masks, ClippedPixelsAreNotAccessed) {
  COVERS("G45-8.9-01");
  Dwords stream;
  const auto add = [&](Encoded command) {
    const Dwords one = encoded(command);
    stream.insert(stream.end(), one.begin(), one.end());
  };
  Encoded clip{.opcode = 0x03, .header = 0, .br = {}, .immediate = {}};
  clip.br[24] = yx(10, 10), clip.br[25] = yx(20, 20);
  add(clip);
  const std::pair<uint32_t, uint32_t> kOutside[] = {
      {yx(0, 0), yx(10, 99)},   {yx(20, 0), yx(30, 99)},  {yx(0, 0), yx(99, 10)}, {yx(0, 20), yx(99, 30)},
      {yx(12, 12), yx(12, 15)}, {yx(12, 15), yx(15, 12)}, {yx(-9, -9), yx(0, 99)}};
  for (const auto& [first, last] : kOutside) {
    for (const unsigned opcode : {0x50u, 0x51u, 0x53u, 0x54u, 0x55u, 0x58u}) {
      Encoded command{.opcode = opcode, .header = 3u << 20, .br = {}, .immediate = {}};
      command.br[13] = 1u << 30 | 3u << 24 | (opcode == 0x50 || opcode == 0x51 ? 0xf0u : 0xccu) << 16 | kPitch;
      command.br[22] = first, command.br[23] = last;
      command.br[9] = command.br[12] = command.br[15] = kNowhere;
      command.br[11] = kPitch;
      add(command);
    }
  }
  Encoded last{.opcode = 0x50, .header = 0, .br = {}, .immediate = {}};
  last.br[13] = 1u << 30 | 0xf0u << 16 | kPitch;
  last.br[22] = yx(0, 0), last.br[23] = yx(99, 99);
  last.br[9] = target_->at(0);
  last.br[16] = 0x99;
  add(last);
  target_->draw(stream);
  EXPECT_EQ(std::ranges::count(target_->bytes(), uint8_t{0x99}), 100);
  EXPECT_EQ(target_->bytes()[10 * kPitch + 10], 0x99);
  EXPECT_EQ(target_->bytes()[19 * kPitch + 19], 0x99);
  EXPECT_EQ(target_->misses(), 0u) << "no access";
}

// An operand that the raster operation does not use may be unmapped.
TEST_P(Masks, UnusedOperandsAreNotRead) {
  COVERS("G45-8.2.1-07");
  target_->bytes() = random_bytes(target_->bytes().size(), 77);
  std::vector<uint8_t> expected = target_->bytes();
  Dwords stream;
  for (uint32_t code = 0; code < 256; ++code) {
    const bool p = (code >> 4) != (code & 15), s = (code >> 2 & 0x33) != (code & 0x33);
    if (p && s) continue;
    for (const unsigned opcode : {0x55u, 0x56u, 0x57u}) {
      if (opcode == 0x56 && s) continue;
      Encoded command{.opcode = opcode, .header = 3u << 20, .br = {}, .immediate = {}};
      command.br[13] = 3u << 24 | code << 16 | kPitch;
      command.br[22] = yx(code, 3), command.br[23] = yx(code + 1, 8);
      command.br[9] = target_->at(0);
      command.br[11] = kPitch;
      command.br[12] = s ? target_->at(kSource) : kNowhere;
      command.br[15] = p ? target_->at(kPattern) : kNowhere;
      command.br[16] = command.br[17] = 0x1234'5678;
      const Dwords one = encoded(command);
      stream.insert(stream.end(), one.begin(), one.end());
      for (size_t x = 3; x < 8; ++x) {
        uint32_t d = 0, from = 0, pattern = 0;
        std::memcpy(&d, &expected[code * kPitch + x * 4], 4);
        std::memcpy(&from, &expected[kSource + (x - 3) * 4], 4);
        std::memcpy(&pattern, &expected[kPattern + (code % 8 * 8 + x % 8) * 4], 4);
        if (opcode == 0x57) pattern = 0x1234'5678;
        uint32_t result = 0;
        for (unsigned bit = 0; bit < 32; ++bit) {
          const unsigned index = (pattern >> bit & 1) * 4 + (from >> bit & 1) * 2 + (d >> bit & 1);
          result |= (code >> index & 1) << bit;
        }
        std::memcpy(&expected[code * kPitch + x * 4], &result, 4);
      }
    }
  }
  target_->draw(stream);
  EXPECT_EQ(difference(target_->bytes(), expected), "");
  EXPECT_EQ(target_->misses(), 0u) << "no access";
  if (target_->bench() == nullptr) return;
  // As a counter-check, the same command with an operation that uses its source does access it.
  Encoded reads{.opcode = 0x55, .header = 3u << 20, .br = {}, .immediate = {}};
  reads.br[13] = 3u << 24 | 0xccu << 16 | kPitch;
  reads.br[22] = yx(0, 3), reads.br[23] = yx(1, 8);
  reads.br[9] = target_->at(0), reads.br[11] = kPitch, reads.br[12] = kNowhere, reads.br[15] = kNowhere;
  target_->bench()->draw(encoded(reads));
  EXPECT_EQ(target_->misses(), 1u);
}

INSTANTIATE_TEST_SUITE_P(On, Masks, ::testing::ValuesIn(with_reference(blit_chips())),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace halogen
