// Types and execution types (docs/requirements/notes.md, EU-01, EU-04, EU-08 and EU-11). Formulas of the test give the
// expected values; the validator checks the rules.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "covers.h"
#include "eu/isa/validator.h"
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

constexpr GenId kGen4To6[]{GenId::gen4, GenId::gen4_5, GenId::gen5, GenId::gen6};

bool breaks(GenId gen, const Instruction& in, Rule rule) {
  const std::vector<Rule> broken = validate(gen, in);
  return std::ranges::find(broken, rule) != broken.end();
}
bool clean(GenId gen, const Instruction& in) {
  return validate(gen, in).empty();
}

struct Kind {
  Type type;
  unsigned bytes;
  bool is_signed;
};
constexpr Kind kIntegers[]{{Type::ub, 1, false}, {Type::b, 1, true},   {Type::uw, 2, false},
                           {Type::w, 2, true},   {Type::ud, 4, false}, {Type::d, 4, true}};

TEST(EuNotes, TypesHaveTheDocumentedSizeAndAlignment) {
  COVERS("NOTES-EU-01");
  for (const GenId gen : kGen4To6) {
    for (const Kind& kind : kIntegers) {
      ThreadBench bench(gen);
      for (unsigned i = 0; i < 32; ++i) {
        bench.set<uint8_t>(2, i, static_cast<uint8_t>(0x71 + 37 * i));
      }
      for (unsigned at = 0; at < 32 / kind.bytes; ++at) {
        int64_t expected = 0;
        for (unsigned i = 0; i < kind.bytes; ++i) {  // little-endian
          expected += int64_t{bench.get<uint8_t>(2, at * kind.bytes + i)} << (8 * i);
        }
        const int64_t over = int64_t{1} << (8 * kind.bytes);
        expected -= kind.is_signed && expected >= over / 2 ? over : 0;
        const Instruction in =
            make(Op::mov, 1, dst(4, kind.is_signed ? Type::d : Type::ud), {scalar(2, kind.type, at * kind.bytes)});
        bench.run(in);
        EXPECT_EQ(kind.is_signed ? bench.get<int32_t>(4, 0) : int64_t{bench.get<uint32_t>(4, 0)}, expected);
      }
      // An operand must not start inside an element.
      for (unsigned byte = 0; byte < 32; ++byte) {
        const bool natural = byte % kind.bytes == 0;
        EXPECT_EQ(clean(gen, make(Op::mov, 1, dst(4, Type::d), {scalar(2, kind.type, byte)})), natural) << byte;
        EXPECT_EQ(
            breaks(gen, make(Op::mov, 1, dst(4, kind.type, byte), {scalar(2, Type::ub)}), Rule::element_misaligned),
            !natural);
      }
    }
    ThreadBench bench(gen);
    bench.set(2, 3, 1.5f);
    bench.run(make(Op::add, 1, dst(4, Type::f), {scalar(2, Type::f, 12), imm_f(0.25f)}));
    EXPECT_EQ(bench.get<float>(4, 0), 1.75f);
    EXPECT_TRUE(breaks(gen, make(Op::mov, 1, dst(4, Type::f), {scalar(2, Type::f, 14)}), Rule::element_misaligned));
  }
}

