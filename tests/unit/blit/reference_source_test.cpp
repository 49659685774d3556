// Sources on every chip: mono with all start bits and packings, overlaps in all directions, tiled source and
// destination.
#include <gtest/gtest.h>

#include "covers.h"
#include "support/blit_bench.h"

namespace halogen {
namespace {

using blit_reference::encode;
using blit_reference::Encoded;

constexpr uint32_t kPitch = 256;
constexpr size_t kSource = 0x5'0000;

class Sources : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    target_ = std::make_unique<BlitTarget>(GetParam());
    target_->bytes() = random_bytes(target_->bytes().size(), 5);
  }
  Dwords encoded(const Encoded& command) const { return encode(command, target_->wide()); }
  static uint32_t yx(int64_t y, int64_t x) {
    return static_cast<uint32_t>(y & 0xffff) << 16 | static_cast<uint32_t>(x & 0xffff);
  }
  static unsigned pixel_B(unsigned depth) { return depth == 0 ? 1 : depth == 3 ? 4 : 2; }
  static uint32_t cut(uint32_t color, unsigned depth) {
    return depth == 0 ? color & 0xff : depth == 3 ? color : color & 0xffff;
  }
  bool source_bit(size_t bit) const { return (target_->bytes()[kSource + bit / 8] << bit % 8 & 0x80) != 0; }

  std::unique_ptr<BlitTarget> target_;
};

constexpr uint32_t kBack = 0x0102'0304, kFore = 0xf1f2'f3f4;

TEST_P(Sources, MonoSourceMatchesTheReferenceAtEveryStartBit) {
  COVERS("G45-8.2.1-02");
  COVERS("G45-8.2.2.2-03");
  COVERS("G45-8.10.14-01");
  COVERS("G45-8.10.15-01");
  for (const bool immediate : {false, true}) {
    for (uint32_t start = 0; start < 8; ++start) {
      for (const uint32_t width : {1u, 7u, 8u, 9u, 13u, 16u, 24u, 25u, 33u}) {
        const unsigned depth = (start + width) % 4;
        const bool transparent = width % 2 != 0;
        SCOPED_TRACE(::testing::Message() << "start " << start << " width " << width << " immediate " << immediate);
        Encoded command{
            .opcode = immediate ? 0x71u : 0x54u, .header = 3u << 20 | start << 17, .br = {}, .immediate = {}};
        command.br[13] = depth << 24 | 0xccu << 16 | kPitch | (transparent ? 1u << 29 : 0);
        command.br[22] = yx(2, 6), command.br[23] = yx(5, 6 + width);
        command.br[9] = target_->at(0), command.br[12] = target_->at(kSource);
        command.br[18] = kBack, command.br[19] = kFore;
        const size_t line = (start + width + 15) / 16 * 16;
        const size_t quads = (2 * line + start + width + 63) / 64;
        for (size_t i = 0; immediate && i < 2 * quads; ++i) {
          command.immediate.push_back(target_->pixel(kSource + 4 * i, 4));
        }
        const std::vector<uint8_t> before = target_->bytes();
        target_->draw(encoded(command));
        const unsigned pixel = pixel_B(depth);
        for (uint32_t y = 0; y < 3; ++y) {
          for (uint32_t x = 0; x < width; ++x) {
            const size_t at = (2 + y) * kPitch + (6 + x) * pixel;
            uint32_t expected = cut(source_bit(y * line + start + x) ? kFore : kBack, depth);
            if (transparent && !source_bit(y * line + start + x)) std::memcpy(&(expected = 0), &before[at], pixel);
            ASSERT_EQ(target_->pixel(at, pixel), expected) << x << "," << y;
          }
          EXPECT_EQ(target_->bytes()[(2 + y) * kPitch + 6 * pixel - 1], before[(2 + y) * kPitch + 6 * pixel - 1]);
          const size_t end = (2 + y) * kPitch + (6 + width) * pixel;
          EXPECT_EQ(target_->bytes()[end], before[end]);
        }
      }
    }
  }
}

