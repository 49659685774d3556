// Moves, arithmetic, regions, masks, predicates, flow control with channel IPs, messages.
#include "unit/eu/exec_support.h"

namespace halogen::eu::test {
namespace {

class Gen8Plus : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, Gen8Plus, ::testing::ValuesIn(kGen8Plus));

TEST_P(Gen8Plus, AddAppliesTheNegateModifier) {
  ThreadBench bench(GetParam());
  bench.fill<float>(2, {1, 2, 3, 4, 5, 6, 7, 8});
  bench.fill<float>(3, {10, 20, 30, 40, 50, 60, 70, 80});
  EXPECT_EQ(bench.run(make(Op::add, 8, dst(4, Type::f), {grf(2, Type::f), minus(grf(3, Type::f))})),
            ThreadStatus::ended);
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<float>(4, i), static_cast<float>(i + 1) - static_cast<float>(10 * (i + 1)));
  }
}

TEST_P(Gen8Plus, SourceAndDestinationRegionsSelectElements) {
  ThreadBench bench(GetParam());
  for (unsigned i = 0; i < 16; ++i) {
    bench.set<uint32_t>(10, i, 100 + i);
  }
  // <2;4,1>: rows of four elements, two elements from row to row.
  bench.run(make(Op::mov, 8, dst(20, Type::ud), {grf(10, Type::ud, 4, {2, 4, 1})}));
  const uint32_t expected[]{101, 102, 103, 104, 103, 104, 105, 106};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(20, i), expected[i]);
  }
  // Words spread over dwords: destination stride 2.
  bench.run({make(Op::mov, 8, dst(21, Type::ud), {imm(0, Type::ud)}),
             make(Op::mov, 8, dst(21, Type::uw, 2, 2), {grf(10, Type::uw, 0, {16, 8, 2})})});
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(21, i), (100 + i) << 16);
  }
}

TEST_P(Gen8Plus, OnlyEnabledChannelsAreWritten) {
  ThreadBench bench(GetParam(), 0x00ff'00a5);
  bench.run(make(Op::mov, 16, dst(4, Type::ud), {imm(7, Type::ud)}));
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(4, i), ((0xa5u >> i) & 1) != 0 ? 7u : 0u);
  }
  // The second half uses its own channels.
  auto second = make(Op::mov, 16, dst(8, Type::ud), {imm(7, Type::ud)});
  second.first_channel = 16;
  bench.run(second);
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(8, i), i < 8 ? 7u : 0u);
  }
  bench.run(no_mask(make(Op::mov, 16, dst(10, Type::ud), {imm(7, Type::ud)})));
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(10, i), 7u);
  }
}

TEST_P(Gen8Plus, PredicatesReadTheFlagOfTheirChannels) {
  ThreadBench bench(GetParam());
  bench.thread.flag = {0x00f0'0005, 0x8000'0001};
  const auto mask_of = [&](Instruction in) {
    in.dst = dst(30, Type::uw);
    bench.set<uint64_t>(30, 0, 0);
    bench.set<uint64_t>(30, 1, 0);
    bench.set<uint64_t>(30, 2, 0);
    bench.set<uint64_t>(30, 3, 0);
    bench.run(in);
    uint32_t mask = 0;
    for (unsigned i = 0; i < 16; ++i) {
      mask |= bench.get<uint16_t>(30, i) != 0 ? 1u << i : 0;
    }
    return mask;
  };
  const auto one = make(Op::mov, 16, dst(30, Type::uw), {imm(1, Type::uw)});
  EXPECT_EQ(mask_of(when(one)), 0x0005u);
  EXPECT_EQ(mask_of(when(one, Predicate::normal, true)), 0xfffau);
  EXPECT_EQ(mask_of(when(one, Predicate::normal, false, 1)), 0x00f0u);
  EXPECT_EQ(mask_of(when(one, Predicate::any4h)), 0x000fu);
  EXPECT_EQ(mask_of(when(one, Predicate::any4h, true)), 0xfff0u);  // inverted after the groups are combined
  EXPECT_EQ(mask_of(when(one, Predicate::all4h, false, 1)), 0x00f0u);
  EXPECT_EQ(mask_of(when(one, Predicate::any2h)), 0x000fu);
  EXPECT_EQ(mask_of(when(one, Predicate::any32h)), 0xffffu);
  EXPECT_EQ(mask_of(when(one, Predicate::all32h)), 0x0000u);
  EXPECT_EQ(mask_of(when(one, Predicate::any8h, false, 1)), 0x00ffu);
  EXPECT_EQ(mask_of(when(one, Predicate::any_v)), 0x0005u | 0x0001u);
  EXPECT_EQ(mask_of(when(one, Predicate::all_v)), 0x0001u);
  auto upper = when(one);
  upper.first_channel = 16;
  EXPECT_EQ(mask_of(upper), 0x00f0u);
}

