// The line code of our GM45 compressor alone.
#include <gtest/gtest.h>

#include "covers.h"
#include "display/fbc/dpfc_code.h"
#include "unit/display/dpfc_bench.h"

namespace halogen::display::fbc_test {
namespace {

std::vector<std::byte> bytes_of(const std::vector<uint32_t>& pixels, unsigned pixel_bytes) {
  std::vector<std::byte> bytes(pixels.size() * pixel_bytes);
  for (size_t i = 0; i < pixels.size(); ++i) {
    std::memcpy(bytes.data() + i * pixel_bytes, &pixels[i], pixel_bytes);
  }
  return bytes;
}

// Text, ramps, flat areas and noise, chosen by the random seed.
std::vector<uint32_t> some_line(std::mt19937& random, size_t width, unsigned pixel_bytes) {
  std::vector<uint32_t> pixels;
  const uint32_t mask = pixel_bytes == 4 ? 0xffff'ffff : 0xffff;
  uint32_t value = static_cast<uint32_t>(random()) & mask;
  const uint32_t other = static_cast<uint32_t>(random()) & mask;
  uint32_t kind = 0;
  while (pixels.size() < width) {
    if (random() % 40 == 0) {
      kind = static_cast<uint32_t>(random()) % 5;
    }
    switch (kind) {
      case 0:
        break;
      case 1:
        value = random() % 2 == 0 ? other : value;
        break;
      case 2:
        value = (value + static_cast<uint32_t>(random() % 5) * 0x10801) & mask;
        break;
      case 3:
        value = (value - static_cast<uint32_t>(random() % 60) * 0x1'0021) & mask;
        break;
      default:
        value = static_cast<uint32_t>(random()) & mask;
        break;
    }
    pixels.push_back(random() % 6 == 0 ? other : value);
  }
  return pixels;
}

TEST(DpfcCode, LinesRoundTripThroughAnIndependentDecoder) {
  COVERS("G45-7.2.2-03");
  std::mt19937 random(7);
  std::array<unsigned, 16> used{};
  for (int round = 0; round < 600; ++round) {
    const unsigned pixel_bytes = round % 2 == 0 ? 4 : 2;
    const std::vector<uint32_t> pixels = some_line(random, 1 + random() % 4096, pixel_bytes);
    const uint32_t disabled = round % 3 == 0 ? static_cast<uint32_t>(random()) & 0x1ff : 0;
    std::vector<std::byte> code(40'000, std::byte{0xee});
    const std::optional<size_t> size =
        display::dpfc::encode(bytes_of(pixels, pixel_bytes), pixel_bytes, disabled, code);
    ASSERT_TRUE(size.has_value());
    code.resize(*size);
    const SlowLine slow = slow_decode(code, pixels.size(), pixel_bytes);
    ASSERT_TRUE(slow.ok);
    ASSERT_EQ(slow.pixels, pixels);
    std::vector<std::byte> line(pixels.size() * pixel_bytes);
    ASSERT_TRUE(display::dpfc::decode(code, pixel_bytes, line));
    ASSERT_EQ(line, bytes_of(pixels, pixel_bytes));
    // It fails if the room is one byte too small.
    std::vector<std::byte> small(*size - 1);
    EXPECT_FALSE(display::dpfc::encode(bytes_of(pixels, pixel_bytes), pixel_bytes, disabled, small).has_value());
    // Disabled operations are not used: bits 8 to 0 are run 1, run 2, mono, history, delta 6 to 2.
    constexpr unsigned kOpOfBit[9] = {4, 5, 6, 7, 8, 3, 2, 1, 0};
    for (unsigned bit = 0; bit < 9; ++bit) {
      if ((disabled >> bit & 1) != 0) {
        EXPECT_EQ(slow.used[kOpOfBit[bit]], 0u) << "bit " << bit;
      }
    }
    for (unsigned op = 0; op < 16; ++op) {
      used[op] += slow.used[op];
    }
  }
  for (unsigned op = 0; op <= 9; ++op) {
    EXPECT_NE(used[op], 0u) << "operation " << op << " was never needed";
  }
}

TEST(DpfcCode, DecoderSurvivesRandomBytes) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> code(random() % 200);
    for (std::byte& byte : code) {
      byte = static_cast<std::byte>(random());
    }
    const unsigned pixel_bytes = round % 2 == 0 ? 4 : 2;
    std::vector<std::byte> line((random() % 300) * pixel_bytes, std::byte{0xee});
    const bool ok = display::dpfc::decode(code, pixel_bytes, line);
    if (ok) {
      const SlowLine slow = slow_decode(code, line.size() / pixel_bytes, pixel_bytes);
      EXPECT_TRUE(slow.ok);
      EXPECT_EQ(bytes_of(slow.pixels, pixel_bytes), line);
    }
  }
}

}  // namespace
}  // namespace halogen::display::fbc_test
