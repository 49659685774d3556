// Patterns on every chip: colour, mono and solid with every seed, from memory, from the command and from the setup. The
// fixed patterns are compared with the hatch styles that Windows defines by the same names.
#include <functional>

#include <gtest/gtest.h>

#include "covers.h"
#include "support/blit_bench.h"

namespace halogen {
namespace {

using blit_reference::encode;
using blit_reference::Encoded;

constexpr uint32_t kPitch = 256, kWidth = 21, kHeight = 11, kLeft = 5, kTop = 3;
constexpr size_t kPattern = 0x7'0000;
constexpr uint32_t kBackground = 0x1122'3344, kForeground = 0xaabb'ccdd;

class Patterns : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    target_ = std::make_unique<BlitTarget>(GetParam());
    target_->bytes() = random_bytes(target_->bytes().size(), 8);
  }

  Encoded base(unsigned opcode, unsigned depth, unsigned seed_x, unsigned seed_y) const {
    Encoded command{.opcode = opcode, .header = 3u << 20 | seed_x << 12 | seed_y << 8, .br = {}, .immediate = {}};
    command.br[13] = depth << 24 | 0xf0u << 16 | kPitch;
    command.br[22] = kTop << 16 | kLeft;
    command.br[23] = (kTop + kHeight) << 16 | (kLeft + kWidth);
    command.br[9] = target_->at(0);
    command.br[16] = command.br[18] = kBackground, command.br[17] = command.br[19] = kForeground;
    return command;
  }
  Dwords encoded(const Encoded& command) const { return encode(command, target_->wide()); }
  static unsigned pixel_B(unsigned depth) { return depth == 0 ? 1 : depth == 3 ? 4 : 2; }
  static uint32_t cut(uint32_t color, unsigned depth) {
    return depth == 0 ? color & 0xff : depth == 3 ? color : color & 0xffff;
  }
  static constexpr uint32_t kKept = 0x5a5a'5a5a;  // the previous contents

