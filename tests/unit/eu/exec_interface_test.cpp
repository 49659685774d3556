// The interface that faster executors will implement: names, keys, kernels kept by content; and the classes that the
// fidelity report gives to everything that can run.
#include <set>

#include "eu/exec/analysis/fidelity_class.h"
#include "eu/exec/kernel.h"
#include "eu/exec/kernel_store.h"
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

std::vector<Instruction> two_sums(unsigned reg = 4) {
  return {make(Op::add, 8, dst(reg, Type::f), {grf(2, Type::f), grf(3, Type::f)}),
          make(Op::add, 8, dst(5, Type::d), {grf(2, Type::d), grf(3, Type::d)}), end()};
}

TEST(EuExecutor, KeysTellCodeEntryAndExecutorApart) {
  const auto executor = make_interpreter(GenId::gen9);
  const auto code = make_code(two_sums());
  const KernelKey key = executor->key(*code, 0);
  EXPECT_EQ(key, executor->key(*make_code(two_sums()), 0)) << "the same code elsewhere";
  EXPECT_NE(key, executor->key(*make_code(two_sums(6)), 0));
  EXPECT_NE(key, executor->key(*code, 16));
  EXPECT_NE(key, make_interpreter(GenId::gen8)->key(*code, 0));
  EXPECT_NE(key, make_interpreter(GenId::gen9, {.only_generic = true})->key(*code, 0));
  // What cannot be reached has no part in it.
  auto longer = two_sums();
  longer.push_back(make(Op::mov, 8, dst(9, Type::f), {grf(2, Type::f)}));
  EXPECT_EQ(key, executor->key(*make_code(longer), 0));
  // Any field of an instruction has.
  std::set<uint64_t> digests{key.code};
  const auto differs = [&](auto change) {
    auto changed = two_sums();
    change(changed[0]);
    EXPECT_TRUE(digests.insert(executor->key(*make_code(changed), 0).code).second);
  };
  differs([](Instruction& in) { in.saturate = true; });
  differs([](Instruction& in) { in.no_mask = true; });
  differs([](Instruction& in) { in.exec_size = 16; });
  differs([](Instruction& in) { in.first_channel = 8; });
  differs([](Instruction& in) { in.accumulator_write = true; });
  differs([](Instruction& in) { in = with(in, Condition::less, 1); });
  differs([](Instruction& in) { in = when(in, Predicate::any4h, true); });
  differs([](Instruction& in) { in.src[1].negate = true; });
  differs([](Instruction& in) { in.src[0].region = {0, 1, 0}; });
  differs([](Instruction& in) { in.dst.type = Type::d; });
}

// A second implementation: runs what it was given through another, and counts.
class Counting final : public Executor {
 public:
  explicit Counting(GenId gen) : inner_(make_interpreter(gen)) {}
  std::string name() const override { return "counting " + inner_->name(); }
  GenId gen() const override { return inner_->gen(); }
  std::unique_ptr<Kernel> prepare(std::shared_ptr<const CodeSource> code, uint32_t entry) const override {
    ++prepared;
    return inner_->prepare(std::move(code), entry);
  }
  ThreadStatus run(Thread& thread, const Kernel& kernel, uint64_t budget, MessageTarget& target,
                   ExecutionCounts* counts) const override {
    return inner_->run(thread, kernel, budget, target, counts);
  }
  std::unique_ptr<ExecutionCounts> make_counts(const Kernel& kernel) const override {
    return inner_->make_counts(kernel);
  }
  std::string describe(const Kernel& kernel, uint32_t offset) const override {
    return inner_->describe(kernel, offset);
  }
  mutable unsigned prepared = 0;

 private:
  std::unique_ptr<Executor> inner_;
};

