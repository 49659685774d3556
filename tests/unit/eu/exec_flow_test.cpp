// Flow control of both models, architecture registers, messages of Gen4 to Gen6, and hostile code.
#include <cmath>

#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

Instruction add_to(unsigned reg, uint32_t value, unsigned size = 16) {
  return make(Op::add, size, dst(reg, Type::ud), {grf(reg, Type::ud), imm(value, Type::ud)});
}
Instruction compare(unsigned reg, Condition condition, uint32_t value, unsigned size = 16) {
  return with(make(Op::cmp, size, null(Type::ud), {grf(reg, Type::ud), imm(value, Type::ud)}), condition);
}
void number_channels(ThreadBench& bench, unsigned reg) {
  for (unsigned i = 0; i < 16; ++i) {
    bench.set<uint32_t>(reg, i, i);
  }
}

class ChannelFlow : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, ChannelFlow,
                         ::testing::Values(GenId::gen6, GenId::gen7, GenId::gen8, GenId::gen9, GenId::gen11,
                                           GenId::gen12));

TEST_P(ChannelFlow, ChannelsOfNestedIfsJoinAtEndif) {
  ThreadBench bench(GetParam(), 0xffff);
  number_channels(bench, 2);
  bench.run({compare(2, Condition::less, 8),         // 0
             when(branch(Op::if_, 16, 6, 7, true)),  // 1 -> 7
             compare(2, Condition::less, 4),         // 2
             when(branch(Op::if_, 16, 2, 2, true)),  // 3 -> 5
             add_to(10, 1),                          // 4
             branch(Op::endif, 16, 1),               // 5
             branch(Op::else_, 16, 2, 2, true),      // 6 -> 8
             add_to(10, 100),                        // 7
             branch(Op::endif, 16, 1),               // 8
             add_to(10, 1000)});
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(10, i), i < 4 ? 1001u : i < 8 ? 1000u : 1100u) << i;
  }
}

TEST_P(ChannelFlow, AnIfWithoutChannelsSkipsItsBody) {
  ThreadBench bench(GetParam(), 0xffff);
  bench.thread.flag[0] = 0;
  bench.run({when(branch(Op::if_, 16, 2, 2, true)), no_mask(add_to(10, 1)), branch(Op::endif, 16, 1)});
  EXPECT_EQ(bench.get<uint32_t>(10, 0), 0u) << "NoMask instructions are skipped too";
}

TEST_P(ChannelFlow, ContinueSkipsTheRestOfAnIteration) {
  // One iteration; odd channels skip the second addition.
  ThreadBench bench(GetParam(), 0xffff);
  number_channels(bench, 2);
  auto odd = with(make(Op::and_, 16, null(Type::ud), {grf(2, Type::ud), imm(1, Type::ud)}), Condition::not_zero);
  bench.run({add_to(4, 1),                            // 0
             odd,                                     // 1
             when(branch(Op::cont, 16, 3, 3, true)),  // 2 -> 5, the while
             add_to(10, 1),                           // 3
             make(Op::nop, 1, null(Type::ud), {}),    // 4
             // The predicate is f0.1, which is never set.
             when(branch(Op::while_, 16, -5), Predicate::normal, false, 1)});
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(4, i), 1u);
    EXPECT_EQ(bench.get<uint32_t>(10, i), 1 - i % 2);
  }
}

TEST_P(ChannelFlow, HaltedChannelsWaitAtUip) {
  ThreadBench bench(GetParam(), 0xffff);
  number_channels(bench, 2);
  bench.run({compare(2, Condition::less, 3), when(branch(Op::halt, 16, 3, 3, true)), add_to(10, 1), add_to(10, 1),
             branch(Op::halt, 16, 1, 1, true), add_to(12, 1)});
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(10, i), i < 3 ? 0u : 2u);
    EXPECT_EQ(bench.get<uint32_t>(12, i), 1u);
  }
}

