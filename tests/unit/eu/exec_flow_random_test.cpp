// Runs random programs of ifs, loops, breaks and continues and compares them with an evaluator without masks, which
// runs the program once for each channel. Branch targets are those of Mesa's compiler for both models of flow control:
// channel IPs and mask stacks.
#include <array>
#include <memory>
#include <utility>

#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

constexpr unsigned kVariables = 4;
constexpr unsigned kFirst = 10;    // registers of variables, two for each
constexpr unsigned kCounter = 40;  // registers of loop counters, two for each depth

struct Statement;
using Block = std::vector<std::unique_ptr<Statement>>;

struct Test {
  unsigned variable = 0;
  Condition condition = Condition::less;
  uint32_t value = 0;
};

struct Statement {
  enum class Kind : uint8_t { add, branch, loop, break_, continue_ } kind = Kind::add;
  unsigned variable = 0;
  uint32_t value = 0;  // the addend; for loops the mask of the number of iterations
  Test test;
  Block first;  // the block of an if, or the body of a loop
  Block second;
};

Test random_test(Random& random) {
  return {random.below(kVariables),
          random.pick({Condition::less, Condition::greater_equal, Condition::zero, Condition::not_zero}),
          random.below(12)};
}

Block random_block(Random& random, unsigned depth, bool in_loop) {
  Block block;
  for (unsigned i = 0, count = 1 + random.below(3); i < count; ++i) {
    auto one = std::make_unique<Statement>();
    one->variable = random.below(kVariables);
    one->value = 1 + random.below(5);
    one->test = random_test(random);
    const unsigned roll = random.below(100);
    if (depth != 0 && roll < 35) {
      one->kind = Statement::Kind::branch;
      one->first = random_block(random, depth - 1, in_loop);
      if (random.chance(50)) {
        one->second = random_block(random, depth - 1, in_loop);
      }
    } else if (depth != 0 && roll < 55) {
      one->kind = Statement::Kind::loop;
      one->value = random.pick<uint32_t>({1, 3, 7});
      one->first = random_block(random, depth - 1, true);
    } else if (in_loop && roll < 75) {
      one->kind = random.chance(50) ? Statement::Kind::break_ : Statement::Kind::continue_;
    }
    block.push_back(std::move(one));
  }
  return block;
}

// ---- the evaluator of one channel

// How a block is left.
enum class Outcome : uint8_t { none, break_, continue_ };
using Variables = std::array<uint32_t, kVariables>;

bool holds(const Test& test, const Variables& variables) {
  const uint32_t value = variables[test.variable];
  switch (test.condition) {
    case Condition::less:
      return value < test.value;
    case Condition::greater_equal:
      return value >= test.value;
    case Condition::zero:
      return value == test.value;
    default:
      return value != test.value;
  }
}

Outcome evaluate(const Block& block, Variables& variables) {
  for (const auto& one : block) {
    Outcome outcome = Outcome::none;
    switch (one->kind) {
      case Statement::Kind::add:
        variables[one->variable] += one->value;
        break;
      case Statement::Kind::branch:
        outcome = evaluate(holds(one->test, variables) ? one->first : one->second, variables);
        break;
      case Statement::Kind::loop: {
        const uint32_t rounds = variables[one->variable] & one->value;
        for (uint32_t round = 0; round < rounds; ++round) {
          if (evaluate(one->first, variables) == Outcome::break_) {
            break;
          }
        }
        break;
      }
      case Statement::Kind::break_:
      case Statement::Kind::continue_:
        if (holds(one->test, variables)) {
          outcome = one->kind == Statement::Kind::break_ ? Outcome::break_ : Outcome::continue_;
        }
        break;
    }
    if (outcome != Outcome::none) {
      return outcome;
    }
  }
  return Outcome::none;
}

// ---- the code of a program

class CodeWriter {
 public:
  CodeWriter(GenId gen, unsigned size)
      : stacks_(gen <= GenId::gen5), break_distance_(gen == GenId::gen6 ? 1 : 0), size_(size) {}

  std::vector<Instruction> write(const Block& block) {
    put(block);
    link();
    return std::move(code_);
  }

 private:
  static unsigned reg(unsigned variable) { return kFirst + 2 * variable; }
  unsigned counter() const { return kCounter + 2 * depth_; }

  Instruction plain(Op op) const { return branch(op, size_, 0, 0, !stacks_ && op != Op::while_ && op != Op::endif); }
  size_t add(Instruction in) {
    code_.push_back(in);
    return code_.size() - 1;
  }
  void compare(unsigned from, Type type, Condition condition, uint32_t value) {
    add(with(make(Op::cmp, size_, null(type), {grf(from, type), imm(value, type)}), condition));
  }
  void put_test(const Test& test) { compare(reg(test.variable), Type::ud, test.condition, test.value); }
  // Adds a break or continue, which pops the open ifs inside the loop.
  size_t leave(Op op) {
    Instruction in = when(plain(op));
    in.pop_count = static_cast<uint8_t>(ifs_);
    return add(in);
  }

