// Instructions of vertex and pixel programs: pairs of vectors in align16, swizzles, write masks, group predicates, dot
// products, planes, interpolation. Elements are small integers, so every sum is exact.
#include <array>
#include <cmath>

#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

constexpr GenId kVectorGens[]{GenId::gen4, GenId::gen4_5, GenId::gen5, GenId::gen6,
                              GenId::gen7, GenId::gen7_5, GenId::gen8, GenId::gen9};

class Vectors : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, Vectors, ::testing::ValuesIn(kVectorGens));

// Returns a source in align16: rows of four. If `shared`, both vectors read the same row.
Operand vectors(Random& random, unsigned reg, bool shared) {
  Operand operand = grf(reg, Type::f, shared ? random.below(2) * 16 : 0, {static_cast<uint8_t>(shared ? 0 : 4), 4, 1});
  for (auto& component : operand.swizzle) {
    component = static_cast<uint8_t>(random.below(4));
  }
  operand.negate = random.chance(30);
  operand.absolute = random.chance(20);
  return operand;
}

// Returns component `c` of vector `v`: the swizzle selects an element of the vector's 16 bytes.
float component_of(const ThreadBench& bench, const Operand& operand, unsigned v, unsigned c) {
  const unsigned vector = operand.region.vertical == 0 ? 0 : v;
  float value = bench.get<float>(operand.reg, operand.sub / 4u + vector * 4 + operand.swizzle[c]);
  value = operand.absolute ? std::fabs(value) : value;
  return operand.negate ? -value : value;
}

TEST_P(Vectors, Align16ComputesPairsOfVectorsWithSwizzlesAndMasks) {
  Random random(static_cast<uint64_t>(GetParam()) + 41);
  for (unsigned round = 0; round < 400; ++round) {
    ThreadBench bench(GetParam(), random.chance(50) ? 0xffu : random.below(256));
    for (unsigned i = 0; i < 8; ++i) {
      for (const unsigned reg : {2u, 3u, 5u}) {
        bench.set(reg, i, static_cast<float>(static_cast<int>(random.below(33)) - 16));
      }
      bench.set(20, i, 1000.0f + static_cast<float>(i));
    }
    const bool three = GetParam() >= GenId::gen6 && random.chance(30);
    Op op = random.pick({Op::mov, Op::add, Op::mul, Op::dp2, Op::dp3, Op::dp4, Op::dph});
    op = three ? Op::mad : op;
    Instruction in;
    in.op = op;
    in.exec_size = 8;
    in.align16 = true;
    in.sources = static_cast<uint8_t>(op == Op::mov ? 1 : three ? 3 : 2);
    in.src[0] = vectors(random, 2, random.chance(30));
    in.src[1] = vectors(random, 3, random.chance(30));
    in.src[2] = vectors(random, 5, random.chance(30));
    in.dst = dst(20, Type::f);
    in.dst.write_mask = static_cast<uint8_t>(random.below(16));
    in.condition = random.chance(40) ? Condition::greater : Condition::none;
    in.predicate = random.pick({Predicate::none, Predicate::normal, Predicate::replicate_x, Predicate::replicate_y,
                                Predicate::replicate_z, Predicate::replicate_w, Predicate::any4h, Predicate::all4h});
    in.predicate_inverse = in.predicate != Predicate::none && random.chance(30);
    const uint32_t flag = random.below(256);
    bench.thread.flag[0] = flag;
    const ThreadBench before = bench;
    bench.run(in);
    uint32_t flag_after = flag;
    for (unsigned v = 0; v < 2; ++v) {
      for (unsigned c = 0; c < 4; ++c) {
        const auto at = [&](unsigned which, unsigned component) {
          return component_of(before, in.src[which], v, component);
        };
        float expected = 0;
        switch (op) {
          case Op::mov:
            expected = at(0, c);
            break;
          case Op::add:
            expected = at(0, c) + at(1, c);
            break;
          case Op::mul:
            expected = at(0, c) * at(1, c);
            break;
          case Op::mad:
            expected = at(0, c) + at(1, c) * at(2, c);
            break;
          default: {
            const unsigned terms = op == Op::dp2 ? 2 : op == Op::dp4 ? 4 : 3;
            for (unsigned i = 0; i < terms; ++i) {
              expected += at(0, i) * at(1, i);
            }
            expected += op == Op::dph ? at(1, 3) : 0.0f;  // the last component of src0 counts as 1
            break;
          }
        }
        const unsigned channel = v * 4 + c;
        const auto bit = [&](unsigned i) { return ((flag >> i) & 1) != 0; };
        bool on = true;
        switch (in.predicate) {
          case Predicate::normal:
            on = bit(channel);
            break;
          case Predicate::replicate_x:
          case Predicate::replicate_y:
          case Predicate::replicate_z:
          case Predicate::replicate_w:
            on = bit(v * 4 + static_cast<unsigned>(in.predicate) - static_cast<unsigned>(Predicate::replicate_x));
            break;
          case Predicate::any4h:
            on = bit(v * 4) || bit(v * 4 + 1) || bit(v * 4 + 2) || bit(v * 4 + 3);
            break;
          case Predicate::all4h:
            on = bit(v * 4) && bit(v * 4 + 1) && bit(v * 4 + 2) && bit(v * 4 + 3);
            break;
          default:
            break;
        }
        on = (on != in.predicate_inverse) && ((before.thread.dispatch_mask >> channel) & 1) != 0 &&
             ((in.dst.write_mask >> c) & 1) != 0;
        const float kept = on ? expected : 1000.0f + static_cast<float>(channel);
        ASSERT_EQ(bench.get<float>(20, channel), kept)
            << "round " << round << " op " << static_cast<int>(op) << " vector " << v << " component " << c;
        if (on && in.condition != Condition::none) {
          flag_after = expected > 0 ? flag_after | 1u << channel : flag_after & ~(1u << channel);
        }
      }
    }
    ASSERT_EQ(bench.thread.flag[0], flag_after) << "round " << round;
  }
}