  void clear() { std::fill(target_->bytes().begin(), target_->bytes().begin() + 0x1'0000, uint8_t{0x5a}); }
  // Checks every pixel of the surface: `inside` holds for pixels of the rectangle.
  void expect(unsigned depth, const std::function<uint32_t(uint32_t x, uint32_t y)>& inside) {
    const unsigned pixel = pixel_B(depth);
    for (uint32_t y = 0; y < kTop + kHeight + 2; ++y) {
      for (uint32_t x = 0; x < kLeft + kWidth + 4; ++x) {
        const bool drawn = x >= kLeft && x < kLeft + kWidth && y >= kTop && y < kTop + kHeight;
        ASSERT_EQ(target_->pixel(y * kPitch + x * pixel, pixel), cut(drawn ? inside(x, y) : kKept, depth))
            << x << "," << y;
      }
    }
  }
  void each_seed(const std::function<void(unsigned depth, unsigned seed_x, unsigned seed_y)>& test) {
    for (unsigned depth = 0; depth < 4; ++depth) {
      for (unsigned seed = 0; seed < 64; ++seed) {
        // Two turns through all lines and columns, and all pairs at one depth.
        if (depth != 1 && seed % 9 != 0 && seed % 7 != 0) continue;
        SCOPED_TRACE(::testing::Message() << "depth " << depth << " seeds " << seed % 8 << " " << seed / 8);
        clear();
        test(depth, seed % 8, seed / 8);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }

  std::unique_ptr<BlitTarget> target_;
};

TEST_P(Patterns, ColorPatternInMemoryMatchesTheReference) {
  COVERS("G45-8.2.2.4-01");
  COVERS("G45-8.2.2.4-02");
  each_seed([&](unsigned depth, unsigned sx, unsigned sy) {
    const unsigned pixel = pixel_B(depth);
    Encoded command = base(0x51, depth, sx, sy);
    const size_t at = kPattern + 64 * pixel * (sx + 1);  // aligned to its size
    command.br[15] = target_->at(at);
    target_->draw(encoded(command));
    expect(depth, [&](uint32_t x, uint32_t y) {
      return target_->pixel(at + ((y + sy) % 8 * 8 + (x + sx) % 8) * pixel, pixel);
    });
  });
}

TEST_P(Patterns, ColorPatternInTheCommandMatchesTheReference) {
  each_seed([&](unsigned depth, unsigned sx, unsigned sy) {
    const unsigned pixel = pixel_B(depth);
    Encoded command = base(0x72, depth, sx, sy);
    std::vector<uint8_t> data(64 * pixel);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 37 + depth);
    command.immediate.resize(data.size() / 4);
    std::memcpy(command.immediate.data(), data.data(), data.size());
    target_->draw(encoded(command));
    expect(depth, [&](uint32_t x, uint32_t y) {
      uint32_t value = 0;
      std::memcpy(&value, data.data() + ((y + sy) % 8 * 8 + (x + sx) % 8) * pixel, pixel);
      return value;
    });
  });
}

constexpr uint8_t kMono[8] = {0x81, 0x5e, 0x2b, 0x17, 0xf0, 0x3c, 0x66, 0x01};
bool mono_bit(uint32_t x, uint32_t y) {
  return (kMono[y % 8] << (x % 8) & 0x80) != 0;
}

TEST_P(Patterns, MonoPatternInTheCommandMatchesTheReference) {
  COVERS("G45-8.10.12-01");
  COVERS("G45-8.10.13-01");
  each_seed([&](unsigned depth, unsigned sx, unsigned sy) {
    for (const bool transparent : {false, true}) {
      clear();
      Encoded command = base(0x52, depth, sx, sy);
      command.br[20] = 0x172b'5e81, command.br[21] = 0x0166'3cf0;
      if (transparent) command.br[13] |= 1u << 28;
      target_->draw(encoded(command));
      expect(depth, [&](uint32_t x, uint32_t y) {
        return mono_bit(x + sx, y + sy) ? kForeground : transparent ? kKept : kBackground;
      });
    }
  });
}

// Patterns of a setup: BR20 and BR21 or a colour pattern, with the colours of the setup and the seeds of the drawing
// command.
TEST_P(Patterns, ScanLinesUseThePatternOfTheSetup) {
  COVERS("G45-8.10.4-01");
  COVERS("G45-8.10.5-01");
  each_seed([&](unsigned depth, unsigned sx, unsigned sy) {
    const unsigned pixel = pixel_B(depth);
    const Encoded lines = [&] {
      Encoded command = base(0x25, depth, sx, sy);
      command.header &= ~(3u << 20);
      return command;
    }();
    Encoded setup = base(0x11, depth, 0, 0);
    setup.header = 3u << 20;
    setup.br[1] = depth << 24 | 0xf0u << 16 | kPitch;
    setup.br[5] = kBackground, setup.br[6] = kForeground;
    setup.br[20] = 0x172b'5e81, setup.br[21] = 0x0166'3cf0;
    const auto draw = [&](uint32_t flags, unsigned opcode) {
      clear();
      Encoded with = setup;
      with.opcode = opcode;
      with.br[1] |= flags;
      Dwords stream = encoded(with);
      const Dwords second = encoded(lines);
      stream.insert(stream.end(), second.begin(), second.end());
      target_->draw(stream);
    };
    draw(0, 0x11);
    expect(depth, [&](uint32_t x, uint32_t y) { return mono_bit(x + sx, y + sy) ? kForeground : kBackground; });
    draw(1u << 28, 0x11);
    expect(depth, [&](uint32_t x, uint32_t y) { return mono_bit(x + sx, y + sy) ? kForeground : kKept; });
    draw(1u << 31, 0x11);
    expect(depth, [&](uint32_t, uint32_t) { return kBackground; });
    setup.br[7] = target_->at(kPattern);
    draw(0, 0x01);
    expect(depth, [&](uint32_t x, uint32_t y) {
      return target_->pixel(kPattern + ((y + sy) % 8 * 8 + (x + sx) % 8) * pixel, pixel);
    });
  });
}

// Draws 8x8 pixels of the fixed pattern at the corner of the surface. Returns one byte per line, leftmost pixel in
// bit 7.
std::array<uint8_t, 8> picture(BlitTarget& target, unsigned number, unsigned seed_x = 0, unsigned seed_y = 0) {
  Encoded command{.opcode = 0x59, .header = number << 15 | seed_x << 12 | seed_y << 8, .br = {}, .immediate = {}};
  command.br[13] = 0xf0u << 16 | kPitch;
  command.br[23] = 8u << 16 | 8;
  command.br[9] = target.at(0);
  command.br[16] = 0, command.br[17] = 1;
  target.draw(encode(command, target.wide()));
  std::array<uint8_t, 8> lines{};
  for (unsigned y = 0; y < 8; ++y) {
    for (unsigned x = 0; x < 8; ++x) lines[y] = static_cast<uint8_t>(lines[y] << 1 | target.bytes()[y * kPitch + x]);
  }
  return lines;
}

TEST_P(Patterns, FixedPatternsMatchTheirWindowsNames) {
  COVERS("G45-8.9.14-06");
  std::array<std::array<uint8_t, 8>, 6> look{};
  for (unsigned number = 0; number < 6; ++number) look[number] = picture(*target_, number);
  const auto bit = [&](unsigned number, unsigned x, unsigned y) {
    return (look[number][y % 8] << (x % 8) & 0x80) != 0;
  };
  const auto count = [&](unsigned number) {
    unsigned bits = 0;
    for (const uint8_t line : look[number]) bits += static_cast<unsigned>(std::popcount(line));
    return bits;
  };
  for (unsigned y = 0; y < 8; ++y) {
    for (unsigned x = 0; x < 8; ++x) {
      EXPECT_EQ(bit(0, x, y), bit(0, 0, y)) << "HS_HORIZONTAL: whole lines";
      EXPECT_EQ(bit(1, x, y), bit(1, x, 0)) << "HS_VERTICAL: whole columns";
      EXPECT_EQ(bit(2, x, y), bit(2, x + 1, y + 1)) << "HS_FDIAGONAL: like a backslash";
      EXPECT_EQ(bit(3, x, y), bit(3, x + 7, y + 1)) << "HS_BDIAGONAL: like a slash";
      EXPECT_EQ(bit(4, x, y), bit(0, x, y) || bit(1, x, y)) << "HS_CROSS";
      EXPECT_EQ(bit(5, x, y), bit(2, x, y) || bit(3, x, y)) << "HS_DIAGCROSS";
    }
  }
  // Each pattern has one line of each kind.
  for (unsigned number = 0; number < 4; ++number) EXPECT_EQ(count(number), 8u) << number;
  EXPECT_EQ(count(4), 15u);
  EXPECT_EQ(count(5), 16u);
}

TEST_P(Patterns, FixedPatternsMatchLineByLine) {
  COVERS("G45-8.9.14-05");
  struct Row {
    unsigned number;
    std::array<uint8_t, 8> lines;
  };
  constexpr Row kRows[] = {{0, {0, 0, 0, 0xff, 0, 0, 0, 0}},
                           {1, {8, 8, 8, 8, 8, 8, 8, 8}},
                           {2, {0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01}},
                           {3, {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80}},
                           {4, {8, 8, 8, 0xff, 8, 8, 8, 8}},
                           {5, {0x81, 0x42, 0x24, 0x18, 0x18, 0x24, 0x42, 0x81}},
                           {8, {0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa}},
                           {9, {0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33, 0xcc, 0x33}},
                           {10, {0x88, 0x44, 0x22, 0x11, 0x88, 0x44, 0x22, 0x11}},
                           {11, {0x77, 0xbb, 0xdd, 0xee, 0x77, 0xbb, 0xdd, 0xee}}};
  for (const Row& row : kRows) {
    EXPECT_EQ(picture(*target_, row.number), row.lines) << row.number;
    for (unsigned seed = 1; seed < 8; ++seed) {
      std::array<uint8_t, 8> moved{};
      for (unsigned y = 0; y < 8; ++y) moved[y] = std::rotl(row.lines[(y + seed) % 8], static_cast<int>(seed));
      EXPECT_EQ(picture(*target_, row.number, seed, seed), moved) << row.number << " seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, Patterns, ::testing::ValuesIn(with_reference(blit_chips())),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace halogen
