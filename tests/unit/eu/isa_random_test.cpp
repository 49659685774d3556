// Decodes random words of all generations. No word crashes the decoder, and decoded words keep their meaning when they
// are encoded or printed.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "eu/isa/assembler.h"
#include "eu/isa/compaction.h"
#include "eu/isa/decoder.h"
#include "eu/isa/encoder.h"
#include "eu/isa/printer.h"
#include "eu/isa/tables.h"
#include "spec/device_model.h"

namespace halogen::eu {
namespace {

using spec::GenId;

Decoded decode_bits(GenId gen, const Bits128& bits) {
  std::array<std::byte, 16> bytes{};
  std::memcpy(bytes.data(), bits.word, 16);
  return decode(gen, bytes);
}

class IsaRandom : public ::testing::TestWithParam<unsigned> {
 protected:
  GenId gen() const { return static_cast<GenId>(GetParam()); }
};

TEST_P(IsaRandom, DecodedWordsKeepTheirMeaningThroughEncoderAndPrinter) {
  std::mt19937_64 random(GetParam() + 1);
  std::array<unsigned, 128> good{};
  for (int i = 0; i < 120000; ++i) {
    Bits128 bits = {{random(), random()}};
    // Sparse words reach more instructions without a reserved code.
    if (i % 4 != 0) {
      bits.word[0] &= random();
      bits.word[1] &= random();
    }
    if (i % 8 != 1) {
      bits.word[0] &= ~(uint64_t{1} << 29);
    }
    const Decoded first = decode_bits(gen(), bits);
    if (!first.ok()) continue;
    good[bits.word[0] & 0x7f]++;
    Instruction wanted = first.instruction;
    const bool moved = wanted.size == 8 && wanted.op == Op::jmpi;
    wanted.size = 16;
    const Result<Bits128> again = encode(gen(), wanted);
    ASSERT_TRUE(again.ok()) << again.message() << std::hex << " " << bits.word[1] << " " << bits.word[0];
    const Decoded second = decode_bits(gen(), *again);
    ASSERT_TRUE(second.ok()) << name_of(second.fault) << std::hex << " " << bits.word[1] << " " << bits.word[0];
    ASSERT_TRUE(second.instruction == wanted || moved)
        << std::hex << bits.word[1] << " " << bits.word[0] << " -> " << again->word[1] << " " << again->word[0];
    const std::string text = print(gen(), first.instruction, true);
    const Result<Instruction> read = assemble_line(gen(), text);
    ASSERT_TRUE(read.ok()) << text << ": " << read.message();
    ASSERT_TRUE(*read == first.instruction) << text << " came back as " << print(gen(), *read);
  }
  // Every operation of the generation was decoded.
  for (unsigned code = 0; code < 128; ++code) {
    if (isa_tables(gen()).rows[code] != kNoRow) {
      EXPECT_GT(good[code], 0u) << "opcode " << code;
    } else {
      EXPECT_EQ(good[code], 0u) << "opcode " << code;
    }
  }
}

TEST_P(IsaRandom, CompactWordsSurviveExpansionAndCompaction) {
  std::mt19937_64 random(GetParam() + 100);
  unsigned found = 0;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t word = random() | uint64_t{1} << 29;
    const auto native = expand(gen(), word);
    if (!native) continue;
    const auto small = compact(gen(), *native);
    if (!small) {
      continue;  // the table entry has bits that the immediate covers
    }
    ++found;
    // Several indices may have the same bits, so native forms are compared.
    ASSERT_EQ(*expand(gen(), *small), *native) << std::hex << word;
  }
  const bool has = isa_tables(gen()).compact_basic != nullptr;
  EXPECT_EQ(found > 1000, has) << found;
}

INSTANTIATE_TEST_SUITE_P(AllGenerations, IsaRandom, ::testing::Range(0u, static_cast<unsigned>(spec::kGenCount)),
                         [](const auto& which) {
                           std::string name(spec::name_of(static_cast<GenId>(which.param)));
                           std::erase(name, '.');
                           return name;
                         });

}  // namespace
}  // namespace halogen::eu
