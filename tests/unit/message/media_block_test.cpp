// Media block messages: positions in bytes, and a surface whose width is in dwords whatever its format is. Drivers bind
// bytes as R8_UNORM with a quarter of the width (intel-vaapi-driver, i965_gpe_utils.c; the fill programs of
// igt-gpu-tools).
#include "message_bench.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

constexpr uint32_t kR8Unorm = 0x140, kR32Uint = 0x0d7, kR16Unorm = 0x10a;
constexpr uint32_t kSurface = 0x10000, kPitch = 64, kRows = 8;

class MediaBlocks : public MessageBench {
 protected:
  void bind_plane(uint32_t format, uint32_t width) {
    const uint64_t address = kVa + kSurface;
    bind(1, {1u << 29 | format << 18 | 1u << 16 | 1u << 14, 0, (kRows - 1) << 16 | (width - 1), kPitch - 1, 0, 0, 0,
             4u << 25 | 5u << 22 | 6u << 19 | 7u << 16, static_cast<uint32_t>(address),
             static_cast<uint32_t>(address >> 32), 0, 0, 0, 0, 0, 0});
  }
  SendOutcome transfer(bool write, uint32_t x, uint32_t y, uint32_t width, uint32_t rows) {
    set_lanes(kPayload, {x, y, (rows - 1) << 16 | (width - 1), 0, 0, 0, 0, 0});
    const uint32_t message = write ? 2u << 25 | 10u << 14 : 1u << 25 | 1u << 20 | 4u << 14;
    return send(kPort1, message | 1u << 19 | 1, 0xff, 8);
  }
  uint8_t& pixel(uint32_t x, uint32_t y) { return byte(kSurface + y * kPitch + x); }
};

TEST_P(MediaBlocks, WidthOfTheSurfaceIsInDwordsInEveryFormat) {
  for (const uint32_t format : {kR8Unorm, kR16Unorm, kR32Uint}) {
    SCOPED_TRACE(format);
    for (uint32_t at = 0; at < kPitch * kRows; ++at) {
      byte(kSurface + at) = 0;
    }
    bind_plane(format, 5);  // 20 bytes
    for (size_t dword = 0; dword < 8; ++dword) {
      grf(kPayload + 1, dword) = 0x0101'0101u * static_cast<uint32_t>(dword + 1);
    }
    // Two rows of 16 bytes at byte 12: the last eight of each lie outside.
    EXPECT_EQ(transfer(true, 12, 3, 16, 2), SendOutcome::done);
    for (uint32_t y = 0; y < kRows; ++y) {
      for (uint32_t x = 0; x < kPitch; ++x) {
        const bool written = (y == 3 || y == 4) && x >= 12 && x < 20;
        ASSERT_EQ(pixel(x, y), written ? (y - 3) * 4 + (x - 12) / 4 + 1 : 0u) << x << ", " << y;
      }
    }
  }
}

TEST_P(MediaBlocks, ReadsPastTheRightEdgeRepeatTheLastByteOfTheLastDword) {
  bind_plane(kR8Unorm, 3);  // 12 bytes
  for (uint32_t x = 0; x < kPitch; ++x) {
    pixel(x, 2) = static_cast<uint8_t>(x + 1);
  }
  EXPECT_EQ(transfer(false, 8, 2, 16, 1), SendOutcome::done);
  for (uint32_t x = 0; x < 16; ++x) {
    EXPECT_EQ(response(0, x / 4) >> 8 * (x % 4) & 0xff, std::min(x + 9, 12u)) << x;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, MediaBlocks, testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