TEST_P(ChannelFlow, BreakInsideAnIfLeavesTheLoopForItsChannelsOnly) {
  // The break is inside an if; the other channels stay in the loop.
  ThreadBench bench(GetParam(), 0xffff);
  number_channels(bench, 2);
  const int far = GetParam() == GenId::gen6 ? 3 : 2;
  bench.run({add_to(4, 1),  // 0
             with(make(Op::cmp, 16, null(Type::ud), {grf(4, Type::ud), grf(2, Type::ud)}), Condition::greater_equal),
             when(branch(Op::if_, 16, 2, 2, true)),  // 2 -> 4
             branch(Op::break_, 16, 1, far, true),   // 3: UIP is the while, on Gen6 the instruction after it
             branch(Op::endif, 16, 1),               // 4
             branch(Op::while_, 16, -5),             // 5
             add_to(12, 1)});
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(4, i), i == 0 ? 1u : i) << i;
    EXPECT_EQ(bench.get<uint32_t>(12, i), 1u);
  }
}

TEST_P(ChannelFlow, CalledChannelsReturnAndRejoinTheOthers) {
  ThreadBench bench(GetParam(), 0xffff);
  number_channels(bench, 2);
  Instruction call = when(branch(Op::call, 16, 4));
  call.dst = dst(60, Type::ud);
  Instruction again = call;
  again.predicate = Predicate::none;
  again.jip = 2 * 16;
  Instruction ret = make(Op::ret, 16, null(Type::ud), {grf(60, Type::ud, 0, {2, 2, 1})});
  bench.run({compare(2, Condition::less, 5),  // 0
             call,                            // 1 -> 5
             add_to(12, 1),                   // 2
             again,                           // 3 -> 5, with another return address
             branch(Op::jmpi, 1, 3),          // 4 -> 7
             add_to(10, 1),                   // 5
             ret,                             // 6
             add_to(14, 1)});                 // 7
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(10, i), i < 5 ? 2u : 1u) << i;
    EXPECT_EQ(bench.get<uint32_t>(12, i), 1u);
    EXPECT_EQ(bench.get<uint32_t>(14, i), 1u);
  }
}

TEST_P(ChannelFlow, GotoMovesChannelsAndJoinMergesThem) {
  ThreadBench bench(GetParam(), 0xffff);
  number_channels(bench, 2);
  // On Gen8 and Gen9 GOTO moves the channels whose predicate is false, so compilers invert the predicate.
  const bool inverted = GetParam() == GenId::gen8 || GetParam() == GenId::gen9;
  Instruction first = when(branch(Op::goto_, 16, 2, 3, true));
  first.predicate_inverse = inverted;
  Instruction second = branch(Op::goto_, 16, 2, 2, true);
  second = inverted ? when(second) : second;
  bench.run({compare(2, Condition::less, 6), first, add_to(10, 1), second, add_to(10, 100), branch(Op::join, 16, 1),
             add_to(12, 1)});
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(10, i), i < 6 ? 100u : 1u) << i;
    EXPECT_EQ(bench.get<uint32_t>(12, i), 1u);
  }
}

TEST_P(ChannelFlow, BrdTakesATargetPerChannelAndBrcItsUip) {
  ThreadBench bench(GetParam(), 0xffff);
  for (unsigned i = 0; i < 16; ++i) {
    bench.set<int32_t>(2, i, i % 2 == 0 ? 16 : 32);
  }
  Instruction brd = make(Op::brd, 16, null(Type::d), {grf(2, Type::d)});
  bench.run({brd, add_to(10, 1), add_to(10, 1), add_to(10, 1)});
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(10, i), i % 2 == 0 ? 3u : 2u);
  }
  // BRC: channels whose predicate holds continue at UIP.
  bench.thread.flag[0] = 0xff;
  bench.run({when(branch(Op::brc, 16, 1, 2, true)), add_to(12, 1), add_to(12, 1)});
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(12, i), i < 8 ? 1u : 2u);
  }
}

TEST_P(ChannelFlow, SingleProgramFlowTestsChannelZeroForAllChannels) {
  ThreadBench bench(GetParam(), 0xffff);
  bench.thread.control[0] = 4;
  bench.thread.flag[0] = 0x0001;
  bench.run({when(branch(Op::if_, 16, 2, 2, true)), add_to(10, 1), branch(Op::endif, 16, 1)});
  EXPECT_EQ(bench.get<uint32_t>(10, 7), 1u);
  bench.thread.flag[0] = 0xfffe;
  bench.run({when(branch(Op::if_, 16, 2, 2, true)), add_to(12, 1), branch(Op::endif, 16, 1)});
  EXPECT_EQ(bench.get<uint32_t>(12, 7), 0u);
}

