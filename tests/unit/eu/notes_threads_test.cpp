// Registers of a thread and waits for messages (docs/requirements/notes.md, EU-05 and SF-04).
#include "covers.h"
#include "eu/isa/validator.h"
#include "spec/device_model.h"
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

bool in_range(GenId gen, const Instruction& in) {
  const std::vector<Rule> broken = validate(gen, in);
  return std::ranges::find(broken, Rule::register_out_of_range) == broken.end();
}

// Checks that every dword of r0 to r127 keeps its own value.
void expect_registers(GenId gen) {
  ThreadBench bench(gen);
  std::vector<Instruction> code;
  for (unsigned reg = 0; reg < 128; ++reg) {
    for (unsigned i = 0; i < 8; ++i) {
      code.push_back(no_mask(make(Op::mov, 1, dst(reg, Type::ud, i * 4), {imm(0x1000 + reg * 8 + i, Type::ud)})));
    }
  }
  bench.run(code);
  for (unsigned reg = 0; reg < 128; ++reg) {
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(bench.get<uint32_t>(reg, i), 0x1000 + reg * 8 + i);
    }
  }
  EXPECT_TRUE(in_range(gen, make(Op::mov, 8, dst(127, Type::ud), {imm(0, Type::ud)})));
  EXPECT_FALSE(in_range(gen, make(Op::mov, 8, dst(128, Type::ud), {imm(0, Type::ud)})));
}

TEST(EuNotes, AThreadHas128GeneralAnd24MessageRegisters) {
  COVERS("NOTES-EU-05");
  expect_registers(GenId::gen6);
  EXPECT_EQ(spec::find_device("snb")->topology.threads, 640u / 128);
  // A message reads m0 to m23, each of 256 bits.
  for (unsigned reg = 0; reg < 24; ++reg) {
    ThreadBench bench(GenId::gen6, 0xff);
    std::vector<Instruction> code;
    for (unsigned other = 0; other < 24; ++other) {
      code.push_back(make(Op::mov, 8, mrf_dst(other, Type::ud), {imm(100 + other, Type::ud)}));
      EXPECT_TRUE(in_range(GenId::gen6, code.back()));
    }
    Instruction send = make(Op::send, 8, null(Type::ud), {mrf_dst(reg, Type::ud)});
    send.send.function = 5;
    send.send.descriptor = 1u << 25;
    code.push_back(send);
    unsigned seen = 0;
    bench.target.answer = [&](Thread&, const Message& message) {
      EXPECT_EQ(message.first.size(), 256u / 8);
      for (unsigned i = 0; i < 8; ++i) {
        uint32_t value = 0;
        std::memcpy(&value, message.first.data() + i * 4, 4);
        EXPECT_EQ(value, 100 + reg);
      }
      ++seen;
      return SendOutcome::done;
    };
    bench.run(code);
    EXPECT_EQ(seen, 1u);
  }
  EXPECT_FALSE(in_range(GenId::gen6, make(Op::mov, 8, mrf_dst(24, Type::ud), {imm(0, Type::ud)})));
}

// While a message is blocked, its payload is still needed, so the write after it must not execute, however often the
// thread runs.
TEST(EuNotes, AWriteWaitsUntilABlockedMessageHasReadItsRegister) {
  COVERS("NOTES-SF-04");
  for (const GenId gen : {GenId::gen4, GenId::gen4_5, GenId::gen5, GenId::gen6}) {
    constexpr unsigned kFirst = 4, kLength = 3, kTurns = 5;
    std::vector<Instruction> code;
    for (unsigned i = 0; i < kLength; ++i) {
      code.push_back(make(Op::mov, 8, mrf_dst(kFirst + i, Type::ud), {imm(0x10 + i, Type::ud)}));
    }
    const Operand payload = gen == GenId::gen6 ? mrf_dst(kFirst, Type::ud) : null(Type::ud);
    Instruction send = make(Op::send, 8, null(Type::ud), {payload});
    send.send.function = 5;
    send.send.message_register = kFirst;
    send.send.descriptor = kLength << 25;
    code.push_back(send);
    for (unsigned i = 0; i < kLength; ++i) {
      code.push_back(make(Op::mov, 8, mrf_dst(kFirst + i, Type::ud), {imm(0x20 + i, Type::ud)}));
    }
    code.push_back(send);
    code.push_back(end());
    std::vector<std::array<unsigned, kLength>> delivered;
    unsigned turns = 0;
    Target target;
    target.answer = [&](Thread&, const Message& message) {
      std::array<unsigned, kLength> found{};
      for (unsigned i = 0; i < kLength; ++i) {
        found[i] = static_cast<unsigned>(message.first[i * kGrfBytes]);
      }
      delivered.push_back(found);
      return ++turns < kTurns ? SendOutcome::blocked : SendOutcome::done;
    };
    const auto executor = make_interpreter(gen);
    const auto kernel = executor->prepare(make_code(code), 0);
    Thread thread;
    thread.start(0, 0xff);
    for (unsigned turn = 1; turn < kTurns; ++turn) {
      EXPECT_EQ(executor->run(thread, *kernel, 100, target), ThreadStatus::blocked);
      for (unsigned i = 0; i < kLength; ++i) {
        EXPECT_EQ(static_cast<unsigned>(thread.mrf[(kFirst + i) * kGrfBytes]), 0x10 + i)
            << "written before the message was read";
      }
    }
    EXPECT_EQ(executor->run(thread, *kernel, 100, target), ThreadStatus::ended);
    ASSERT_EQ(delivered.size(), kTurns + 1);
    for (unsigned turn = 0; turn < kTurns; ++turn) {
      EXPECT_EQ(delivered[turn], (std::array{0x10u, 0x11u, 0x12u}));
    }
    EXPECT_EQ(delivered.back(), (std::array{0x20u, 0x21u, 0x22u}));
  }
}

}  // namespace
}  // namespace halogen::eu::test