TEST(EuNotes, PackedVectorsHoldEightNibblesOrFourSmallFloats) {
  COVERS("NOTES-EU-01");
  for (const GenId gen : kGen4To6) {
    for (uint32_t n = 0; n < 16; ++n) {
      // A different value in each of the eight nibbles.
      uint32_t packed = 0;
      for (uint32_t i = 0; i < 8; ++i) {
        packed |= ((n + 3 * i) & 15) << (4 * i);
      }
      ThreadBench bench(gen);
      bench.run(make(Op::mov, 8, dst(4, Type::w), {imm(packed, Type::v)}));
      for (uint32_t i = 0; i < 8; ++i) {
        const int value = static_cast<int>((n + 3 * i) & 15);
        EXPECT_EQ(bench.get<int16_t>(4, i), value >= 8 ? value - 16 : value);
      }
    }
    // A sign, three bits of exponent with a bias of 3, four bits of fraction after an implicit one. If exponent and
    // fraction are 0, the value is a zero.
    for (uint32_t code = 0; code < 256; code += 4) {
      const uint32_t packed = code | (code + 1) << 8 | (code + 2) << 16 | (code + 3) << 24;
      ThreadBench bench(gen);
      bench.run(make(Op::mov, 4, dst(4, Type::f), {imm(packed, Type::vf)}));
      for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t one = code + i;
        const double size =
            (one & 0x7f) == 0 ? 0 : std::ldexp(1.0 + (one & 15) / 16.0, static_cast<int>(one >> 4 & 7) - 3);
        const auto expected = static_cast<float>((one & 0x80) != 0 ? -size : size);
        EXPECT_EQ(bench.get<uint32_t>(4, i), std::bit_cast<uint32_t>(expected)) << one;
      }
    }
  }
}

// Sixteen rows need sixteen addresses, but before Gen8 the address register has eight words.
TEST(EuNotes, RowsWithOwnAddressesAreLimitedByTheAddressRegister) {
  COVERS("NOTES-EU-04");
  for (const GenId gen : kGens) {
    const bool eight = std::ranges::find(kGen8Plus, gen) == std::end(kGen8Plus);
    for (const unsigned channels : {8u, 16u}) {
      Operand from = grf(0, Type::w, 0, {0, 1, 0, true});
      from.indirect = true;
      const Instruction in = make(Op::mov, channels, dst(4, Type::w), {from});
      EXPECT_EQ(breaks(gen, in, Rule::rows_without_address), eight && channels == 16) << channels;
      // Rows of two channels need half as many addresses.
      Instruction pairs = in;
      pairs.src[0].region = {0, 2, 1, true};
      EXPECT_FALSE(breaks(gen, pairs, Rule::rows_without_address));
    }
    // Each of eight channels uses its own address.
    ThreadBench bench(gen);
    for (unsigned i = 0; i < 64; ++i) {
      bench.set<uint16_t>(20, i, static_cast<uint16_t>(i));
    }
    for (unsigned i = 0; i < 8; ++i) {
      bench.thread.address[i] = static_cast<uint16_t>(20 * 32 + (61 - 7 * i) * 2);
    }
    Operand from = grf(0, Type::w, 0, {0, 1, 0, true});
    from.indirect = true;
    bench.run(make(Op::mov, 8, dst(4, Type::w), {from}));
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(bench.get<uint16_t>(4, i), 61 - 7 * i);
    }
  }
}

// A destination fits one register, or two registers with half of the channels in each.
TEST(EuNotes, DestinationsFitOneRegisterOrTwoHalves) {
  COVERS("NOTES-EU-08");
  for (const GenId gen : kGen4To6) {
    for (const Kind& kind : kIntegers) {
      for (const unsigned channels : {1u, 2u, 4u, 8u, 16u}) {
        for (const unsigned stride : {1u, 2u, 4u}) {
          for (unsigned at = 0; at < 32; at += kind.bytes) {
            Instruction in = make(Op::mov, channels, dst(4, kind.type, at, stride), {imm(0, Type::d)});
            if (kind.bytes != 4) {
              in.src[0] = scalar(2, kind.type);
            }
            const unsigned last = at + (channels - 1) * stride * kind.bytes + kind.bytes - 1;
            const unsigned first_half = at + (channels / 2 - 1) * stride * kind.bytes + kind.bytes - 1;
            const bool halves = channels > 1 && first_half < 32 && at + channels / 2 * stride * kind.bytes >= 32;
            in.compressed = gen != GenId::gen6 && halves && last >= 32;
            const bool out = breaks(gen, in, Rule::dst_spans_too_much) || breaks(gen, in, Rule::uneven_write);
            EXPECT_EQ(out, !(last < 32 || (halves && last < 64))) << channels << ' ' << stride << ' ' << at;
            if (in.compressed && last < 64) {
              in.compressed = false;
              EXPECT_TRUE(breaks(gen, in, Rule::dst_spans_too_much)) << "not compressed";
            }
          }
        }
      }
    }
  }
}

