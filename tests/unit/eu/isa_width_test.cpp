// Widths of instruction fields (docs/requirements/notes.md, EU-12). The test builds words bit by bit, with every value
// of every field, and decodes them.
#include <array>

#include "covers.h"
#include "eu/isa/decoder.h"
#include "unit/eu/exec_support.h"

namespace halogen::eu::test {
namespace {

constexpr GenId kGen = GenId::gen6;
using Word = std::array<uint32_t, 4>;

// add (8) r1<1>:f r2<8;8,1>:f r3<8;8,1>:f
constexpr Word kAdd{64 | 3u << 21, 1 | 7u << 2 | 1u << 5 | 7u << 7 | 1u << 10 | 7u << 12 | 1u << 21 | 1u << 29,
                    2u << 5 | 1u << 16 | 3u << 18 | 4u << 21, 3u << 5 | 1u << 16 | 3u << 18 | 4u << 21};

Decoded with_bits(Word word, unsigned dword, unsigned high, unsigned low, uint32_t value) {
  const uint32_t mask = static_cast<uint32_t>((uint64_t{1} << (high - low + 1)) - 1) << low;
  word[dword] = (word[dword] & ~mask) | value << low;
  return decode(kGen, std::as_bytes(std::span(word)));
}

TEST(IsaWidths, OperationAndDestinationFieldsHaveTheDocumentedWidths) {
  COVERS("NOTES-EU-12");
  EXPECT_EQ(decode(kGen, std::as_bytes(std::span(kAdd))).instruction.size * 8, 128);
  for (uint32_t n = 0; n < 16; ++n) {
    const Decoded got = with_bits(kAdd, 0, 27, 24, n);
    if (n <= 6 || n == 8 || n == 9) {
      EXPECT_TRUE(got.ok()) << n;
      EXPECT_EQ(static_cast<uint32_t>(got.instruction.condition), n);
    }
  }
  for (uint32_t n = 0; n < 256; ++n) {
    EXPECT_EQ(with_bits(kAdd, 1, 28, 21, n).instruction.dst.reg, n);
    Word word = kAdd;
    word[1] &= ~3u;  // an architecture register: its kind in bits 7:4, its number in bits 3:0
    const Operand to = with_bits(word, 1, 28, 21, n).instruction.dst;
    EXPECT_EQ(to.file, File::arf);
    EXPECT_TRUE(to.is_arf(static_cast<Arf>(n >> 4)));
    EXPECT_EQ(to.reg & 15u, n & 15);
  }
  for (uint32_t n = 0; n < 32; ++n) {
    EXPECT_EQ(with_bits(kAdd, 1, 20, 16, n).instruction.dst.sub, n) << "bytes";
  }
  Word indirect = kAdd;
  indirect[1] |= 1u << 31;
  EXPECT_FALSE(with_bits(kAdd, 1, 31, 31, 0).instruction.dst.indirect);
  EXPECT_TRUE(with_bits(kAdd, 1, 31, 31, 1).instruction.dst.indirect);
  for (uint32_t n = 0; n < 8; ++n) {
    EXPECT_EQ(with_bits(indirect, 1, 28, 26, n).instruction.dst.address_sub, n);
  }
  for (int n = -512; n < 512; ++n) {
    EXPECT_EQ(with_bits(indirect, 1, 25, 16, static_cast<uint32_t>(n) & 0x3ff).instruction.dst.address_offset, n);
  }
}

TEST(IsaWidths, SourceFieldsHaveTheDocumentedWidths) {
  COVERS("NOTES-EU-12");
  for (const unsigned s : {0u, 1u}) {
    const unsigned d = 2 + s;
    const auto source = [&](unsigned high, unsigned low, uint32_t value, const Word& word = kAdd) {
      return with_bits(word, d, high, low, value).instruction.src[s];
    };
    for (uint32_t n = 0; n < 4; ++n) {
      EXPECT_EQ(source(14, 13, n).absolute, (n & 1) != 0);
      EXPECT_EQ(source(14, 13, n).negate, (n & 2) != 0);
      EXPECT_EQ(source(17, 16, n).region.horizontal, n == 0 ? 0u : 1u << (n - 1));
    }
    for (uint32_t n = 0; n < 5; ++n) {
      EXPECT_EQ(source(20, 18, n).region.width, 1u << n);
    }
    for (uint32_t n = 0; n < 7; ++n) {
      EXPECT_EQ(source(24, 21, n).region.vertical, n == 0 ? 0u : 1u << (n - 1));
      EXPECT_FALSE(source(24, 21, n).region.vertical_by_address);
    }
  }
  // All ones: each row, or each channel, has its own address.
  Word indirect = kAdd;
  indirect[2] |= 1u << 15;
  EXPECT_TRUE(with_bits(indirect, 2, 24, 21, 15).instruction.src[0].region.vertical_by_address);
  for (const uint32_t n : {0u, 1u, 0x8000'0000u, 0x1234'5678u, 0xffff'ffffu}) {
    Word immediate = kAdd;
    immediate[1] |= 3u << 10;
    const Operand got = with_bits(immediate, 3, 31, 0, n).instruction.src[1];
    EXPECT_EQ(got.file, File::immediate);
    EXPECT_EQ(got.immediate, n);
  }
}

// Each of the four write mask bits enables every fourth channel. Each two of the eight swizzle bits select one of four
// elements.
TEST(IsaWidths, SwizzleAndWriteMaskHaveTheDocumentedWidths) {
  COVERS("NOTES-EU-12");
  Word word = kAdd;
  word[0] |= 1u << 8;
  for (const unsigned d : {2u, 3u}) {
    word[d] = (word[d] & 0x1fe0u) | 4u << 16 | 2u << 2 | 3u << 18 | 3u << 21;  // .xzxw
  }
  for (uint32_t n = 0; n < 256; ++n) {
    Word swizzled = word;
    swizzled[2] = (swizzled[2] & ~0xf'000fu) | (n & 15) | (n >> 4) << 16;
    const Operand from = decode(kGen, std::as_bytes(std::span(swizzled))).instruction.src[0];
    for (unsigned c = 0; c < 4; ++c) {
      EXPECT_EQ(from.swizzle[c], n >> (2 * c) & 3);
    }
  }
  for (uint32_t mask = 0; mask < 16; ++mask) {
    EXPECT_EQ(with_bits(word, 1, 19, 16, mask).instruction.dst.write_mask, mask);
    ThreadBench bench(kGen, 0xffff);
    Instruction in = make(Op::mov, 16, dst(4, Type::ud), {imm(7, Type::ud)});
    in.align16 = true;
    in.dst.write_mask = static_cast<uint8_t>(mask);
    bench.run(in);
    for (unsigned channel = 0; channel < 16; ++channel) {
      EXPECT_EQ(bench.get<uint32_t>(4, channel), (mask >> (channel % 4) & 1) != 0 ? 7u : 0u);
    }
  }
}

// A descriptor has 31 bits, of which two are reserved on this generation. Bit 31 is end of thread.
TEST(IsaWidths, MessageDescriptorHas29BitsAndEndOfThread) {
  COVERS("NOTES-EU-12");
  const Word send{49 | 3u << 21 | 5u << 24, 1 | 2u << 5 | 3u << 10 | 40u << 21 | 1u << 29, 3u << 5, 0};
  for (unsigned bit = 0; bit < 31; ++bit) {
    for (const uint32_t last : {0u, 1u}) {
      const Decoded got = with_bits(send, 3, 31, 0, 1u << bit | last << 31);
      ASSERT_TRUE(got.ok());
      EXPECT_EQ(got.instruction.send.descriptor, bit < 29 ? 1u << bit : 0u) << bit;
      EXPECT_EQ(got.instruction.send.end_of_thread, last != 0);
      EXPECT_EQ(got.instruction.send.function, 5u);
    }
  }
}

}  // namespace
}  // namespace halogen::eu::test
