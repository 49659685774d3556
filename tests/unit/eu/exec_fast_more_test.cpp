// Compares the specialised routines for rotations, MATH and floats in accumulators with the general path.
#include <fmt/format.h>

#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

Operand accumulator(unsigned number, Type type) {
  Operand operand = grf(0, type, 0, {8, 8, 1});
  operand.file = File::arf;
  operand.reg = static_cast<uint8_t>((static_cast<unsigned>(Arf::accumulator) << 4) | number);
  return operand;
}

// Returns a source with a constant stride inside the register file.
Operand even_source(Random& random, Type type, unsigned exec_size) {
  const bool scalar = exec_size == 1 || random.chance(25);
  Operand operand = grf(random.below(100), type, scalar ? random.below(8) * 4 : 0,
                        scalar ? Region{0, 1, 0} : random.pick({Region{8, 8, 1}, Region{1, 1, 0}, Region{16, 8, 2}}));
  return operand;
}

Instruction rotation(Random& random) {
  Instruction in;
  in.op = random.pick({Op::rol, Op::ror});
  in.exec_size = random.pick<uint8_t>({1, 8, 16});
  in.sources = 2;
  const Type type = random.pick({Type::ud, Type::d, Type::uw});
  in.src[0] = even_source(random, type, in.exec_size);
  in.src[1] = random.chance(50) ? imm(random.below(80), Type::ud) : even_source(random, Type::ud, in.exec_size);
  in.dst = dst(random.below(120), random.pick({type, Type::ud}), 0, 1);
  return in;
}

Instruction function(Random& random) {
  Instruction in;
  in.op = Op::math;
  in.math = random.pick({MathFunction::inverse, MathFunction::log2, MathFunction::exp2, MathFunction::sqrt,
                         MathFunction::rsqrt, MathFunction::sin, MathFunction::cos, MathFunction::divide,
                         MathFunction::power});
  in.exec_size = random.pick<uint8_t>({1, 8, 16});
  in.sources = 2;
  for (Operand& source : {std::ref(in.src[0]), std::ref(in.src[1])}) {
    source = even_source(random, Type::f, in.exec_size);
    source.negate = random.chance(30);
    source.absolute = random.chance(30);
  }
  in.dst = dst(random.below(120), Type::f, 0, random.chance(80) ? 1 : 2);
  return in;
}

Instruction sum(Random& random) {
  Instruction in;
  in.op = random.pick({Op::add, Op::mul, Op::mad});
  in.exec_size = random.pick<uint8_t>({8, 16});
  in.sources = in.op == Op::mad ? 3 : 2;
  for (unsigned i = 0; i < in.sources; ++i) {
    in.src[i] = random.chance(40) ? accumulator(in.exec_size == 16 ? 0 : random.below(2), Type::f)
                                  : even_source(random, Type::f, in.exec_size);
    in.src[i].negate = random.chance(30);
    in.src[i].absolute = random.chance(20);
  }
  in.dst = random.chance(50) ? accumulator(in.exec_size == 16 ? 0 : random.below(2), Type::f)
                             : dst(random.below(120), Type::f, 0, 1);
  if (in.dst.file == File::arf) {
    in.dst.region.horizontal = 1;
  }
  if (random.chance(20)) {
    in.condition = static_cast<Condition>(1 + random.below(6));
  }
  return in;
}

// Returns a product that leaves integers with upper bits in the accumulators. Floats must invalidate those bits.
Instruction wide_product(Random& random) {
  Instruction in;
  in.op = Op::mul;
  in.exec_size = 8;
  in.sources = 2;
  in.src[0] = even_source(random, Type::d, 8);
  in.src[1] = even_source(random, Type::uw, 8);
  in.src[1].region = {0, 1, 0};
  in.dst = accumulator(random.below(2), Type::d);
  in.dst.region.horizontal = 1;
  return in;
}

class MoreFastEqualsGeneral : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(Gen8Plus, MoreFastEqualsGeneral,
                         ::testing::Values(GenId::gen8, GenId::gen9, GenId::gen11, GenId::gen12));

TEST_P(MoreFastEqualsGeneral, OnRandomInstructions) {
  constexpr unsigned kInstructions = 12;
  const auto fast = make_interpreter(GetParam());
  const auto general = make_interpreter(GetParam(), {.only_generic = true});
  std::array<unsigned, 3> specialised{};
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    Random random(seed * 104729);
    Thread start;
    randomise(random, start);
    for (size_t i = 0; i < start.accumulator.size(); i += 4) {
      const uint32_t bits = random_single(random);
      std::memcpy(start.accumulator.data() + i, &bits, 4);
    }
    start.control[0] = random.chance(50) ? 0x4c0 : 0;
    if (random.chance(10)) {
      start.control[0] |= random.below(4) << 4 | random.below(2);
    }
    std::vector<Instruction> code;
    std::vector<unsigned> kinds;
    for (unsigned i = 0; i < kInstructions; ++i) {
      const unsigned kind = random.below(4);
      Instruction in = kind == 0   ? rotation(random)
                       : kind == 1 ? function(random)
                       : kind == 2 ? sum(random)
                                   : wide_product(random);
      in.no_mask = random.chance(30);
      if (random.chance(20)) {
        in.predicate = Predicate::normal;
        in.predicate_inverse = random.chance(30);
      }
      code.push_back(in);
      kinds.push_back(kind);
    }
    code.push_back(end());
    const auto kernel = fast->prepare(make_code(code), 0);
    const auto judge = general->prepare(make_code(code), 0);
    std::string where = fmt::format("seed {}", seed);
    for (unsigned i = 0; i < kInstructions; ++i) {
      const std::string line = fast->describe(*kernel, i * 16);
      where += "\n" + line;
      if (kinds[i] < 3 && line.find("specialised") != std::string::npos) {
        ++specialised[kinds[i]];
      }
    }
    start.start(0, random.chance(50) ? 0xffff'ffff : static_cast<uint32_t>(random.bits()));
    Thread one = start;
    Thread two = start;
    Target target;
    fast->run(one, *kernel, kInstructions + 1, target);
    general->run(two, *judge, kInstructions + 1, target);
    ASSERT_EQ(one.grf, two.grf) << where;
    ASSERT_EQ(one.flag, two.flag) << where;
    ASSERT_EQ(one.accumulator, two.accumulator) << where;
    for (size_t i = 0; i < one.extension.size(); ++i) {
      ASSERT_EQ(one.extension[i].valid, two.extension[i].valid) << where;
      ASSERT_EQ(one.extension[i].element, two.extension[i].element) << where;
    }
  }
  for (const unsigned count : specialised) {
    EXPECT_GT(count, 500u);
  }
}

}  // namespace
}  // namespace halogen::eu::test