TEST(EuFlow, Gen6IfComparesItsSources) {
  ThreadBench bench(GenId::gen6, 0xff);
  number_channels(bench, 2);
  Instruction in = with(branch(Op::if_, 8, 2), Condition::greater);
  in.sources = 2;
  in.src[0] = grf(2, Type::ud);
  in.src[1] = imm(2, Type::ud);
  bench.run({in, add_to(10, 1, 8), branch(Op::endif, 8, 1)});
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(10, i), i > 2 ? 1u : 0u);
  }
}

TEST(EuFlow, RegisterJumpsUseTheBaseAndUnitOfTheirGeneration) {
  const struct {
    GenId gen;
    int32_t value;  // skips one instruction
    unsigned source;
  } cases[]{
      {GenId::gen4_5, 1, 1}, {GenId::gen6, 2, 1}, {GenId::gen7_5, 16, 1}, {GenId::gen9, 16, 1}, {GenId::gen12, 32, 0}};
  for (const auto& one : cases) {
    ThreadBench bench(one.gen, 0xffff);
    bench.set(2, 0, one.value);
    Instruction in = make(Op::jmpi, 1, arf(Arf::ip, Type::ud), {});
    in.sources = 2;
    in.src[one.source] = scalar(2, Type::d);
    bench.run({in, add_to(10, 1), add_to(10, 10)});
    EXPECT_EQ(bench.get<uint32_t>(10, 0), 10u);
  }
}

class StackFlow : public ::testing::TestWithParam<GenId> {};
INSTANTIATE_TEST_SUITE_P(All, StackFlow, ::testing::Values(GenId::gen4, GenId::gen4_5, GenId::gen5));

Instruction popping(Instruction in, unsigned count) {
  in.pop_count = static_cast<uint8_t>(count);
  return in;
}

TEST_P(StackFlow, IfElseEndifRestoresTheMaskStack) {
  for (const uint32_t flags : {0x00f0u, 0x0000u, 0xffffu}) {
    ThreadBench bench(GetParam(), 0xffff);
    bench.thread.flag[0] = flags;
    bench.run({when(branch(Op::if_, 16, 2)),          // 0: without channels to the else
               add_to(10, 1),                         // 1
               popping(branch(Op::else_, 16, 3), 1),  // 2: without channels past the endif
               add_to(10, 2),                         // 3
               popping(branch(Op::endif, 16, 0), 1),  // 4
               add_to(10, 10)});                      // 5
    for (unsigned i = 0; i < 16; ++i) {
      EXPECT_EQ(bench.get<uint32_t>(10, i), ((flags >> i) & 1) != 0 ? 11u : 12u) << i << " of " << flags;
    }
    EXPECT_EQ(bench.thread.masks.if_depth, 0);
  }
}

TEST_P(StackFlow, IffPushesNothingIfNoChannelEnters) {
  for (const uint32_t flags : {0x0ff0u, 0x0000u}) {
    ThreadBench bench(GetParam(), 0xffff);
    bench.thread.flag[0] = flags;
    bench.run({when(branch(Op::iff, 16, 3)), add_to(10, 1), popping(branch(Op::endif, 16, 0), 1), add_to(10, 10)});
    for (unsigned i = 0; i < 16; ++i) {
      EXPECT_EQ(bench.get<uint32_t>(10, i), ((flags >> i) & 1) != 0 ? 11u : 10u);
    }
    EXPECT_EQ(bench.thread.masks.if_depth, 0);
  }
}

TEST_P(StackFlow, BreakAndContinueActPerChannel) {
  ThreadBench bench(GetParam(), 0xffff);
  number_channels(bench, 2);
  auto odd = with(make(Op::and_, 16, null(Type::ud), {grf(2, Type::ud), imm(1, Type::ud)}), Condition::not_zero);
  bench.run({branch(Op::do_, 16, 0),  // 0
             add_to(4, 1),            // 1
             with(make(Op::cmp, 16, null(Type::ud), {grf(4, Type::ud), grf(2, Type::ud)}), Condition::greater),
             when(branch(Op::break_, 16, 5)),  // 3 -> 8
             odd,                              // 4
             when(branch(Op::cont, 16, 2)),    // 5 -> 7
             add_to(10, 1),                    // 6
             branch(Op::while_, 16, -6),       // 7 -> 1
             add_to(12, 1)});                  // 8
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(4, i), i + 1) << i;
    EXPECT_EQ(bench.get<uint32_t>(10, i), i % 2 == 0 ? i : 0u);
    EXPECT_EQ(bench.get<uint32_t>(12, i), 1u);
  }
  EXPECT_EQ(bench.thread.masks.loop_depth, 0);
}

