// Random programs of ifs, loops, breaks and continues beside an evaluator that knows no masks: it goes through the
// program once for each channel, as if there were no others. Jumps are laid out as Mesa's compiler does for both models
// of flow control (where channels have an IP each, and with mask stacks).
#include <array>
#include <memory>
#include <utility>

#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

constexpr unsigned kVariables = 4;
constexpr unsigned kFirst = 10;    // registers of variables, two each
constexpr unsigned kCounter = 40;  // ... of loops, by depth

struct Statement;
using Block = std::vector<std::unique_ptr<Statement>>;

struct Test {
  unsigned variable = 0;
  Condition condition = Condition::less;
  uint32_t value = 0;
};

struct Statement {
  enum class Kind : uint8_t { add, branch, loop, leave, next } kind = Kind::add;
  unsigned variable = 0;
  uint32_t value = 0;  // added; of a loop the mask of its number of rounds
  Test test;
  Block first;  // then, or the loop's body
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
      one->kind = random.chance(50) ? Statement::Kind::leave : Statement::Kind::next;
    }
    block.push_back(std::move(one));
  }
  return block;
}

// ---- one channel

enum class Way : uint8_t { on, leave, next };
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

Way follow(const Block& block, Variables& variables) {
  for (const auto& one : block) {
    Way way = Way::on;
    switch (one->kind) {
      case Statement::Kind::add:
        variables[one->variable] += one->value;
        break;
      case Statement::Kind::branch:
        way = follow(holds(one->test, variables) ? one->first : one->second, variables);
        break;
      case Statement::Kind::loop: {
        const uint32_t rounds = variables[one->variable] & one->value;
        for (uint32_t round = 0; round < rounds; ++round) {
          if (follow(one->first, variables) == Way::leave) {
            break;
          }
        }
        break;
      }
      case Statement::Kind::leave:
      case Statement::Kind::next:
        if (holds(one->test, variables)) {
          way = one->kind == Statement::Kind::leave ? Way::leave : Way::next;
        }
        break;
    }
    if (way != Way::on) {
      return way;
    }
  }
  return Way::on;
}

// ---- the program

class Writer {
 public:
  Writer(GenId gen, unsigned size) : stacks_(gen <= GenId::gen5), behind_(gen == GenId::gen6 ? 1 : 0), size_(size) {}

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
  // Open ifs inside the loop are popped by who leaves them.
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
      case Statement::Kind::leave:
        put_test(one.test);
        breaks_.back().push_back(leave(Op::break_));
        break;
      case Statement::Kind::next:
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
  // The number of rounds is counted down at the head, so that continue cannot go round it.
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
      stacks_ ? jump(at, last + 1) : jump(at, at, last + behind_);
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
  // Where channels have an IP each: break, continue and endif name the next end of a block.
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
  size_t behind_;  // Gen6: a break names what lies behind the loop, later the loop's end
  unsigned size_;
  unsigned depth_ = 0;
  unsigned ifs_ = 0;
  std::vector<Instruction> code_;
  std::vector<std::vector<size_t>> breaks_;
  std::vector<std::vector<size_t>> continues_;
};

class RandomFlow : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, RandomFlow, ::testing::ValuesIn(kGens));

TEST_P(RandomFlow, EveryChannelGoesItsWay) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed * 7919 + static_cast<uint64_t>(GetParam()));
    const Block block = random_block(random, 4, false);
    const unsigned size = random.pick({8u, 16u});
    Machine machine(GetParam(), random.chance(40) ? 0xffff : random.below(0x10000));
    machine.thread.flag[0] = static_cast<uint32_t>(random.bits());
    for (unsigned variable = 0; variable < kVariables; ++variable) {
      for (unsigned channel = 0; channel < 16; ++channel) {
        machine.set<uint32_t>(kFirst + 2 * variable, channel, random.below(10));
      }
    }
    const Machine before = machine;
    ASSERT_EQ(machine.run(Writer(GetParam(), size).write(block), 1 << 22), ThreadStatus::ended) << "seed " << seed;
    for (unsigned channel = 0; channel < 16; ++channel) {
      Variables variables{};
      for (unsigned variable = 0; variable < kVariables; ++variable) {
        variables[variable] = before.get<uint32_t>(kFirst + 2 * variable, channel);
      }
      if (channel < size && ((before.thread.dispatch_mask >> channel) & 1) != 0) {
        follow(block, variables);
      }
      for (unsigned variable = 0; variable < kVariables; ++variable) {
        ASSERT_EQ(machine.get<uint32_t>(kFirst + 2 * variable, channel), variables[variable])
            << "seed " << seed << " channel " << channel << " variable " << variable;
      }
    }
    EXPECT_EQ(machine.thread.masks.if_depth, 0);
    EXPECT_EQ(machine.thread.masks.loop_depth, 0);
  }
}

}  // namespace
}  // namespace halogen::eu::test