// All widths in both packings, from memory and in the command, with a clip rectangle that cuts each side.
TEST_P(Sources, ClippedTextKeepsItsPosition) {
  for (const unsigned opcode : {0x26u, 0x31u}) {
    for (const bool bytes : {false, true}) {
      for (uint32_t width = 1; width <= 20; ++width) {
        SCOPED_TRACE(::testing::Message() << std::hex << opcode << " bytes " << bytes << " width " << width);
        const unsigned depth = width % 4;
        Encoded setup{.opcode = 0x01, .header = 3u << 20, .br = {}, .immediate = {}};
        setup.br[1] = 1u << 30 | depth << 24 | 0xccu << 16 | kPitch;
        setup.br[24] = yx(5, 7), setup.br[25] = yx(9, 6 + 15);
        setup.br[9] = target_->at(0);
        setup.br[5] = kBack, setup.br[6] = kFore;
        setup.br[7] = target_->at(0);
        Encoded text{.opcode = opcode, .header = bytes ? 1u << 16 : 0, .br = {}, .immediate = {}};
        text.br[22] = yx(4, 5), text.br[23] = yx(11, 5 + width);
        text.br[12] = target_->at(kSource);
        const size_t line = bytes ? (width + 7) / 8 * 8 : width;
        for (size_t i = 0; opcode == 0x31 && i < (6 * line + width + 63) / 64 * 2; ++i) {
          text.immediate.push_back(target_->pixel(kSource + 4 * i, 4));
        }
        const std::vector<uint8_t> before = target_->bytes();
        Dwords stream = encoded(setup);
        const Dwords second = encoded(text);
        stream.insert(stream.end(), second.begin(), second.end());
        target_->draw(stream);
        const unsigned pixel = pixel_B(depth);
        for (uint32_t y = 3; y < 12; ++y) {
          for (uint32_t x = 4; x < 30; ++x) {
            const size_t at = y * kPitch + x * pixel;
            const bool drawn = y >= 5 && y < 9 && x >= 7 && x < 21 && x < 5 + width;
            uint32_t expected = 0;
            std::memcpy(&expected, &before[at], pixel);
            if (drawn) expected = cut(source_bit((y - 4) * line + (x - 5)) ? kFore : kBack, depth);
            ASSERT_EQ(target_->pixel(at, pixel), expected) << x << "," << y;
          }
        }
      }
    }
  }
}

struct Move {
  int x, y;
};
constexpr Move kMoves[] = {{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}};

// A block copied over itself in the eight directions, by one pixel and by more: no pixel is lost, whatever the tiling.
TEST_P(Sources, OverlapsMatchTheReferenceInAllDirections) {
  COVERS("G45-8.9-04");
  COVERS("G45-8.9-03");
  for (const bool tiled : {false, true}) {
    for (unsigned depth = 0; depth < 4; ++depth) {
      for (const Move& move : kMoves) {
        for (const int step : {1, 3}) {
          const unsigned pixel = pixel_B(depth);
          const int dx = move.x * step, dy = move.y * step;
          SCOPED_TRACE(::testing::Message() << "tiled " << tiled << " depth " << depth << " by " << dx << "," << dy);
          constexpr uint32_t kWide = 512;
          Encoded command{.opcode = 0x53, .header = 3u << 20 | (tiled ? 0x8800u : 0), .br = {}, .immediate = {}};
          command.br[13] = depth << 24 | 0xccu << 16 | (tiled ? kWide / 4 : kWide);
          command.br[22] = yx(6 + dy, 10 + dx), command.br[23] = yx(6 + dy + 23, 10 + dx + 60);
          command.br[26] = yx(6, 10);
          command.br[11] = tiled ? kWide / 4 : kWide;
          command.br[9] = command.br[12] = target_->at(0x1000);
          const auto address = [&](int x, int y) {
            const auto at = static_cast<uint64_t>(x) * pixel;
            const auto line = static_cast<uint64_t>(y);
            return 0x1000 + (tiled ? device::x_tiled(at, line, kWide) : line * kWide + at);
          };
          const std::vector<uint8_t> before = target_->bytes();
          target_->draw(encoded(command));
          std::vector<uint8_t> expected = before;
          for (int y = 6; y < 6 + 23; ++y) {
            for (int x = 10; x < 10 + 60; ++x) {
              std::memcpy(&expected[address(x + dx, y + dy)], &before[address(x, y)], pixel);
            }
          }
          ASSERT_EQ(difference(target_->bytes(), expected), "");
        }
      }
    }
  }
}