TEST_P(StackFlow, BreakInsideAnIfPopsTheIfMask) {
  ThreadBench bench(GetParam(), 0xffff);
  bench.thread.flag[0] = 0xffff;
  bench.run({branch(Op::do_, 16, 0), when(branch(Op::if_, 16, 2)), popping(branch(Op::break_, 16, 3), 1),
             popping(branch(Op::endif, 16, 0), 1), branch(Op::while_, 16, -3), add_to(10, 1)});
  EXPECT_EQ(bench.get<uint32_t>(10, 3), 1u);
  EXPECT_EQ(bench.thread.masks.if_depth, 0);
  EXPECT_EQ(bench.thread.masks.loop_depth, 0);
}

TEST_P(StackFlow, AFullMaskStackSetsTheOverflowBit) {
  ThreadBench bench(GetParam(), 0xffff);
  bench.thread.flag[0] = 0xffff;
  std::vector<Instruction> code(kMaskStack + 1, when(branch(Op::if_, 16, 1)));
  bench.run(code);
  EXPECT_EQ(bench.thread.control[1], ExceptionBits::kStackOverflow);
}

TEST_P(StackFlow, ReloadingTheMaskResumesHaltedChannels) {
  ThreadBench bench(GetParam(), 0xffff);
  bench.thread.flag[0] = 0x00ff;
  Operand mask = arf(Arf::mask, Type::uw, 0, 0, {0, 1, 1});
  bench.run({when(branch(Op::halt, 16, 2)), add_to(10, 1),
             no_mask(make(Op::mov, 1, mask, {arf(Arf::state, Type::uw, 0, 4, {0, 1, 0})})), add_to(10, 10)});
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_EQ(bench.get<uint32_t>(10, i), i < 8 ? 10u : 11u);
  }
}

TEST_P(StackFlow, AWriteToTheInstructionPointerJumps) {
  ThreadBench bench(GetParam(), 0xffff);
  Operand ip = arf(Arf::ip, Type::ud, 0, 0, {0, 1, 0});
  Operand to = ip;
  to.region = {0, 1, 1};
  bench.run({make(Op::add, 1, to, {ip, imm(32, Type::ud)}), add_to(10, 1), add_to(10, 10)});
  EXPECT_EQ(bench.get<uint32_t>(10, 0), 10u);
}

TEST_P(StackFlow, SendMovesItsSourceToTheMessageRegisters) {
  ThreadBench bench(GetParam(), 0xff);
  bench.fill<uint32_t>(5, {1, 2, 3, 4, 5, 6, 7, 8});
  Instruction in = make(Op::send, 8, dst(40, Type::ud), {grf(5, Type::ud)});
  in.send.function = 4;
  in.send.message_register = 3;
  in.send.descriptor = (2u << 25) | (1u << 20);
  bench.target.answer = [](Thread&, const Message& message) {
    EXPECT_EQ(message.first.size(), 64u);
    EXPECT_EQ(static_cast<unsigned>(message.first[4]), 2u);
    return SendOutcome::done;
  };
  bench.run(in);
  EXPECT_EQ(bench.target.count, 2u);
  EXPECT_EQ(static_cast<unsigned>(bench.thread.mrf[3 * 32 + 4]), 2u);
}