  void put(const Block& block) {
    for (const auto& one : block) {
      put(*one);
    }
  }
  void put(const Statement& one) {
    switch (one.kind) {
      case Statement::Kind::add:
        add(make(Op::add, size_, dst(reg(one.variable), Type::ud),
                 {grf(reg(one.variable), Type::ud), imm(one.value, Type::ud)}));
        break;
      case Statement::Kind::branch:
        put_if(one);
        break;
      case Statement::Kind::loop:
        put_loop(one);
        break;
      case Statement::Kind::break_:
        put_test(one.test);
        breaks_.back().push_back(leave(Op::break_));
        break;
      case Statement::Kind::continue_:
        put_test(one.test);
        continues_.back().push_back(leave(Op::cont));
        break;
    }
  }
  void put_if(const Statement& one) {
    put_test(one.test);
    const size_t start = add(when(plain(Op::if_)));
    ++ifs_;
    put(one.first);
    size_t middle = 0;
    if (!one.second.empty()) {
      middle = add(plain(Op::else_));
      code_[middle].pop_count = 1;
      put(one.second);
    }
    --ifs_;
    const size_t stop = add(plain(Op::endif));
    code_[stop].pop_count = 1;
    if (stacks_) {
      jump(start, middle != 0 ? middle : stop);
      if (middle != 0) {
        jump(middle, stop + 1);
      }
    } else {
      jump(start, middle != 0 ? middle + 1 : stop, stop);
      if (middle != 0) {
        jump(middle, stop, stop);
      }
    }
  }
  // The counter is decremented at the head of the loop, so that continue cannot skip it.
  void put_loop(const Statement& one) {
    add(make(Op::and_, size_, dst(counter(), Type::d), {grf(reg(one.variable), Type::d), imm(one.value, Type::d)}));
    if (stacks_) {
      add(plain(Op::do_));
    }
    const size_t head = code_.size();
    const unsigned outer_ifs = std::exchange(ifs_, 0u);
    breaks_.emplace_back();
    continues_.emplace_back();
    add(make(Op::add, size_, dst(counter(), Type::d), {grf(counter(), Type::d), imm(0xffff'ffff, Type::d)}));
    compare(counter(), Type::d, Condition::less, 0);
    breaks_.back().push_back(leave(Op::break_));
    ++depth_;
    put(one.first);
    --depth_;
    const size_t last = add(plain(Op::while_));
    jump(last, head);
    for (const size_t at : breaks_.back()) {
      stacks_ ? jump(at, last + 1) : jump(at, at, last + break_distance_);
    }
    for (const size_t at : continues_.back()) {
      stacks_ ? jump(at, last) : jump(at, at, last);
    }
    breaks_.pop_back();
    continues_.pop_back();
    ifs_ = outer_ifs;
  }

  void jump(size_t from, size_t to, size_t end = 0) {
    const auto distance = [&](size_t at) { return (static_cast<int>(at) - static_cast<int>(from)) * 16; };
    code_[from].jip = distance(to);
    code_[from].uip = end != 0 ? distance(end) : 0;
  }
  // With channel IPs, the JIP of break, continue and endif is the next end of a block.
  void link() {
    for (size_t at = 0; at < code_.size() && !stacks_; ++at) {
      const Op op = code_[at].op;
      if (op == Op::break_ || op == Op::cont || op == Op::endif) {
        const size_t next = block_end(at);
        code_[at].jip = static_cast<int>(next - at) * 16;
      }
    }
  }
  size_t block_end(size_t from) const {
    unsigned inner = 0;
    for (size_t at = from + 1; at < code_.size(); ++at) {
      const Op op = code_[at].op;
      const bool encloses = op == Op::while_ && static_cast<int>(at) + code_[at].jip / 16 <= static_cast<int>(from);
      if (inner == 0 && (op == Op::endif || op == Op::else_ || encloses)) {
        return at;
      }
      inner += op == Op::if_ ? 1 : 0;
      inner -= op == Op::endif ? 1 : 0;
    }
    return from + 1;
  }

  bool stacks_;
  size_t break_distance_;  // from the WHILE to the UIP of a break: 1 on Gen6, 0 on later generations
  unsigned size_;
  unsigned depth_ = 0;
  unsigned ifs_ = 0;
  std::vector<Instruction> code_;
  std::vector<std::vector<size_t>> breaks_;
  std::vector<std::vector<size_t>> continues_;
};

class RandomFlow : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, RandomFlow, ::testing::ValuesIn(kGens));

TEST_P(RandomFlow, EveryChannelEndsAsIfItRanAlone) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed * 7919 + static_cast<uint64_t>(GetParam()));
    const Block block = random_block(random, 4, false);
    const unsigned size = random.pick({8u, 16u});
    ThreadBench bench(GetParam(), random.chance(40) ? 0xffff : random.below(0x10000));
    bench.thread.flag[0] = static_cast<uint32_t>(random.bits());
    for (unsigned variable = 0; variable < kVariables; ++variable) {
      for (unsigned channel = 0; channel < 16; ++channel) {
        bench.set<uint32_t>(kFirst + 2 * variable, channel, random.below(10));
      }
    }
    const ThreadBench before = bench;
    ASSERT_EQ(bench.run(CodeWriter(GetParam(), size).write(block), 1 << 22), ThreadStatus::ended) << "seed " << seed;
    for (unsigned channel = 0; channel < 16; ++channel) {
      Variables variables{};
      for (unsigned variable = 0; variable < kVariables; ++variable) {
        variables[variable] = before.get<uint32_t>(kFirst + 2 * variable, channel);
      }
      if (channel < size && ((before.thread.dispatch_mask >> channel) & 1) != 0) {
        evaluate(block, variables);
      }
      for (unsigned variable = 0; variable < kVariables; ++variable) {
        ASSERT_EQ(bench.get<uint32_t>(kFirst + 2 * variable, channel), variables[variable])
            << "seed " << seed << " channel " << channel << " variable " << variable;
      }
    }
    EXPECT_EQ(bench.thread.masks.if_depth, 0);
    EXPECT_EQ(bench.thread.masks.loop_depth, 0);
  }
}

}  // namespace
}  // namespace halogen::eu::test