TEST_P(Gen8Plus, CompareWritesFlagAndDestination) {
  ThreadBench bench(GetParam(), 0x0f);
  bench.fill<int32_t>(2, {-1, 0, 1, 2, 3, 4, 5, 6});
  bench.thread.flag[0] = 0xffff'ffff;
  bench.run(with(make(Op::cmp, 8, dst(3, Type::d), {grf(2, Type::d), imm(1, Type::d)}), Condition::less));
  EXPECT_EQ(bench.thread.flag[0], 0xffff'fff3u);
  EXPECT_EQ(bench.get<uint32_t>(3, 0), 0xffff'ffffu);
  EXPECT_EQ(bench.get<uint32_t>(3, 2), 0u);
  EXPECT_EQ(bench.get<uint32_t>(3, 4), 0u);
}

// Compilers fold `sum == 0` and `sum < 0` into the addition, so the condition must test the 32 bits that are stored.
TEST_P(Gen8Plus, ConditionOfASumTestsTheStoredBits) {
  ThreadBench bench(GetParam());
  bench.fill<uint32_t>(2, {0x8000'0000, 0x7fff'ffff, 0xffff'ffff, 5, 0x8000'0000, 0, 1, 0x7fff'ffff});
  bench.fill<uint32_t>(3, {0x8000'0000, 1, 1, 6, 0xffff'ffff, 0, 0xffff'fffe, 0x7fff'ffff});
  // Sums: 0, 8000'0000, 0, b, 7fff'ffff, 0, ffff'ffff, ffff'fffe
  const auto flags = [&](Condition condition) {
    bench.thread.flag[0] = 0;
    bench.run(with(make(Op::add, 8, dst(4, Type::d), {grf(2, Type::d), grf(3, Type::d)}), condition));
    return bench.thread.flag[0];
  };
  EXPECT_EQ(flags(Condition::zero), 0b0010'0101u);
  EXPECT_EQ(flags(Condition::less), 0b1100'0010u);
  EXPECT_EQ(flags(Condition::greater), 0b0001'1000u);
}

TEST_P(Gen8Plus, QuotientsMayOverwriteASource) {
  ThreadBench bench(GetParam());
  for (const unsigned where : {2u, 4u}) {
    bench.fill<int32_t>(2, {17, -17, 17, -17, 100, 0, 7, 1});
    bench.fill<int32_t>(4, {5, 5, -5, -5, 100, 3, 8, 1});
    auto divide = make(Op::math, 8, dst(where, Type::d), {grf(2, Type::d), grf(4, Type::d)});
    divide.math = MathFunction::int_divide_both;
    bench.run(divide);
    const std::array<int32_t, 8> quotients{3, -3, -3, 3, 1, 0, 0, 1}, remainders{2, -2, 2, -2, 0, 0, 7, 0};
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(bench.get<int32_t>(where, i), quotients[i]) << i;
      EXPECT_EQ(bench.get<int32_t>(where + 1, i), remainders[i]) << i;
    }
  }
}

TEST_P(Gen8Plus, IfElseRunsEachSideForItsChannels) {
  ThreadBench bench(GetParam());
  bench.thread.flag[0] = 0x0000'00f0;
  bench.run({when(branch(Op::if_, 16, 3, 4, true)),                     // 0: false channels to 3
             make(Op::mov, 16, dst(10, Type::ud), {imm(1, Type::ud)}),  // 1
             branch(Op::else_, 16, 2, 2, true),                         // 2: to the endif
             make(Op::mov, 16, dst(10, Type::ud), {imm(2, Type::ud)}),  // 3
             branch(Op::endif, 16, 1),                                  // 4
             make(Op::add, 16, dst(10, Type::ud), {grf(10, Type::ud), imm(10, Type::ud)})});
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(10, i), i >= 4 && i < 8 ? 11u : 12u);
  }
}

TEST_P(Gen8Plus, EachChannelLeavesALoopByItsOwnCondition) {
  // r10 counts down from the channel's number, r12 counts iterations. The break at zero names the while.
  ThreadBench bench(GetParam());
  for (unsigned i = 0; i < 16; ++i) {
    bench.set<uint32_t>(10, i, i % 5);
  }
  bench.run({with(make(Op::cmp, 16, null(Type::ud), {grf(10, Type::ud), imm(0, Type::ud)}), Condition::zero),  // 0
             when(branch(Op::break_, 16, 3, 3, true)),                                                         // 1
             make(Op::add, 16, dst(10, Type::ud), {grf(10, Type::ud), imm(0xffff'ffff, Type::ud)}),            // 2
             make(Op::add, 16, dst(12, Type::ud), {grf(12, Type::ud), imm(1, Type::ud)}),                      // 3
             branch(Op::while_, 16, -4),                                                                       // 4
             make(Op::add, 16, dst(14, Type::ud), {grf(14, Type::ud), imm(1, Type::ud)})});
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(12, i), i % 5);
    EXPECT_EQ(bench.get<uint32_t>(14, i), 1u) << "all channels join after the loop";
  }
}

TEST_P(Gen8Plus, JmpiMovesAllChannels) {
  ThreadBench bench(GetParam());
  bench.thread.flag[0] = 1;
  auto taken = when(branch(Op::jmpi, 1, 2));
  auto not_taken = when(branch(Op::jmpi, 1, 2), Predicate::normal, true);
  bench.run({taken, make(Op::mov, 8, dst(10, Type::ud), {imm(1, Type::ud)}), not_taken,
             make(Op::mov, 8, dst(11, Type::ud), {imm(1, Type::ud)})});
  EXPECT_EQ(bench.get<uint32_t>(10, 0), 0u);
  EXPECT_EQ(bench.get<uint32_t>(11, 0), 1u);
}

TEST_P(Gen8Plus, SendPassesPayloadAndChannelsToTheTarget) {
  ThreadBench bench(GetParam(), 0xff);
  bench.fill<uint32_t>(20, {1, 2, 3, 4, 5, 6, 7, 8});
  bench.fill<uint32_t>(30, {11, 12, 13, 14, 15, 16, 17, 18});
  Instruction in = make(Op::sends, 8, dst(40, Type::ud), {grf(20, Type::ud), grf(30, Type::ud)});
  in.send.function = 12;
  in.send.descriptor = (1u << 25) | (2u << 20) | (1u << 19) | 0x1234;
  in.send.extended = 2u << 6;
  bench.thread.flag[0] = 0x33;
  bench.target.answer = [](Thread&, const Message& message) {
    EXPECT_EQ(message.function, 12);
    EXPECT_EQ(message.descriptor & 0x7ffff, 0x1234u);
    EXPECT_EQ(message.first.size(), 32u);
    EXPECT_EQ(message.second.size(), 64u);
    EXPECT_EQ(message.response.size(), 64u);
    EXPECT_EQ(message.channels, 0x33u);
    EXPECT_EQ(static_cast<unsigned>(message.second[0]), 11u);
    message.response[4] = std::byte{9};
    return SendOutcome::done;
  };
  EXPECT_EQ(bench.run(when(in)), ThreadStatus::ended);
  EXPECT_EQ(bench.get<uint32_t>(40, 1), 9u);
  EXPECT_EQ(bench.target.count, 2u);
}

TEST_P(Gen8Plus, ABlockedSendIsRetried) {
  ThreadBench bench(GetParam(), 0xff);
  Instruction in = make(Op::send, 8, null(Type::ud), {grf(20, Type::ud)});
  in.send.descriptor = 1u << 25;
  unsigned tries = 0;
  bench.target.answer = [&](Thread&, const Message&) { return ++tries < 3 ? SendOutcome::blocked : SendOutcome::done; };
  const std::vector code{in, end()};
  const auto executor = make_interpreter(GetParam());
  const auto kernel = executor->prepare(make_code(code), 0);
  EXPECT_EQ(executor->run(bench.thread, *kernel, 100, bench.target), ThreadStatus::blocked);
  EXPECT_EQ(executor->run(bench.thread, *kernel, 100, bench.target), ThreadStatus::blocked);
  EXPECT_EQ(executor->run(bench.thread, *kernel, 100, bench.target), ThreadStatus::ended);
  EXPECT_EQ(bench.thread.instructions, 2u);
}

TEST_P(Gen8Plus, WaitConsumesANotification) {
  ThreadBench bench(GetParam(), 0xff);
  Instruction in;
  in.exec_size = 1;
  if (GetParam() == GenId::gen12) {
    in.op = Op::sync;
    in.sync = SyncFunction::bar;
  } else {
    in = make(Op::wait, 1, arf(Arf::notification, Type::ud), {arf(Arf::notification, Type::ud)});
  }
  const std::vector code{in, end()};
  const auto executor = make_interpreter(GetParam());
  const auto kernel = executor->prepare(make_code(code), 0);
  EXPECT_EQ(executor->run(bench.thread, *kernel, 100, bench.target), ThreadStatus::blocked);
  bench.thread.notification[0] = 2;
  EXPECT_EQ(executor->run(bench.thread, *kernel, 100, bench.target), ThreadStatus::ended);
  EXPECT_EQ(bench.thread.notification[0], 1u);
}

TEST_P(Gen8Plus, AnEndlessKernelStopsAtItsBudget) {
  ThreadBench bench(GetParam(), 0xff);
  EXPECT_EQ(bench.run({branch(Op::jmpi, 1, 0)}, 1000), ThreadStatus::running);
  EXPECT_EQ(bench.thread.instructions, 1000u);
}

TEST_P(Gen8Plus, AnIllegalInstructionStopsTheThread) {
  ThreadBench bench(GetParam(), 0xff);
  EXPECT_EQ(bench.run({Instruction{}}), ThreadStatus::illegal);
  EXPECT_EQ(bench.thread.control[1], 1u << 28);
  // If STATE_SIP is set and the exception is enabled, the system routine runs instead.
  bench.thread.control = {0, 1u << 12, 0, 0};
  bench.thread.sip = 32;
  EXPECT_EQ(bench.run({make(Op::nop, 1, null(Type::ud), {}), Instruction{}}), ThreadStatus::ended);
  EXPECT_EQ(bench.thread.control[2], 16u);
  EXPECT_EQ(bench.thread.control[0] >> 31, 1u);
}

}  // namespace
}  // namespace halogen::eu::test