TEST_P(StackFlow, SendMovesTwoRegistersOnlyIfCompressed) {
  for (const bool compressed : {false, true}) {
    ThreadBench bench(GetParam(), 0xffff);
    bench.fill<uint32_t>(5, {1, 2, 3, 4, 5, 6, 7, 8});
    bench.fill<uint32_t>(6, {9, 9, 9, 9, 9, 9, 9, 9});
    Instruction in = make(Op::send, 16, dst(40, Type::ud), {grf(5, Type::f)});
    in.compressed = compressed;
    in.send.function = 2;
    in.send.message_register = 3;
    in.send.descriptor = 3u << 25 | 1u << 20;
    bench.run(in);
    EXPECT_EQ(static_cast<unsigned>(bench.thread.mrf[3 * 32 + 28]), 8u);
    EXPECT_EQ(static_cast<unsigned>(bench.thread.mrf[4 * 32]), compressed ? 9u : 0u);
  }
}

TEST_P(StackFlow, TheMathBoxComputesRootsAndDivisions) {
  ThreadBench bench(GetParam(), 0xff);
  for (unsigned i = 0; i < 8; ++i) {
    bench.set(5, i, static_cast<float>(i + 1));
  }
  Instruction in = make(Op::send, 8, dst(40, Type::f), {grf(5, Type::f)});
  in.send.function = 1;
  in.send.message_register = 2;
  in.send.descriptor = (1u << 25) | (1u << 20) | 4;  // sqrt
  bench.run(in);
  EXPECT_EQ(bench.target.count, 1u) << "the target gets the end of thread only";
  EXPECT_EQ(bench.get<float>(40, 3), 2.0f);
  EXPECT_EQ(bench.get<float>(40, 1), std::sqrt(2.0f));
  // Division: the denominator is the first operand. Function 11 returns quotient and remainder.
  bench.fill<int32_t>(6, {2, -2, 7, 3, 1, 5, 4, 0});
  bench.fill<int32_t>(7, {9, 9, -50, 10, 11, 12, 13, 14});
  in.src[0] = grf(6, Type::d);
  in.send.descriptor = (2u << 25) | (2u << 20) | 0x10 | 11;
  bench.run({make(Op::mov, 8, mrf_dst(3, Type::d), {grf(7, Type::d)}), in});
  EXPECT_EQ(bench.get<int32_t>(40, 0), 4);
  EXPECT_EQ(bench.get<int32_t>(41, 0), 1);
  EXPECT_EQ(bench.get<int32_t>(40, 2), -7);
  EXPECT_EQ(bench.get<int32_t>(41, 2), -1);
}

TEST(EuFlow, Gen6SendsFromMessageRegisters) {
  ThreadBench bench(GenId::gen6, 0xff);
  bench.thread.mrf[2 * 32] = std::byte{42};
  Operand payload = grf(2, Type::ud);
  payload.file = File::mrf;
  Instruction in = make(Op::send, 8, null(Type::ud), {payload});
  in.send.function = 5;
  in.send.descriptor = 1u << 25;
  bench.target.answer = [](Thread&, const Message& message) {
    EXPECT_EQ(static_cast<unsigned>(message.first[0]), 42u);
    return SendOutcome::done;
  };
  bench.run(in);
  EXPECT_EQ(bench.target.count, 2u);
}

