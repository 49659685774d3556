// Compares the AVX2 routines with the general path: special values, overlapping halves, masks, message registers,
// rounding modes.
#include <fmt/format.h>

#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

constexpr unsigned kInstructions = 8;

Operand source(Random& random, unsigned exec_size, bool may_be_number) {
  Operand operand;
  if (may_be_number && random.chance(15)) {
    return imm(random_single(random), Type::f);
  }
  const bool scalar = random.chance(30);
  operand = grf(
      random.below(30), Type::f, random.below(8) * 4,
      scalar ? Region{0, 1, 0} : random.pick({Region{8, 8, 1}, Region{16, 16, 1}, Region{4, 4, 1}, Region{1, 1, 0}}));
  if (exec_size == 8 && operand.region.width == 16) {
    operand.region = {8, 8, 1};
  }
  operand.negate = random.chance(25);
  operand.absolute = random.chance(25);
  return operand;
}

Instruction random_vector(Random& random, GenId gen) {
  Instruction in;
  in.op = random.pick({Op::mov, Op::add, Op::mul, Op::mad, Op::pln});
  if ((in.op == Op::mad && gen < GenId::gen6) || (in.op == Op::pln && gen >= GenId::gen11)) {
    in.op = Op::mov;
  }
  in.exec_size = random.pick<uint8_t>({8, 16});
  in.sources = in.op == Op::mov ? 1 : in.op == Op::mad ? 3 : 2;
  for (unsigned i = 0; i < in.sources; ++i) {
    in.src[i] = source(random, in.exec_size, in.op != Op::mad && in.op != Op::pln && i + 1 == in.sources);
  }
  if (in.op == Op::pln) {
    in.src[0] = grf(random.below(30), Type::f, random.below(2) * 16, {0, 1, 0});
    in.src[1] = grf(random.below(15) * 2, Type::f, 0, {8, 8, 1});
  }
  const bool messages = gen < GenId::gen7 && in.op != Op::mad && random.chance(40);
  in.dst = messages ? mrf_dst(random.below(6) | (random.chance(50) ? 0x80u : 0u), Type::f)
                    : dst(random.below(30), Type::f, random.below(8) * 4, 1);
  if (in.op == Op::mov && random.chance(30)) {
    in.src[0].type = in.dst.type = random.pick({Type::ud, Type::d});
  }
  in.saturate = in.dst.type == Type::f && random.chance(30);
  in.no_mask = random.chance(30);
  if (random.chance(25)) {
    in.predicate = Predicate::normal;
    in.predicate_inverse = random.chance(30);
  }
  return in;
}

class VectorsEqualGeneral : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, VectorsEqualGeneral, ::testing::ValuesIn(kGens));

TEST_P(VectorsEqualGeneral, OnRandomInstructions) {
  const auto fast = make_interpreter(GetParam());
  const auto general = make_interpreter(GetParam(), {.only_generic = true});
  unsigned vectors = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed * 15485863);
    Thread start;
    randomise(random, start);
    // Most threads have no infinity and no NaN, so that the AVX2 routines handle them.
    const bool only_finite = random.chance(60);
    for (size_t i = 0; i < start.grf.size(); i += 4) {
      uint32_t bits = random_single(random);
      if (only_finite && (bits & 0x7f80'0000) == 0x7f80'0000) {
        bits = (bits & 0x807f'ffff) | (118 + random.below(20)) << 23;
      }
      std::memcpy(start.grf.data() + i, &bits, 4);
    }
    start.control[0] = random.chance(50) ? 0x4c0 : 0;
    if (random.chance(10)) {
      start.control[0] |= random.below(4) << 4 | random.below(2);
    }
    std::vector<Instruction> code;
    std::string where = fmt::format("seed {}", seed);
    for (unsigned i = 0; i < kInstructions; ++i) {
      code.push_back(random_vector(random, GetParam()));
    }
    code.push_back(end());
    const auto kernel = fast->prepare(make_code(code), 0);
    const auto judge = general->prepare(make_code(code), 0);
    start.start(0, random.chance(60) ? 0xffff'ffff : static_cast<uint32_t>(random.bits()));
    Thread one = start;
    Thread two = start;
    Target target;
    for (unsigned i = 0; i < kInstructions; ++i) {
      const Instruction& in = code[i];
      where += fmt::format("\n{} lanes {} dst {}:{}.{} src0 {}.{}<{};{},{}> neg {} abs {} sat {}",
                           fast->describe(*kernel, i * 16), in.exec_size, static_cast<int>(in.dst.file), in.dst.reg,
                           in.dst.sub, in.src[0].reg, in.src[0].sub, in.src[0].region.vertical, in.src[0].region.width,
                           in.src[0].region.horizontal, in.src[0].negate, in.src[0].absolute, in.saturate);
      vectors += fast->describe(*kernel, i * 16).find("vector") != std::string::npos ? 1u : 0u;
      fast->run(one, *kernel, 1, target);
      general->run(two, *judge, 1, target);
      ASSERT_EQ(difference(one, two), "") << where;
      ASSERT_TRUE(one == two) << where;
    }
  }
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    EXPECT_GT(vectors, 1500u * kInstructions / 10);
  }
#endif
}

}  // namespace
}  // namespace halogen::eu::test