// The linear command copies in the direction that it names: here the safe direction for each move.
TEST_P(Sources, LinearMovesMatchTheReferenceInAllDirections) {
  COVERS("G45-8.2.1.5-01");
  for (unsigned depth = 0; depth < 4; ++depth) {
    for (const Move& move : kMoves) {
      const unsigned pixel = pixel_B(depth);
      SCOPED_TRACE(::testing::Message() << "depth " << depth << " by " << move.x << "," << move.y);
      constexpr int64_t kLine = 192, kHeight = 9;
      const int64_t width = 20 * pixel;
      const int64_t from = 0x2000, to = from + 2 * move.y * kLine + 3 * move.x * int64_t{pixel};
      const bool left = move.x > 0, up = move.y > 0;
      const int64_t corner = (up ? (kHeight - 1) * kLine : 0) + (left ? width - 1 : 0);
      Encoded command{.opcode = 0x43, .header = 3u << 20, .br = {}, .immediate = {}};
      const auto pitch = static_cast<uint32_t>((up ? -kLine : kLine) & 0xffff);
      command.br[13] = (left ? 1u << 30 : 0) | depth << 24 | 0xccu << 16 | pitch;
      command.br[14] = yx(kHeight, width);
      command.br[9] = target_->at(static_cast<uint64_t>(to + corner));
      command.br[11] = pitch;
      command.br[12] = target_->at(static_cast<uint64_t>(from + corner));
      std::vector<uint8_t> expected = target_->bytes();
      const std::vector<uint8_t> before = expected;
      for (int64_t y = 0; y < kHeight; ++y) {
        std::memcpy(&expected[static_cast<size_t>(to + y * kLine)], &before[static_cast<size_t>(from + y * kLine)],
                    static_cast<size_t>(width));
      }
      target_->draw(encoded(command));
      ASSERT_EQ(difference(target_->bytes(), expected), "");
    }
  }
}

// Between linear, X and, with BCS_SWCTRL, Y tiles: three pitches on each side.
TEST_P(Sources, TiledSourceAndDestinationMatchTheReference) {
  COVERS("G45-8.10.7-01");
  const bool has_y = target_->bench() != nullptr && !target_->bench()->is_gen4();
  for (unsigned from = 0; from < (has_y ? 3 : 2); ++from) {
    for (unsigned to = 0; to < (has_y ? 3 : 2); ++to) {
      for (const uint32_t pitch : {512u, 1024u, 2560u}) {
        const unsigned depth = (from + to + pitch / 512) % 4, pixel = pixel_B(depth);
        const uint32_t other = pitch == 1024 ? 1536 : 1024;
        SCOPED_TRACE(::testing::Message() << from << " to " << to << " pitches " << other << " " << pitch);
        if (has_y) {  // BCS_SWCTRL: bit 0 for the source, bit 1 for the destination, with their masks
          target_->bench()->set_reg("bcs0", 0x200, 0x3'0000 | (from == 2 ? 1u : 0) | (to == 2 ? 2u : 0));
        }
        Encoded command{.opcode = 0x53,
                        .header = 3u << 20 | (from != 0 ? 0x8000u : 0) | (to != 0 ? 0x800u : 0),
                        .br = {},
                        .immediate = {}};
        command.br[13] = depth << 24 | 0xccu << 16 | (to != 0 ? pitch / 4 : pitch);
        command.br[22] = yx(5, 9), command.br[23] = yx(5 + 47, 9 + 100);
        command.br[26] = yx(3, 20);
        command.br[11] = from != 0 ? other / 4 : other;
        command.br[9] = target_->at(0), command.br[12] = target_->at(0x4'0000);
        const auto address = [&](unsigned tile, uint64_t x, uint64_t y, uint64_t bytes) {
          return tile == 0 ? y * bytes + x : tile == 1 ? device::x_tiled(x, y, bytes) : device::y_tiled(x, y, bytes);
        };
        std::vector<uint8_t> expected = target_->bytes();
        for (uint64_t y = 0; y < 47; ++y) {
          for (uint64_t x = 0; x < 100 * pixel; ++x) {
            expected[address(to, 9 * pixel + x, 5 + y, pitch)] =
                target_->bytes()[0x4'0000 + address(from, 20 * pixel + x, 3 + y, other)];
          }
        }
        target_->draw(encoded(command));
        ASSERT_EQ(difference(target_->bytes(), expected), "");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, Sources, ::testing::ValuesIn(with_reference(blit_chips())),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace halogen