TEST(EuFlow, ArchitectureRegistersHoldMasksFlagsAndAddresses) {
  ThreadBench bench(GenId::gen9, 0x0f0f);
  const auto read = [&](Operand from) {
    from.region = {0, 1, 0};
    bench.run(no_mask(make(Op::mov, 1, dst(4, Type::ud), {from})));
    return bench.get<uint32_t>(4, 0);
  };
  EXPECT_EQ(read(arf(Arf::state, Type::ud, 0, 8)), 0x0f0fu) << "sr0.2 is the dispatch mask";
  EXPECT_EQ(read(arf(Arf::mask, Type::ud)) & 0x0f0f, 0x0f0fu) << "ce0";
  EXPECT_EQ(read(arf(Arf::ip, Type::ud)), 0u);
  EXPECT_EQ(read(arf(Arf::null, Type::ud)), 0u);
  bench.thread.flag = {0x1234'5678, 0x9abc'def0};
  EXPECT_EQ(read(arf(Arf::flag, Type::ud, 1)), 0x9abc'def0u);
  bench.thread.address[3] = 99;
  EXPECT_EQ(read(arf(Arf::address, Type::uw, 0, 6)), 99u);
  // ce0 & sr0.2 gives the enabled channels, inside a branch too.
  bench.thread.flag[0] = 0x00ff;
  Operand ce = arf(Arf::mask, Type::ud, 0, 0, {0, 1, 0});
  bench.run({when(branch(Op::if_, 16, 2, 2, true)),
             no_mask(make(Op::and_, 1, dst(5, Type::ud), {ce, arf(Arf::state, Type::ud, 0, 8, {0, 1, 0})})),
             branch(Op::endif, 16, 1)});
  EXPECT_EQ(bench.get<uint32_t>(5, 0), 0x000fu);
  // A write of cr0 takes effect with the next instruction.
  bench.set(6, 0, uint32_t{0x0000'1000});
  Operand control = arf(Arf::control, Type::ud, 0, 0, {0, 1, 1});
  bench.run({make(Op::add, 1, dst(7, Type::f), {scalar(6, Type::f), imm_f(0.0f)}),
             make(Op::or_, 1, control, {arf(Arf::control, Type::ud, 0, 0, {0, 1, 0}), imm(0x4c0, Type::ud)}),
             make(Op::add, 1, dst(8, Type::f), {scalar(6, Type::f), imm_f(0.0f)})});
  EXPECT_EQ(bench.get<uint32_t>(7, 0), 0u);
  EXPECT_EQ(bench.get<uint32_t>(8, 0), 0x0000'1000u);
}

TEST(EuFlow, SendReadsBothDescriptorsFromTheAddressRegister) {
  ThreadBench bench(GenId::gen12, 0xff);
  Instruction in = make(Op::send, 8, null(Type::ud), {grf(20, Type::ud), grf(30, Type::ud)});
  in.send.function = 10;
  in.send.descriptor_in_register = true;
  in.send.extended_in_register = true;
  in.send.extended_address_sub = 2;
  bench.thread.address[0] = 0x0123;
  bench.thread.address[1] = 0x0200;  // one register of payload
  bench.thread.address[4] = 1u << 6;
  bench.thread.address[5] = 0x7777;
  bench.target.answer = [](Thread&, const Message& message) {
    EXPECT_EQ(message.descriptor, 0x0200'0123u);
    EXPECT_EQ(message.extended, 0x7777'0040u);
    EXPECT_EQ(message.first.size(), 32u);
    EXPECT_EQ(message.second.size(), 32u);
    return SendOutcome::done;
  };
  bench.run(in);
  EXPECT_EQ(bench.target.count, 2u);
}

TEST(EuFlow, APayloadBeyondTheLastRegisterIsIllegal) {
  ThreadBench bench(GenId::gen9, 0xff);
  Instruction in = make(Op::send, 8, null(Type::ud), {grf(126, Type::ud)});
  in.send.descriptor = 4u << 25;
  EXPECT_EQ(bench.run(in), ThreadStatus::illegal);
  EXPECT_EQ(bench.target.count, 0u);
}

TEST(EuFlow, AFaultStopsTheThread) {
  ThreadBench bench(GenId::gen9, 0xff);
  Instruction in = make(Op::send, 8, null(Type::ud), {grf(20, Type::ud)});
  in.send.descriptor = 1u << 25;
  bench.target.answer = [](Thread&, const Message&) { return SendOutcome::fault; };
  EXPECT_EQ(bench.run(in), ThreadStatus::faulted);
}

TEST(EuFlow, AJumpOutsideTheCodeFaults) {
  ThreadBench bench(GenId::gen9, 0xff);
  EXPECT_EQ(bench.run(branch(Op::jmpi, 1, 1 << 20)), ThreadStatus::faulted);
  EXPECT_EQ(bench.run(branch(Op::jmpi, 1, -1)), ThreadStatus::faulted);
}

TEST(EuFlow, ExecutedInstructionsAreCountedByOperationAndTypes) {
  const std::vector code{make(Op::add, 8, dst(4, Type::f), {grf(2, Type::f), grf(3, Type::f)}),
                         make(Op::mov, 8, dst(4, Type::d), {grf(2, Type::f)}),
                         [] {
                           auto in = make(Op::math, 8, dst(4, Type::f), {grf(2, Type::f)});
                           in.math = MathFunction::sin;
                           return in;
                         }(),
                         end()};
  const auto executor = make_interpreter(GenId::gen9);
  const auto kernel = executor->prepare(make_code(code), 0);
  const auto counts = executor->make_counts(*kernel);
  Target target;
  for (unsigned i = 0; i < 3; ++i) {
    Thread thread;
    thread.start(0, 0xff);
    executor->run(thread, *kernel, 100, target, counts.get());
  }
  FidelityReport report;
  counts->report(report);
  const auto entry = [&](const char* name) { return report.entries().at({FidelityKind::instruction, name}); };
  EXPECT_EQ(entry("add f,f->f").count, 3u);
  EXPECT_EQ(entry("mov f->d").count, 3u);
  EXPECT_EQ(entry("math.sin f->f").fidelity, FidelityClass::approximate);
  EXPECT_EQ(entry("math.sin f->f").reason, "8e-4 absolute in +-32767 pi");
  EXPECT_EQ(entry("send 7").count, 3u);
  EXPECT_EQ(kernel->instruction_count(), 4u);
}

// Every field has a random value. The thread must end or use up its budget, and sanitizers must find no other access.
TEST(EuFlow, AnyInstructionStaysWithinThreadStateAndBudget) {
  for (const GenId gen : kGens) {
    const auto executor = make_interpreter(gen);
    for (uint64_t seed = 1; seed <= 1500; ++seed) {
      Random random(seed * 31 + static_cast<uint64_t>(gen));
      std::vector<Instruction> code(8);
      for (Instruction& in : code) {
        in = random_instruction(random, gen);
        const auto anything = [&](Operand& operand) {
          operand.file = static_cast<File>(random.below(4));
          operand.reg = static_cast<uint8_t>(random.bits());
          operand.sub = static_cast<uint8_t>(random.below(32));
          operand.type = static_cast<Type>(random.below(15));
          operand.region = {static_cast<uint8_t>(random.below(33)), static_cast<uint8_t>(random.below(17)),
                            static_cast<uint8_t>(random.below(5)), random.chance(50)};
          operand.indirect = random.chance(30);
          operand.address_sub = static_cast<uint8_t>(random.below(16));
          operand.address_offset = static_cast<int16_t>(static_cast<int>(random.below(1024)) - 512);
          operand.macro = static_cast<uint8_t>(random.below(9));
          operand.immediate = random.bits();
          operand.swizzle = {static_cast<uint8_t>(random.below(4)), static_cast<uint8_t>(random.below(4)), 2, 1};
        };
        in.op = static_cast<Op>(random.below(static_cast<unsigned>(Op::nop) + 1));
        anything(in.dst);
        for (Operand& operand : in.src) {
          anything(operand);
        }
        in.exec_size = static_cast<uint8_t>(1u << random.below(6));
        in.first_channel = static_cast<uint8_t>(random.below(8) * 4);
        in.align16 = random.chance(20);
        in.math = static_cast<MathFunction>(random.below(16));
        in.predicate = static_cast<Predicate>(random.below(18));
        in.condition = static_cast<Condition>(random.below(10));
        in.accumulator_write = random.chance(30);
        in.saturate = random.chance(30);
        in.has_jip = random.chance(80);
        in.has_uip = random.chance(50);
        in.jip = (static_cast<int>(random.below(9)) - 4) * 8;
        in.uip = (static_cast<int>(random.below(9)) - 4) * 16;
        in.pop_count = static_cast<uint8_t>(random.below(16));
        in.send.descriptor = static_cast<uint32_t>(random.bits());
        in.send.extended = static_cast<uint32_t>(random.bits());
        in.send.function = static_cast<uint8_t>(random.below(16));
        in.send.descriptor_in_register = random.chance(20);
        in.send.extended_in_register = random.chance(20);
        in.send.extended_address_sub = static_cast<uint8_t>(random.below(8));
        in.send.message_register = static_cast<uint8_t>(random.below(16));
        in.size = random.chance(30) ? uint8_t{8} : uint8_t{16};
      }
      const auto kernel = executor->prepare(make_code(code), 0);
      Thread thread;
      randomise(random, thread);
      thread.start(0, static_cast<uint32_t>(random.bits()));
      Target target;
      executor->run(thread, *kernel, 100, target);
      ASSERT_LE(thread.instructions, 100u);
    }
  }
}

}  // namespace
}  // namespace halogen::eu::test