// Sources are converted to one type, signed if one of them is and as wide as the widest, and the result to the type of
// the destination.
TEST(EuNotes, TheSourcesDetermineTheExecutionType) {
  COVERS("NOTES-EU-11");
  for (const GenId gen : kGen4To6) {
    for (const Kind& first : kIntegers) {
      for (const Kind& second : kIntegers) {
        if (first.bytes == 4 && second.bytes == 4 && first.is_signed != second.is_signed) {
          continue;  // no dword type represents both
        }
        ThreadBench bench(gen);
        // Bit patterns whose sign bit is set and clear.
        for (const uint32_t pattern : {0x8765'9383u, 0x1234'5172u}) {
          bench.set(2, 0, pattern);
          bench.set(3, 0, ~pattern);
          const auto read = [](const Kind& kind, uint32_t bits) {
            const uint64_t over = uint64_t{1} << (8 * kind.bytes);
            const auto value = static_cast<int64_t>(bits & (over - 1));
            return kind.is_signed && value >= static_cast<int64_t>(over / 2) ? value - static_cast<int64_t>(over)
                                                                             : value;
          };
          const int64_t sum = read(first, pattern) + read(second, ~pattern);
          bench.run({make(Op::add, 1, dst(4, Type::d), {scalar(2, first.type), scalar(3, second.type)}),
                     make(Op::add, 1, dst(5, Type::w), {scalar(2, first.type), scalar(3, second.type)})});
          EXPECT_EQ(bench.get<uint32_t>(4, 0), static_cast<uint32_t>(sum));
          EXPECT_EQ(bench.get<uint16_t>(5, 0), static_cast<uint16_t>(sum)) << "converted to the destination's type";
          if (sum >= std::numeric_limits<int32_t>::min() && sum <= std::numeric_limits<int32_t>::max()) {
            bench.run(make(Op::add, 1, dst(6, Type::f), {scalar(2, first.type), scalar(3, second.type)}));
            EXPECT_EQ(bench.get<float>(6, 0), static_cast<float>(sum));
          }
        }
        // The distance of elements in the destination must be the size of the execution type.
        const unsigned work = std::max({first.bytes, second.bytes, 2u});
        for (const Kind& to : kIntegers) {
          for (const unsigned stride : {1u, 2u, 4u}) {
            const Instruction in = make(Op::add, 4, dst(4, to.type, 0, stride),
                                        {grf(2, first.type, 0, {4, 4, 1}), grf(3, second.type, 0, {4, 4, 1})});
            EXPECT_EQ(breaks(gen, in, Rule::dst_stride_below_result), to.bytes < work && to.bytes * stride != work);
          }
        }
      }
      const Instruction mixed = make(Op::add, 1, dst(4, Type::f), {scalar(2, Type::f), scalar(3, first.type)});
      if (gen == GenId::gen6) {
        EXPECT_TRUE(breaks(gen, mixed, Rule::mixed_sources));
      }
    }
    // Float sources are computed as floats, whatever the destination's type.
    ThreadBench bench(gen);
    bench.set(2, 0, 2.75f);
    bench.set(3, 0, 0.5f);
    bench.run(make(Op::add, 1, dst(4, Type::d), {scalar(2, Type::f), scalar(3, Type::f)}));
    EXPECT_EQ(bench.get<int32_t>(4, 0), 3) << "3.25, rounded toward zero";
  }
}

}  // namespace
}  // namespace halogen::eu::test
