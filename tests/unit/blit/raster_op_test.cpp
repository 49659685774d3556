// The raster operation kernels against their definition: bit 4 P + 2 S + D of the code.
#include <array>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "blit/raster_op.h"

namespace halogen::blit {
namespace {

unsigned slow(unsigned code, unsigned p, unsigned s, unsigned d) {
  unsigned result = 0;
  for (unsigned bit = 0; bit < 8; ++bit) {
    const unsigned entry = (p >> bit & 1) * 4 + (s >> bit & 1) * 2 + (d >> bit & 1);
    result |= (code >> entry & 1) << bit;
  }
  return result;
}

TEST(RasterOp, KernelsFollowTheTruthTableAtEveryLength) {
  std::mt19937 random(1);
  for (unsigned code = 0; code < 256; ++code) {
    for (size_t bytes = 0; bytes < 70; ++bytes) {
      std::vector<std::byte> p(bytes + 1), s(bytes + 1), d(bytes + 1), out(bytes + 1, std::byte{0x5e});
      for (size_t i = 0; i < bytes; ++i) {
        p[i] = static_cast<std::byte>(random());
        s[i] = static_cast<std::byte>(random());
        d[i] = static_cast<std::byte>(random());
      }
      rop_kernel(static_cast<uint8_t>(code))(out.data(), s.data(), p.data(), d.data(), bytes);
      for (size_t i = 0; i < bytes; ++i) {
        const unsigned expected =
            slow(code, static_cast<unsigned>(p[i]), static_cast<unsigned>(s[i]), static_cast<unsigned>(d[i]));
        ASSERT_EQ(static_cast<unsigned>(out[i]), expected) << "code " << code << " byte " << i << " of " << bytes;
      }
      ASSERT_EQ(out[bytes], std::byte{0x5e}) << "wrote past the end";
    }
  }
}

TEST(RasterOp, UnusedOperandsMayBeMissing) {
  for (unsigned code = 0; code < 256; ++code) {
    bool pattern = false;
    bool source = false;
    bool destination = false;
    for (unsigned entry = 0; entry < 8; ++entry) {
      pattern |= (code >> entry & 1) != (code >> (entry ^ 4) & 1);
      source |= (code >> entry & 1) != (code >> (entry ^ 2) & 1);
      destination |= (code >> entry & 1) != (code >> (entry ^ 1) & 1);
    }
    const auto rop = static_cast<uint8_t>(code);
    EXPECT_EQ(rop_uses_pattern(rop), pattern);
    EXPECT_EQ(rop_uses_source(rop), source);
    EXPECT_EQ(rop_uses_destination(rop), destination);
    std::array<std::byte, 40> operand{};
    std::array<std::byte, 40> out{};
    rop_kernel(rop)(out.data(), source ? operand.data() : nullptr, pattern ? operand.data() : nullptr,
                    destination ? operand.data() : nullptr, out.size());
    EXPECT_EQ(out[0], (code & 1) != 0 ? std::byte{0xff} : std::byte{0});
    EXPECT_EQ(apply_rop<uint8_t>(rop, 0xf0, 0xcc, 0xaa), code);
  }
}

}  // namespace
}  // namespace halogen::blit
