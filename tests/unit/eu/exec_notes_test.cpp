// Requirements of the notes (seed 004) about execution units and messages of Gen4 to Gen6: docs/requirements/notes.md.
#include "covers.h"
#include "eu/isa/decoder.h"
#include "eu/isa/encoder.h"
#include "eu/isa/printer.h"
#include "unit/eu/exec_random.h"

namespace halogen::eu::test {
namespace {

constexpr GenId kGen4To6[]{GenId::gen4, GenId::gen4_5, GenId::gen5, GenId::gen6};

TEST(EuNotes, ConversionsRoundExtendTruncateAndClamp) {
  COVERS("NOTES-EU-02");
  const struct {
    Type to;
    Type from;
    bool saturate;
    uint32_t source;
    uint32_t result;  // of the destination's width
  } cases[]{
      {Type::d, Type::f, false, std::bit_cast<uint32_t>(2.9f), 2},  // toward zero
      {Type::d, Type::f, false, std::bit_cast<uint32_t>(-2.9f), 0xffff'fffe},
      {Type::f, Type::d, false, 0x00ff'ffff, 0x4b7f'ffff},  // 24 bits are exact
      {Type::f, Type::d, false, 0x0100'0001, 0x4b80'0000},  // more bits round to nearest even
      {Type::f, Type::d, false, 0x0100'0003, 0x4b80'0002},
      {Type::ud, Type::uw, false, 0xffff, 0x0000'ffff},  // unsigned: zero extension
      {Type::d, Type::ub, false, 0x80, 0x0000'0080},
      {Type::d, Type::w, false, 0x8001, 0xffff'8001},  // signed: sign extension
      {Type::w, Type::b, false, 0x80, 0xff80},
      {Type::ud, Type::w, true, 0x8001, 0},             // negative to unsigned, saturated
      {Type::ud, Type::w, false, 0x8001, 0xffff'8001},  // not saturated: sign extension
      {Type::ud, Type::w, true, 0x7001, 0x0000'7001},
      {Type::w, Type::d, false, 0x1234'8765, 0x8765},  // narrower: truncated
      {Type::w, Type::d, true, 0x1234'8765, 0x7fff},   // saturated: clamped
      {Type::ub, Type::d, true, 0xffff'fff0, 0},
      {Type::ub, Type::d, false, 0xffff'fff0, 0xf0},
      {Type::d, Type::ud, false, 0x8000'0000, 0x8000'0000},  // same width
      {Type::d, Type::ud, true, 0x8000'0000, 0x7fff'ffff},
  };
  for (const GenId gen : kGen4To6) {
    for (const auto& one : cases) {
      ThreadBench bench(gen);
      bench.set(2, 0, one.source);
      Instruction in = make(Op::mov, 1, dst(4, one.to), {scalar(2, one.from)});
      in.saturate = one.saturate;
      bench.run(in);
      EXPECT_EQ(bench.get<uint32_t>(4, 0), one.result)
          << static_cast<int>(one.from) << " to " << static_cast<int>(one.to);
    }
  }
}

// Checks the numbers of architecture registers with words from other assemblers: intel-gen4asm for Gen4, and iga64 for
// Gen8 registers that intel-gen4asm does not know.
void expect_numbers() {
  const struct {
    GenId gen;
    std::array<uint32_t, 4> word;
    std::string_view name;
    unsigned number;
  } moves[]{{GenId::gen4, {1, 0x2040'0001, 0x0000, 0}, " null", 0x00},
            {GenId::gen4, {1, 0x2040'0001, 0x0200, 0}, " a0", 0x10},
            {GenId::gen4, {1, 0x2040'0001, 0x0420, 0}, " acc1", 0x21},
            {GenId::gen4, {1, 0x2040'0001, 0x0600, 0}, " f0", 0x30},
            {GenId::gen4, {1, 0x2040'0001, 0x0800, 0}, " mask0", 0x40},
            {GenId::gen4, {1, 0x2040'0201, 0x0a00, 0}, " ms0", 0x50},
            {GenId::gen4, {1, 0x2040'0001, 0x0e00, 0}, " sr0", 0x70},
            {GenId::gen4, {1, 0x2040'0001, 0x1000, 0}, " cr0", 0x80},
            {GenId::gen4, {1, 0x2040'0001, 0x1200, 0}, " n0", 0x90},
            {GenId::gen4, {1, 0x2040'0001, 0x1400, 0}, " ip", 0xa0},
            {GenId::gen8, {1, 0x2040'1008, 0x1600, 0}, " tdr0", 0xb0},
            {GenId::gen8, {1, 0x2040'0008, 0x1800, 0}, " tm0", 0xc0}};
  for (const auto& move : moves) {
    const Decoded decoded = decode(move.gen, std::as_bytes(std::span(move.word)));
    EXPECT_EQ(decoded.instruction.src[0].file, File::arf) << move.name;
    EXPECT_EQ(decoded.instruction.src[0].reg, move.number) << move.name;
    EXPECT_NE(print(move.gen, decoded.instruction).find(move.name), std::string::npos) << move.name;
  }
}

TEST(EuNotes, ArchitectureRegistersHaveTheDocumentedElements) {
  COVERS("NOTES-EU-06");
  expect_numbers();
  const struct {
    uint8_t number;
    Type type;
    unsigned elements;
  } registers[]{{0x10, Type::uw, 8},                                                                 // a0
                {0x20, Type::d, 8},                                                                  // acc0
                {0x21, Type::d, 8},  {0x20, Type::w, 16}, {0x21, Type::w, 16}, {0x30, Type::uw, 2},  // f0
                {0x70, Type::ud, 4},                                                                 // sr0
                {0x80, Type::ud, 4},                                                                 // cr0
                {0x90, Type::ud, 3},                                                                 // n0
                {0xb0, Type::uw, 8}};                                                                // tdr0
  for (const GenId gen : kGen4To6) {
    for (const auto& one : registers) {
      ThreadBench bench(gen);
      // Write a different value to each element, then read all of them.
      std::vector<Instruction> code;
      for (unsigned i = 0; i < one.elements; ++i) {
        Operand to = dst(0, one.type, i * size_of(one.type));
        to.file = File::arf;
        to.reg = one.number;
        code.push_back(no_mask(make(Op::mov, 1, to, {imm(0x100 * i + 0x10, one.type)})));
      }
      for (unsigned i = 0; i < one.elements; ++i) {
        Operand from = scalar(0, one.type, i * size_of(one.type));
        from.file = File::arf;
        from.reg = one.number;
        code.push_back(no_mask(make(Op::mov, 1, dst(10 + i, Type::ud), {from})));
      }
      bench.run(code);
      for (unsigned i = 0; i < one.elements; ++i) {
        EXPECT_EQ(bench.get<uint32_t>(10 + i, 0), 0x100 * i + 0x10) << static_cast<int>(one.number) << "." << i;
      }
      // After the last element, writes are dropped and reads return 0.
      const unsigned beyond = one.elements * size_of(one.type);
      if (beyond < 32) {
        const Thread before = bench.thread;
        Operand to = dst(0, one.type, beyond);
        to.file = File::arf;
        to.reg = one.number;
        Operand from = scalar(0, one.type, beyond);
        from.file = File::arf;
        from.reg = one.number;
        bench.run({no_mask(make(Op::mov, 1, to, {imm(0x77, one.type)})),
                   no_mask(make(Op::mov, 1, dst(30, Type::ud), {from}))});
        EXPECT_EQ(bench.get<uint32_t>(30, 0), 0u) << static_cast<int>(one.number);
        EXPECT_EQ(bench.thread.address, before.address);
        EXPECT_EQ(bench.thread.flag, before.flag);
        EXPECT_EQ(bench.thread.state[4], 0u);  // run() has rewritten the masks in state[1] to state[3]
        EXPECT_EQ(bench.thread.control, before.control);
        EXPECT_EQ(bench.thread.notification, before.notification);
        EXPECT_EQ(bench.thread.dependency, before.dependency);
      }
    }
    // There are two accumulators of 8 dwords or 16 words and one flag register: acc2 and f1 do not exist.
    {
      ThreadBench bench(gen);
      const auto third = arf(Arf::accumulator, Type::ud, 2, 0, {0, 1, 1});
      const auto second_flag = arf(Arf::flag, Type::ud, 1, 0, {0, 1, 1});
      bench.thread.accumulator.fill(std::byte{0});
      bench.run({make(Op::mov, 8, third, {imm(5, Type::ud)}), make(Op::mov, 1, second_flag, {imm(5, Type::ud)}),
                 make(Op::mov, 16, arf(Arf::accumulator, Type::w, 0, 0, {0, 1, 1}), {imm(3, Type::w)}),
                 make(Op::mov, 8, arf(Arf::accumulator, Type::d, 1, 0, {0, 1, 1}), {imm(4, Type::d)}),
                 make(Op::mov, 16, dst(4, Type::w), {arf(Arf::accumulator, Type::w, 0, 0, {16, 16, 1})}),
                 make(Op::mov, 8, dst(5, Type::d), {arf(Arf::accumulator, Type::d, 1)})});
      EXPECT_EQ(bench.thread.flag[1], 0u);
      for (size_t i = 2 * kGrfBytes; i < bench.thread.accumulator.size(); ++i) {
        EXPECT_EQ(bench.thread.accumulator[i], std::byte{0});
      }
      for (unsigned i = 0; i < 16; ++i) {
        EXPECT_EQ(bench.get<int16_t>(4, i), 3);
        EXPECT_EQ(bench.get<int32_t>(5, i % 8), 4);
      }
    }
    // null drops writes, ip is the instruction's address, cr0.2 is the address of an exception.
    ThreadBench bench(gen);
    Operand ip = scalar(0, Type::ud);
    ip.file = File::arf;
    ip.reg = 0xa0;
    EXPECT_EQ(bench.run({make(Op::mov, 1, null(Type::ud), {imm(5, Type::ud)}),
                         make(Op::mov, 1, dst(4, Type::ud), {null(Type::ud)}), make(Op::mov, 1, dst(5, Type::ud), {ip}),
                         Instruction{}}),
              ThreadStatus::illegal);
    EXPECT_EQ(bench.get<uint32_t>(4, 0), 0u);
    EXPECT_EQ(bench.get<uint32_t>(5, 0), 32u);
    EXPECT_EQ(bench.thread.control[2], 48u);
  }
}

TEST(EuNotes, RegionsSelectRowsAndColumns) {
  for (const GenId gen : kGen4To6) {
    for (const unsigned vertical : {0u, 1u, 2u, 4u, 8u, 16u}) {
      for (const unsigned width : {1u, 2u, 4u, 8u}) {
        for (const unsigned horizontal : {0u, 1u, 2u, 4u}) {
          ThreadBench bench(gen);
          for (unsigned i = 0; i < 256; ++i) {
            bench.set<uint16_t>(20, i, static_cast<uint16_t>(i));
          }
          const Region region{static_cast<uint8_t>(vertical), static_cast<uint8_t>(width),
                              static_cast<uint8_t>(horizontal)};
          bench.run(make(Op::mov, 8, dst(4, Type::uw, 2, 2), {grf(20, Type::uw, 6, region)}));
          for (unsigned i = 0; i < 8; ++i) {
            // The origin is element 3.
            EXPECT_EQ(bench.get<uint16_t>(4, 1 + 2 * i), 3 + i / width * vertical + i % width * horizontal);
          }
        }
      }
    }
    // A compressed instruction of 16 dwords writes two registers.
    ThreadBench bench(gen);
    auto in = make(Op::mov, 16, dst(4, Type::ud), {imm(9, Type::ud)});
    in.compressed = true;
    bench.run(in);
    EXPECT_EQ(bench.get<uint32_t>(5, 7), 9u);
    EXPECT_EQ(bench.get<uint32_t>(6, 0), 0u);
  }
}

TEST(EuNotes, IndirectRegionsHaveOneAddressOrOnePerRow) {
  COVERS("NOTES-EU-09");
  for (const GenId gen : kGen4To6) {
    for (const unsigned width : {0u, 1u, 2u, 4u}) {  // 0: one address for all rows
      ThreadBench bench(gen);
      for (unsigned i = 0; i < 128; ++i) {
        bench.set<uint32_t>(20, i, i);
      }
      for (unsigned i = 0; i < 8; ++i) {
        bench.thread.address[i] = static_cast<uint16_t>(20 * 32 + (i * 37 % 60) * 4);
      }
      Operand from = grf(0, Type::ud, 0, {8, 8, 1});
      from.indirect = true;
      from.address_offset = 16;
      if (width != 0) {
        from.region = {0, static_cast<uint8_t>(width), static_cast<uint8_t>(width == 1 ? 0 : 1), true};
      }
      bench.run(make(Op::mov, 8, dst(4, Type::ud), {from}));
      for (unsigned i = 0; i < 8; ++i) {
        const unsigned row = width == 0 ? 0 : i / width;
        const unsigned column = width == 0 ? i : i % width;
        EXPECT_EQ(bench.get<uint32_t>(4, i), row * 37 % 60 + 4 + column);
      }
    }
  }
}

TEST(EuNotes, OnlyAlign16HasSwizzlesAndWriteMasks) {
  COVERS("NOTES-EU-10");
  for (const GenId gen : kGen4To6) {
    // Align16 offsets are multiples of 16 bytes. Align1 offsets may be any element.
    for (unsigned offset = 0; offset < 32; offset += 4) {
      Instruction in = make(Op::mov, 8, dst(4, Type::ud, offset), {grf(2, Type::ud, 0, {4, 4, 1})});
      EXPECT_TRUE(encode(gen, in).ok()) << offset;
      in.align16 = true;
      EXPECT_EQ(encode(gen, in).ok(), offset % 16 == 0) << offset;
      in.dst.sub = 0;
      in.src[0].sub = static_cast<uint8_t>(offset);
      EXPECT_EQ(encode(gen, in).ok(), offset % 16 == 0) << offset;
      in.align16 = false;
      EXPECT_TRUE(encode(gen, in).ok()) << offset;
    }
    // Align1 has no bits for a swizzle or a mask.
    Instruction plain = make(Op::mov, 8, dst(4, Type::ud), {grf(2, Type::ud)});
    const auto word = encode(gen, plain);
    plain.src[0].swizzle = {3, 2, 1, 0};
    plain.dst.write_mask = 5;
    const auto same = encode(gen, plain);
    ASSERT_TRUE(word.ok() && same.ok());
    EXPECT_EQ(*word, *same);
    for (unsigned swizzle = 0; swizzle < 256; swizzle += 7) {
      for (unsigned mask = 0; mask < 16; ++mask) {
        ThreadBench bench(gen);
        bench.fill<uint32_t>(2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
        Instruction in = make(Op::mov, 8, dst(4, Type::ud, 16), {grf(2, Type::ud, 16, {4, 4, 1})});
        for (unsigned c = 0; c < 4; ++c) {
          in.src[0].swizzle[c] = static_cast<uint8_t>((swizzle >> (2 * c)) & 3);
        }
        in.dst.write_mask = static_cast<uint8_t>(mask);
        in.align16 = true;
        bench.run(in);
        for (unsigned i = 0; i < 8; ++i) {
          const unsigned expected = 5 + i / 4 * 4 + ((swizzle >> (2 * (i % 4))) & 3);
          EXPECT_EQ(bench.get<uint32_t>(4, 4 + i), ((mask >> (i % 4)) & 1) != 0 ? expected : 0u);
        }
        // Align1 ignores swizzle and mask.
        in.align16 = false;
        in.dst = dst(8, Type::ud);
        in.dst.write_mask = static_cast<uint8_t>(mask);
        bench.run(in);
        EXPECT_EQ(bench.get<uint32_t>(8, 1), 6u);
      }
    }
  }
}

TEST(EuNotes, EachChannelHasItsOwnMaskBit) {
  COVERS("NOTES-EU-18");
  for (const GenId gen : kGen4To6) {
    for (unsigned channel = 0; channel < 16; ++channel) {
      ThreadBench bench(gen, 1u << channel);
      bench.run(make(Op::mov, 16, dst(4, Type::ud), {imm(1, Type::ud)}));
      for (unsigned i = 0; i < 16; ++i) {
        EXPECT_EQ(bench.get<uint32_t>(4, i), i == channel ? 1u : 0u);
      }
    }
  }
}

TEST(EuNotes, ConditionsWriteTheFlagsOfEnabledChannels) {
  COVERS("NOTES-EU-19");
  // Inside a branch of channels 4 to 7, with a predicate that holds for even channels.
  for (const bool all : {false, true}) {
    ThreadBench bench(GenId::gen6, 0xff);
    bench.thread.flag[0] = 0x0000'00f0 | 0x5555'0000;
    Instruction add = make(Op::add, 8, dst(4, Type::d), {grf(2, Type::d), imm(1, Type::d)});
    add.no_mask = all;
    Instruction predicated = when(with(add, Condition::greater), Predicate::normal, false, 1);
    Instruction unpredicated = with(add, Condition::greater, 0);
    unpredicated.dst = dst(5, Type::d);
    bench.run({when(branch(Op::if_, 8, 3)), predicated, unpredicated, branch(Op::endif, 8, 1)});
    for (unsigned i = 0; i < 8; ++i) {
      const bool here = all || i >= 4;
      EXPECT_EQ(bench.get<int32_t>(4, i), here && i % 2 == 0 ? 1 : 0) << i;
      EXPECT_EQ(bench.get<int32_t>(5, i), here ? 1 : 0) << i;
    }
    // f0.1 is written only by enabled channels, whose bits were set before; f0.0 by all channels that ran.
    EXPECT_EQ(bench.thread.flag[0] >> 16, 0x5555u);
    EXPECT_EQ(bench.thread.flag[0] & 0xff, all ? 0xffu : 0xf0u);
  }
  // CMP compares its sources, and the predicate of SEL chooses a source.
  ThreadBench bench(GenId::gen6, 0xff);
  bench.fill<int32_t>(2, {5, -5, 5, -5, 5, -5, 5, -5});
  bench.run({with(make(Op::cmp, 8, null(Type::d), {grf(2, Type::d), imm(0, Type::d)}), Condition::less),
             when(make(Op::sel, 8, dst(4, Type::d), {grf(2, Type::d), imm(7, Type::d)}))});
  EXPECT_EQ(bench.thread.flag[0] & 0xff, 0xaau);
  EXPECT_EQ(bench.get<int32_t>(4, 0), 7) << "written though its predicate does not hold";
  EXPECT_EQ(bench.get<int32_t>(4, 1), -5);
}

TEST(EuNotes, MessagesHaveOneToFifteenRegistersAndASideband) {
  COVERS("NOTES-SF-03");
  for (const GenId gen : {GenId::gen4, GenId::gen4_5, GenId::gen5, GenId::gen6}) {
    for (unsigned length = 1; length <= 15; ++length) {
      ThreadBench bench(gen, 0xff);
      std::vector<Instruction> code;
      for (unsigned i = 0; i < length; ++i) {  // write the payload
        code.push_back(make(Op::mov, 8, mrf_dst(1 + i, Type::ud), {imm(100 + i, Type::ud)}));
      }
      Operand payload = mrf_dst(1, Type::ud);
      Instruction send = make(Op::send, 8, dst(40, Type::ud), {gen == GenId::gen6 ? payload : null(Type::ud)});
      send.send.function = 5;
      send.send.message_register = 1;
      send.send.descriptor = (length << 25) | (1u << 20) | 0x1abcd;
      code.push_back(send);
      unsigned processed = 0;
      bench.target.answer = [&](Thread&, const Message& message) {
        EXPECT_EQ(message.function, 5);
        EXPECT_EQ(message.descriptor & 0x7ffff, 0x1abcdu);
        EXPECT_EQ(message.first.size(), length * kGrfBytes);
        EXPECT_EQ(message.response.size(), kGrfBytes);
        for (unsigned i = 0; i < length; ++i) {
          EXPECT_EQ(static_cast<unsigned>(message.first[i * kGrfBytes]), 100 + i);
        }
        ++processed;
        message.response[0] = std::byte{77};
        return SendOutcome::done;
      };
      code.push_back(make(Op::add, 1, dst(41, Type::ud), {scalar(40, Type::ud), imm(1, Type::ud)}));
      bench.run(code);
      EXPECT_EQ(processed, 1u);
      EXPECT_EQ(bench.get<uint32_t>(41, 0), 78u);
    }
    if (gen == GenId::gen6) {
      continue;
    }
    // The math box, a shared function inside the EU: a square root and a power.
    ThreadBench bench(gen, 0xff);
    Instruction send = make(Op::send, 8, dst(40, Type::f), {null(Type::f)});
    send.send.function = 1;
    send.send.message_register = 2;
    send.send.descriptor = (1u << 25) | (1u << 20) | 4;  // square root
    Instruction power = send;
    power.dst = dst(41, Type::f);
    power.send.descriptor = (2u << 25) | (1u << 20) | 10;
    bench.run({make(Op::mov, 8, mrf_dst(2, Type::f), {imm_f(9.0f)}),
               make(Op::mov, 8, mrf_dst(3, Type::f), {imm_f(2.0f)}), send, power});
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(bench.get<float>(40, i), 3.0f);
      EXPECT_EQ(bench.get<float>(41, i), 81.0f);
    }
  }
}

// Ids and function control reach the target unchanged. src/message implements the functions.
TEST(EuNotes, SharedFunctionsHaveFourBitIdsAndSubFunctions) {
  for (const GenId gen : kGens) {
    for (unsigned id = 0; id < 16; ++id) {
      if (id == 1 && gen <= GenId::gen5) {
        continue;  // the math box is inside the model's EU
      }
      for (const uint32_t control : {0u, 0x12345u, 0x3ffffu}) {
        ThreadBench bench(gen, 0xff);
        Instruction send = make(Op::send, 8, dst(40, Type::ud), {grf(20, Type::ud)});
        send.send.function = static_cast<uint8_t>(id);
        send.send.descriptor = (1u << 25) | control;
        unsigned seen = 0;
        bench.target.answer = [&](Thread&, const Message& message) {
          EXPECT_EQ(message.function, id);
          EXPECT_EQ(message.descriptor & 0x7ffff, control);
          ++seen;
          return SendOutcome::done;
        };
        bench.run(send);
        EXPECT_EQ(seen, 1u) << id;
      }
    }
  }
}

TEST(EuNotes, AThreadBlockedOnAMessageLetsAnotherThreadRun) {
  // The first thread's message blocks until the second thread has sent one.
  Instruction send = make(Op::send, 8, dst(40, Type::ud), {grf(20, Type::ud)});
  send.send.function = 3;
  send.send.descriptor = (1u << 25) | (1u << 20);
  const std::vector code{send, make(Op::add, 1, dst(41, Type::ud), {scalar(40, Type::ud), imm(1, Type::ud)}), end()};
  const auto executor = make_interpreter(GenId::gen8);
  const auto kernel = executor->prepare(make_code(code), 0);
  Thread first;
  Thread second;
  first.start(0, 0xff);
  second.start(0, 0xff);
  unsigned from_second = 0;
  Target target;
  target.answer = [&](Thread& thread, const Message& message) {
    if (&thread == &second) {
      ++from_second;
    } else if (from_second == 0) {
      return SendOutcome::blocked;
    }
    message.response[0] = static_cast<std::byte>(&thread == &second ? 5 : 9);
    return SendOutcome::done;
  };
  EXPECT_EQ(executor->run(first, *kernel, 100, target), ThreadStatus::blocked);
  EXPECT_EQ(executor->run(second, *kernel, 100, target), ThreadStatus::ended);
  EXPECT_EQ(executor->run(first, *kernel, 100, target), ThreadStatus::ended);
  EXPECT_EQ(static_cast<unsigned>(first.registers(41, 1)[0]), 10u);
  EXPECT_EQ(static_cast<unsigned>(second.registers(41, 1)[0]), 6u);
}

}  // namespace
}  // namespace halogen::eu::test