TEST_P(Vectors, AReplicatedScalarSourceServesAllChannels) {
  if (GetParam() < GenId::gen6) {
    GTEST_SKIP() << "this generation has no instruction with three sources";
  }
  ThreadBench bench(GetParam());
  bench.fill<float>(2, {1, 2, 3, 4, 5, 6, 7, 8});
  bench.fill<float>(3, {10, 20, 30, 40, 50, 60, 70, 80});
  bench.fill<float>(5, {0.5f, 0.25f, 2, 4, 8, 16, 32, 64});
  Instruction in = make(Op::mad, 8, dst(20, Type::f),
                        {grf(2, Type::f, 0, {4, 4, 1}), grf(3, Type::f, 0, {4, 4, 1}), scalar(5, Type::f, 12)});
  in.align16 = true;
  bench.run(in);
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<float>(20, i), static_cast<float>(i + 1) + static_cast<float>(10 * (i + 1)) * 4.0f);
  }
}

class Planes : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, Planes, ::testing::ValuesIn(kGens));

TEST_P(Planes, PlaneAndLineEvaluateTheirEquation) {
  // PLN computes p u + q v + r. p, q and r are elements 0, 1 and 3 at src0. u and v take two registers for eight
  // channels, four for sixteen.
  Random random(static_cast<uint64_t>(GetParam()) + 7);
  for (unsigned round = 0; round < 100; ++round) {
    const unsigned lanes = random.chance(50) ? 8 : 16;
    ThreadBench bench(GetParam());
    const auto number = [&] { return static_cast<float>(static_cast<int>(random.below(65)) - 32); };
    for (unsigned i = 0; i < 8; ++i) {
      for (unsigned reg = 2; reg < 8; ++reg) {
        bench.set(reg, i, number());
      }
    }
    const unsigned part = random.below(2) * 4;  // a second set of coefficients follows after 16 bytes
    const auto coefficients = grf(2, Type::f, part * 4, {0, 1, 0});
    const float p = bench.get<float>(2, part);
    const float q = bench.get<float>(2, part + 1);
    const float r = bench.get<float>(2, part + 3);
    if (GetParam() != GenId::gen4) {
      bench.run(make(Op::pln, lanes, dst(20, Type::f), {coefficients, grf(4, Type::f)}));
      for (unsigned i = 0; i < lanes; ++i) {
        const float u = bench.get<float>(4 + i / 8 * 2, i % 8);
        const float v = bench.get<float>(5 + i / 8 * 2, i % 8);
        ASSERT_EQ(bench.get<float>(20, i), p * u + q * v + r) << i;
      }
    }
    bench.run(make(Op::line, lanes, dst(20, Type::f), {coefficients, grf(4, Type::f)}));
    for (unsigned i = 0; i < lanes; ++i) {
      ASSERT_EQ(bench.get<float>(20, i), p * bench.get<float>(4, i) + r) << i;
    }
    // Compilers for Gen4, which has no PLN, emit LINE and then MAC with the second coefficient.
    if (GetParam() <= GenId::gen5) {
      bench.run({make(Op::line, 8, null(Type::f), {coefficients, grf(4, Type::f)}),
                 make(Op::mac, 8, dst(20, Type::f), {grf(2, Type::f, part * 4 + 4, {0, 1, 0}), grf(5, Type::f)})});
      for (unsigned i = 0; i < 8; ++i) {
        ASSERT_EQ(bench.get<float>(20, i), p * bench.get<float>(4, i) + q * bench.get<float>(5, i) + r) << i;
      }
    }
  }
}

