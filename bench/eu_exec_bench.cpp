// Channel operations per second of the interpreter on one core, by kind of instruction and width. Other executors are
// compared with these figures.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "eu/exec/executor.h"

namespace {

using namespace halogen;
using namespace halogen::eu;

class Silent : public MessageTarget {
 public:
  SendOutcome send(Thread&, const Message&) override { return SendOutcome::done; }
};

Operand grf(unsigned reg, Type type, Region region = {8, 8, 1}) {
  Operand operand;
  operand.file = File::grf;
  operand.reg = static_cast<uint8_t>(reg);
  operand.type = type;
  operand.region = region;
  return operand;
}

Instruction make(Op op, unsigned width, Type type, unsigned sources) {
  Instruction in;
  in.op = op;
  in.exec_size = static_cast<uint8_t>(width);
  in.dst = grf(40, type, {0, 1, 1});
  in.sources = static_cast<uint8_t>(sources);
  for (unsigned i = 0; i < sources; ++i) {
    in.src[i] = grf(10 + 4 * i, type);
  }
  return in;
}

Instruction jump(int instructions) {
  Instruction in;
  in.op = Op::jmpi;
  in.has_jip = true;
  in.jip = instructions * 16;
  return in;
}

void run(benchmark::State& state, const std::vector<Instruction>& body, unsigned width, bool only_generic = false) {
  std::vector<Instruction> code;
  for (int i = 0; i < 16; ++i) {
    code.insert(code.end(), body.begin(), body.end());
  }
  code.push_back(jump(-static_cast<int>(code.size())));
  const auto executor = make_interpreter(spec::GenId::gen11, {.only_generic = only_generic});
  const auto kernel = executor->prepare(make_code(code), 0);
  Thread thread;
  for (size_t i = 0; i < thread.grf.size(); i += 4) {
    const float value = 1.0f + static_cast<float>(i) / 4096.0f;
    std::memcpy(thread.grf.data() + i, &value, 4);
  }
  for (size_t i = 0; i < thread.address.size(); ++i) {
    thread.address[i] = static_cast<uint16_t>(320 + 36 * i);
  }
  thread.flag = {0x5555'5555, 0xaaaa'aaaa};
  thread.control[0] = 0x4c0;
  thread.start(0, 0xffff'ffff);
  Silent target;
  constexpr uint64_t kBudget = 10000;
  for (auto _ : state) {
    executor->run(thread, *kernel, kBudget, target);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBudget * width));
}

void one(benchmark::State& state, Op op, Type type, unsigned sources) {
  const auto width = static_cast<unsigned>(state.range(0));
  run(state, {make(op, width, type, sources)}, width);
}

BENCHMARK_CAPTURE(one, mov_ud, Op::mov, Type::ud, 1u)->Arg(1)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(one, add_d, Op::add, Type::d, 2u)->Arg(1)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(one, add_w, Op::add, Type::w, 2u)->Arg(16);
BENCHMARK_CAPTURE(one, mul_f, Op::mul, Type::f, 2u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(one, mad_f, Op::mad, Type::f, 3u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(one, mach_d, Op::mach, Type::d, 2u)->Arg(8);
BENCHMARK_CAPTURE(one, mul_hf, Op::mul, Type::hf, 2u)->Arg(16);

// Instructions that compilers emit besides plain arithmetic on one type.
void kind(benchmark::State& state, Instruction (*change)(Instruction), Op op, Type type, unsigned sources) {
  const auto width = static_cast<unsigned>(state.range(0));
  run(state, {change(make(op, width, type, sources))}, width);
}
Instruction saturating(Instruction in) {
  in.saturate = true;
  return in;
}
Instruction testing(Instruction in) {
  in.condition = Condition::greater;
  return in;
}
Instruction predicated(Instruction in) {
  in.predicate = Predicate::normal;
  return in;
}
Instruction from_half(Instruction in) {
  in.src[0].type = Type::hf;
  return in;
}
Instruction to_half(Instruction in) {
  in.dst.type = Type::hf;
  return in;
}
Instruction from_byte(Instruction in) {
  in.src[0].type = Type::ub;
  in.src[0].region = {16, 4, 4};
  return in;
}
Instruction to_word_saturating(Instruction in) {
  in.dst.type = Type::w;
  in.saturate = true;
  return in;
}
Instruction indirect(Instruction in) {
  in.src[0].indirect = true;
  in.src[0].region = {0, 1, 0, true};
  in.src[0].address_sub = 0;
  return in;
}
Instruction to_accumulator(Instruction in) {
  in.dst.file = File::arf;
  in.dst.reg = static_cast<uint8_t>(Arf::accumulator) << 4;
  return in;
}
Instruction uneven(Instruction in) {
  in.src[0].region = {16, 8, 1};
  return in;
}
Instruction swizzled(Instruction in) {
  in.align16 = true;
  in.src[0].region = {4, 4, 1};
  in.src[1].region = {4, 4, 1};
  in.src[0].swizzle = {1, 1, 2, 0};
  in.dst.write_mask = 0x7;
  return in;
}
template <MathFunction Function>
Instruction math(Instruction in) {
  in.math = Function;
  return in;
}

BENCHMARK_CAPTURE(kind, add_f_sat, saturating, Op::add, Type::f, 2u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, add_d_sat, saturating, Op::add, Type::d, 2u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, add_d_condition, testing, Op::add, Type::d, 2u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, add_f_predicated, predicated, Op::add, Type::f, 2u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, add_hf, predicated, Op::add, Type::hf, 2u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, mad_hf, predicated, Op::mad, Type::hf, 3u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, mul_mixed_hf_f, from_half, Op::mul, Type::f, 2u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, mov_f_to_hf, to_half, Op::mov, Type::f, 1u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, mov_ub_to_f, from_byte, Op::mov, Type::f, 1u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, mov_d_to_w_sat, to_word_saturating, Op::mov, Type::d, 1u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, add_q, predicated, Op::add, Type::q, 2u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, cmp_q, testing, Op::cmp, Type::q, 2u)->Arg(8);
BENCHMARK_CAPTURE(kind, addc_ud, predicated, Op::addc, Type::ud, 2u)->Arg(8);
BENCHMARK_CAPTURE(kind, mov_indirect, indirect, Op::mov, Type::ud, 1u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, add_uneven, uneven, Op::add, Type::f, 2u)->Arg(16);
BENCHMARK_CAPTURE(kind, mul_align16, swizzled, Op::mul, Type::f, 2u)->Arg(8);
BENCHMARK_CAPTURE(kind, mul_to_accumulator, to_accumulator, Op::mul, Type::f, 2u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, bfe_ud, predicated, Op::bfe, Type::ud, 3u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, pln_f, predicated, Op::pln, Type::f, 2u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, dp4_f, predicated, Op::dp4, Type::f, 2u)->Arg(8);
BENCHMARK_CAPTURE(kind, rnde_f, predicated, Op::rnde, Type::f, 1u)->Arg(16);
BENCHMARK_CAPTURE(kind, math_inv, math<MathFunction::inverse>, Op::math, Type::f, 1u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, math_sqrt, math<MathFunction::sqrt>, Op::math, Type::f, 1u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, math_rsqrt, math<MathFunction::rsqrt>, Op::math, Type::f, 1u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, math_exp, math<MathFunction::exp2>, Op::math, Type::f, 1u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, math_log, math<MathFunction::log2>, Op::math, Type::f, 1u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, math_sin, math<MathFunction::sin>, Op::math, Type::f, 1u)->Arg(8)->Arg(16);
BENCHMARK_CAPTURE(kind, math_pow, math<MathFunction::power>, Op::math, Type::f, 2u)->Arg(8);
BENCHMARK_CAPTURE(kind, math_fdiv, math<MathFunction::divide>, Op::math, Type::f, 2u)->Arg(8);
BENCHMARK_CAPTURE(kind, math_idiv, math<MathFunction::int_quotient>, Op::math, Type::d, 2u)->Arg(8);

// The instructions of the inner loop of a compute kernel.
void mixed(benchmark::State& state) {
  const auto width = static_cast<unsigned>(state.range(0));
  Instruction compare = make(Op::cmp, width, Type::d, 2);
  compare.condition = Condition::less;
  Instruction select = make(Op::sel, width, Type::f, 2);
  select.predicate = Predicate::normal;
  Instruction shift = make(Op::shl, width, Type::ud, 2);
  shift.src[1] = Operand{};
  shift.src[1].file = File::immediate;
  shift.src[1].immediate = 2;
  Instruction scalar = make(Op::mul, width, Type::f, 2);
  scalar.src[1].region = {0, 1, 0};
  run(state,
      {make(Op::add, width, Type::d, 2), make(Op::mad, width, Type::f, 3), compare, select, shift, scalar,
       make(Op::and_, width, Type::ud, 2), make(Op::mov, width, Type::ud, 1)},
      width);
}
BENCHMARK(mixed)->Arg(8)->Arg(16)->Arg(32);

void general_path(benchmark::State& state) {
  run(state, {make(Op::add, 16, Type::f, 2)}, 16, true);
}
BENCHMARK(general_path);

}  // namespace

BENCHMARK_MAIN();
