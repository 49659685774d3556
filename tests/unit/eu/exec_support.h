// Helpers that build instructions and run them on one thread.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <vector>

#include "eu/exec/executor.h"

namespace halogen::eu::test {

using spec::GenId;

inline Operand grf(unsigned reg, Type type, unsigned sub = 0, Region region = {8, 8, 1}) {
  Operand operand;
  operand.file = File::grf;
  operand.reg = static_cast<uint8_t>(reg);
  operand.sub = static_cast<uint8_t>(sub);
  operand.type = type;
  operand.region = region;
  return operand;
}
inline Operand scalar(unsigned reg, Type type, unsigned sub = 0) {
  return grf(reg, type, sub, {0, 1, 0});
}
inline Operand dst(unsigned reg, Type type, unsigned sub = 0, unsigned stride = 1) {
  return grf(reg, type, sub, {0, 1, static_cast<uint8_t>(stride)});
}
inline Operand mrf_dst(unsigned reg, Type type) {
  Operand operand = dst(reg, type);
  operand.file = File::mrf;
  return operand;
}
inline Operand arf(Arf kind, Type type, unsigned number = 0, unsigned sub = 0, Region region = {8, 8, 1}) {
  Operand operand = grf((static_cast<unsigned>(kind) << 4) | number, type, sub, region);
  operand.file = File::arf;
  return operand;
}
inline Operand null(Type type) {
  return arf(Arf::null, type, 0, 0, {0, 1, 1});
}
inline Operand imm(uint64_t bits, Type type) {
  Operand operand;
  operand.file = File::immediate;
  operand.type = type;
  operand.immediate = (type == Type::w || type == Type::uw || type == Type::hf) ? (bits & 0xffff) * 0x10001 : bits;
  return operand;
}
inline Operand imm_f(float value) {
  Operand operand;
  operand.file = File::immediate;
  operand.type = Type::f;
  operand.immediate = std::bit_cast<uint32_t>(value);
  return operand;
}
inline Operand minus(Operand operand) {
  operand.negate = true;
  return operand;
}
inline Operand absolute(Operand operand) {
  operand.absolute = true;
  return operand;
}

inline Instruction make(Op op, unsigned exec_size, const Operand& to, std::initializer_list<Operand> from) {
  Instruction in;
  in.op = op;
  in.exec_size = static_cast<uint8_t>(exec_size);
  in.dst = to;
  in.sources = static_cast<uint8_t>(from.size());
  size_t i = 0;
  for (const Operand& operand : from) {
    in.src[i++] = operand;
  }
  return in;
}
inline Instruction with(Instruction in, Condition condition, unsigned flag = 0) {
  in.condition = condition;
  in.flag = static_cast<uint8_t>(flag);
  return in;
}
inline Instruction when(Instruction in, Predicate predicate = Predicate::normal, bool inverse = false,
                        unsigned flag = 0) {
  in.predicate = predicate;
  in.predicate_inverse = inverse;
  in.flag = static_cast<uint8_t>(flag);
  return in;
}
inline Instruction no_mask(Instruction in) {
  in.no_mask = true;
  return in;
}
inline Instruction saturated(Instruction in) {
  in.saturate = true;
  return in;
}
// Returns a branch. Distances count instructions of 16 bytes.
inline Instruction branch(Op op, unsigned exec_size, int jip, int uip = 0, bool has_uip = false) {
  Instruction in;
  in.op = op;
  in.exec_size = static_cast<uint8_t>(exec_size);
  in.has_jip = true;
  in.jip = jip * 16;
  in.has_uip = has_uip;
  in.uip = uip * 16;
  return in;
}
inline Instruction end() {
  Instruction in;
  in.op = Op::send;
  in.exec_size = 8;
  in.no_mask = true;
  in.dst = null(Type::ud);
  in.src[0] = grf(112, Type::ud);
  in.sources = 1;
  in.send.function = 7;
  in.send.end_of_thread = true;
  in.send.descriptor = 1u << 25;
  return in;
}

// Counts messages and passes all but the last one to `answer`.
class Target : public MessageTarget {
 public:
  using Answer = std::function<SendOutcome(Thread&, const Message&)>;
  SendOutcome send(Thread& thread, const Message& message) override {
    ++count;
    return answer && !message.end_of_thread ? answer(thread, message) : SendOutcome::done;
  }
  Answer answer;
  unsigned count = 0;
};

// A thread of one generation with its registers. run() appends the end of the thread to the code.
struct ThreadBench {
  explicit ThreadBench(GenId generation, uint32_t mask = 0xffff'ffff) : gen(generation) { thread.start(0, mask); }

  ThreadStatus run(std::vector<Instruction> code, uint64_t budget = 100000) {
    code.push_back(end());
    const auto executor = make_interpreter(gen, options);
    const auto kernel = executor->prepare(make_code(code), 0);
    thread.start(0, thread.dispatch_mask);
    return executor->run(thread, *kernel, budget, target);
  }
  ThreadStatus run(const Instruction& in) { return run(std::vector{in}); }

  template <class T>
  void set(unsigned reg, unsigned element, T value) {
    std::memcpy(thread.grf.data() + reg * kGrfBytes + element * sizeof(T), &value, sizeof(T));
  }
  template <class T>
  [[nodiscard]] T get(unsigned reg, unsigned element) const {
    T value;
    std::memcpy(&value, thread.grf.data() + reg * kGrfBytes + element * sizeof(T), sizeof(T));
    return value;
  }
  template <class T>
  void fill(unsigned reg, std::initializer_list<T> values) {
    unsigned i = 0;
    for (const T value : values) {
      set(reg, i++, value);
    }
  }

  GenId gen;
  InterpreterOptions options;
  Thread thread;
  Target target;
};

inline constexpr GenId kGens[]{GenId::gen4,   GenId::gen4_5, GenId::gen5, GenId::gen6,  GenId::gen7,
                               GenId::gen7_5, GenId::gen8,   GenId::gen9, GenId::gen11, GenId::gen12};
inline constexpr GenId kGen8Plus[]{GenId::gen8, GenId::gen9, GenId::gen11, GenId::gen12};

}  // namespace halogen::eu::test
