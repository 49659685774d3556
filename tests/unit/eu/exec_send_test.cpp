// Sends whose descriptor is in the address register, in the layout of Gen4 and Gen4.5, and write masks of sends.
#include "exec_support.h"

namespace halogen::eu::test {
namespace {

class RegisterDescriptor : public testing::TestWithParam<GenId> {};

Instruction send_by_register() {
  Instruction in = make(Op::send, 8, dst(40, Type::ud), {grf(20, Type::ud)});
  in.send.descriptor_in_register = true;
  in.send.message_register = 3;
  return in;
}

TEST_P(RegisterDescriptor, NamesTheFunctionAndHasAHeader) {
  ThreadBench bench(GetParam(), 0xff);
  constexpr uint32_t kDescriptor = 5u << 24 | 2u << 20 | 1u << 16 | 0x4203;  // function, lengths, control
  bench.thread.address[0] = static_cast<uint16_t>(kDescriptor & 0xffff);
  bench.thread.address[1] = static_cast<uint16_t>(kDescriptor >> 16);
  bench.target.answer = [](Thread&, const Message& message) {
    EXPECT_EQ(message.function, 5);
    EXPECT_EQ(message.descriptor, 2u << 25 | 1u << 20 | 1u << 19 | 0x4203u);
    EXPECT_EQ(message.first.size(), 2 * kGrfBytes);
    EXPECT_EQ(message.response.size(), kGrfBytes);
    EXPECT_FALSE(message.end_of_thread);
    return SendOutcome::done;
  };
  EXPECT_EQ(bench.run(send_by_register()), ThreadStatus::ended);
  EXPECT_EQ(bench.target.count, 2u);
}

TEST_P(RegisterDescriptor, AlsoSelectsTheMathBox) {
  ThreadBench bench(GetParam(), 0xff);
  bench.fill<float>(20, {4.0f, 9.0f, 16.0f});
  bench.thread.address[0] = 4;  // square root
  bench.thread.address[1] = 1u << 8 | 1u << 4 | 1;
  Instruction in = send_by_register();
  in.dst.type = in.src[0].type = Type::f;
  EXPECT_EQ(bench.run(in), ThreadStatus::ended);
  EXPECT_EQ(bench.get<float>(40, 1), 3.0f);
  EXPECT_EQ(bench.target.count, 1u) << "the target gets the end of thread only";
}

INSTANTIATE_TEST_SUITE_P(Generations, RegisterDescriptor, testing::Values(GenId::gen4, GenId::gen4_5));

// Mesa's kernels write single components of arrays in scratch memory, which the destination's write mask selects.
TEST(WriteMask, SelectsTheComponentsThatAMessageWrites) {
  constexpr uint8_t kSampler = 2;
  constexpr uint8_t kDataPortWrite = 5;
  for (const uint8_t function : {kSampler, kDataPortWrite}) {
    ThreadBench bench(GenId::gen4_5, 0xff);
    Instruction in = make(Op::send, 8, dst(40, Type::f), {grf(20, Type::f)});
    in.align16 = true;
    in.dst.write_mask = 2;  // y
    in.send.function = function;
    in.send.message_register = 3;
    in.send.descriptor = 3u << 25 | 1u << 20 | 1u << 19;
    uint32_t channels = 0;
    bench.target.answer = [&](Thread&, const Message& message) {
      channels = message.end_of_thread ? channels : message.channels;
      return SendOutcome::done;
    };
    EXPECT_EQ(bench.run(in), ThreadStatus::ended);
    EXPECT_EQ(channels, function == kDataPortWrite ? 0x22u : 0xffu);
  }
}

// Vertex kernels of Gen4 build a vector from three responses of the math box.
TEST(WriteMask, SelectsTheComponentsThatTheMathBoxWrites) {
  constexpr uint8_t kMath = 1;
  constexpr uint32_t kRoot = 4;
  for (const GenId gen : {GenId::gen4, GenId::gen4_5}) {
    ThreadBench bench(gen, 0xff);
    bench.fill<float>(20, {4.0f, 9.0f, 16.0f, 25.0f, 36.0f, 49.0f, 64.0f, 81.0f});
    bench.fill<float>(40, {-1.0f, -2.0f, -3.0f, -4.0f, -5.0f, -6.0f, -7.0f, -8.0f});
    Instruction in = make(Op::send, 8, dst(40, Type::f), {grf(20, Type::f)});
    in.align16 = true;
    in.dst.write_mask = 4;  // z
    in.send.function = kMath;
    in.send.message_register = 3;
    in.send.descriptor = 1u << 25 | 1u << 20 | kRoot;
    EXPECT_EQ(bench.run(in), ThreadStatus::ended);
    const float wanted[] = {-1.0f, -2.0f, 4.0f, -4.0f, -5.0f, -6.0f, 8.0f, -8.0f};
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(bench.get<float>(40, i), wanted[i]) << i;
    }
  }
}

TEST(WriteMask, AppliesToSendsWithoutAnImpliedMove) {
  ThreadBench bench(GenId::gen6, 0xff);
  Instruction in = make(Op::send, 8, null(Type::ud), {grf(20, Type::ud)});
  in.align16 = true;
  in.dst.write_mask = 4;  // z
  in.send.function = 5;
  in.send.descriptor = 3u << 25 | 1u << 19;
  uint32_t channels = 0;
  bench.target.answer = [&](Thread&, const Message& message) {
    channels = message.end_of_thread ? channels : message.channels;
    return SendOutcome::done;
  };
  EXPECT_EQ(bench.run(in), ThreadStatus::ended);
  EXPECT_EQ(channels, 0x44u);
}

}  // namespace
}  // namespace halogen::eu::test