TEST_P(Planes, LrpInterpolatesBetweenItsSources) {
  if (GetParam() < GenId::gen6 || GetParam() > GenId::gen9) {
    GTEST_SKIP() << "LRP exists on Gen6 to Gen9";
  }
  ThreadBench bench(GetParam());
  bench.fill<float>(2, {0, 1, 0.5f, 0.25f, 0.75f, 2, -1, 0.125f});
  bench.fill<float>(3, {8, 8, 8, 8, 8, 8, 8, 8});
  bench.fill<float>(5, {16, 16, 16, 16, 16, 16, 16, 16});
  bench.run(make(Op::lrp, 8, dst(20, Type::f), {grf(2, Type::f), grf(3, Type::f), grf(5, Type::f)}));
  // src0 is the weight of src1: 0 gives src2, 1 gives src1.
  const float expected[]{16, 8, 12, 14, 10, 0, 24, 15};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<float>(20, i), expected[i]) << i;
  }
}

// A sum of products is within one unit in the last place of its largest term, even if terms cancel.
TEST_P(Planes, SumsOfProductsAreWithinOneUlpOfTheLargestTerm) {
  if (GetParam() > GenId::gen9) {
    GTEST_SKIP() << "this generation has no dot products";
  }
  Random random(static_cast<uint64_t>(GetParam()) + 70);
  for (unsigned round = 0; round < 300; ++round) {
    ThreadBench bench(GetParam());
    for (unsigned i = 0; i < 8; ++i) {
      for (const unsigned reg : {2u, 3u}) {
        const auto bits = (static_cast<uint32_t>(random.bits()) & 0x807f'ffff) | ((117 + random.below(20)) << 23);
        bench.set(reg, i, bits);
      }
    }
    bench.run(make(Op::dp4, 8, dst(20, Type::f), {grf(2, Type::f, 0, {4, 4, 1}), grf(3, Type::f, 0, {4, 4, 1})}));
    for (unsigned v = 0; v < 2; ++v) {
      long double exact = 0;
      long double largest = 0;
      for (unsigned i = 0; i < 4; ++i) {
        const auto term = static_cast<long double>(bench.get<float>(2, v * 4 + i)) *
                          static_cast<long double>(bench.get<float>(3, v * 4 + i));
        exact += term;
        largest = std::max(largest, std::fabs(term));
      }
      for (unsigned i = 0; i < 4; ++i) {
        const auto got = static_cast<long double>(bench.get<float>(20, v * 4 + i));
        ASSERT_LE(std::fabs(got - exact), std::ldexp(largest, -23));
      }
    }
  }
}

}  // namespace
}  // namespace halogen::eu::test