TEST(EuExecutor, TheStorePreparesOnce) {
  const Counting executor(GenId::gen11);
  KernelStore store(2);
  const auto first = store.find(executor, make_code(two_sums()), 0);
  EXPECT_EQ(store.find(executor, make_code(two_sums()), 0), first);
  EXPECT_EQ(executor.prepared, 1u);
  store.find(executor, make_code(two_sums(6)), 0);
  store.find(executor, make_code(two_sums()), 0);   // used again
  store.find(executor, make_code(two_sums(7)), 0);  // a third: the one that waited longest goes
  EXPECT_EQ(store.size(), 2u);
  EXPECT_EQ(executor.prepared, 3u);
  EXPECT_EQ(store.find(executor, make_code(two_sums()), 0), first);
  EXPECT_EQ(executor.prepared, 3u);
  // A kernel that is gone from the store still runs for who holds it.
  Thread thread;
  thread.start(0, 0xff);
  Target target;
  EXPECT_EQ(executor.run(thread, *first, 100, target, nullptr), ThreadStatus::ended);
  EXPECT_EQ(thread.instructions, 3u);
}

InstructionClass classed(GenId gen, const Instruction& in) {
  const EuRules& rules = eu_rules(gen);
  return class_of(prepare_instruction(in, 0, rules, nullptr, false), rules);
}

TEST(EuFidelity, EverythingThatRunsHasAClassAndAReason) {
  for (const GenId gen : kGens) {
    for (unsigned op = 0; op <= static_cast<unsigned>(Op::nop); ++op) {
      for (unsigned to = 0; to <= static_cast<unsigned>(Type::vf); ++to) {
        for (unsigned from = 0; from <= static_cast<unsigned>(Type::vf); ++from) {
          Instruction in =
              make(static_cast<Op>(op), 8, dst(4, static_cast<Type>(to)),
                   {grf(2, static_cast<Type>(from)), grf(3, static_cast<Type>(from)), grf(5, static_cast<Type>(from))});
          const InstructionClass of = classed(gen, in);
          ASSERT_EQ(of.reason.empty(), of.fidelity == FidelityClass::exact) << op << " " << to << " " << from;
          const bool extra = static_cast<Type>(to) == Type::nf || static_cast<Type>(from) == Type::nf;
          if (in.op == Op::mov && extra) {
            ASSERT_EQ(of.fidelity, FidelityClass::approximate);
          }
        }
      }
    }
  }
}

TEST(EuFidelity, ClassesAreTrue) {
  const auto fidelity = [](GenId gen, const Instruction& in) { return classed(gen, in).fidelity; };
  const auto add = make(Op::add, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f)});
  const auto mad = make(Op::mad, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f), grf(5, Type::f)});
  EXPECT_EQ(fidelity(GenId::gen9, add), FidelityClass::exact);
  EXPECT_EQ(fidelity(GenId::gen9, mad), FidelityClass::exact);
  EXPECT_EQ(fidelity(GenId::gen7, mad), FidelityClass::approximate) << "width of the product is not published";
  EXPECT_EQ(fidelity(GenId::gen9, saturated(with(add, Condition::less))), FidelityClass::approximate);
  EXPECT_EQ(fidelity(GenId::gen9, saturated(add)), FidelityClass::exact);
  auto from_accumulator = add;
  from_accumulator.src[0] = arf(Arf::accumulator, Type::f);
  EXPECT_EQ(fidelity(GenId::gen9, from_accumulator), FidelityClass::approximate);
  auto integers = make(Op::add, 8, dst(4, Type::d), {arf(Arf::accumulator, Type::d), grf(3, Type::d)});
  EXPECT_EQ(fidelity(GenId::gen9, integers), FidelityClass::exact);
  EXPECT_EQ(fidelity(GenId::gen9, make(Op::mov, 1, dst(4, Type::ud), {arf(Arf::timestamp, Type::ud)})),
            FidelityClass::approximate);
  const auto mixed = make(Op::add, 8, dst(4, Type::hf), {grf(2, Type::f), grf(3, Type::hf)});
  EXPECT_EQ(fidelity(GenId::gen9, mixed), FidelityClass::approximate);
  auto divide = make(Op::math, 8, dst(4, Type::d), {grf(2, Type::d), grf(3, Type::d)});
  divide.math = MathFunction::int_quotient;
  EXPECT_EQ(fidelity(GenId::gen9, divide), FidelityClass::exact);
  divide.math = MathFunction::none;
  EXPECT_EQ(fidelity(GenId::gen9, divide), FidelityClass::unsupported);
}

}  // namespace
}  // namespace halogen::eu::test
