// Decodes words that Intel's assembler (iga64) made from known text.
#include "eu/isa/decoder.h"

#include <gtest/gtest.h>

#include <vector>

namespace halogen::eu {
namespace {

using spec::GenId;

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

Instruction good(GenId gen, std::string_view hex) {
  const Decoded d = decode(gen, bytes_of(hex));
  EXPECT_EQ(d.fault, DecodeFault::none) << hex << ": " << name_of(d.fault);
  return d.instruction;
}

// (W) mov (8|M0) r10.0<1>:f 1.0:f
void expect_mov(const Instruction& i) {
  EXPECT_EQ(i.op, Op::mov);
  EXPECT_EQ(i.exec_size, 8);
  EXPECT_TRUE(i.no_mask);
  EXPECT_EQ(i.sources, 1);
  EXPECT_EQ(i.dst.file, File::grf);
  EXPECT_EQ(i.dst.reg, 10);
  EXPECT_EQ(i.dst.type, Type::f);
  EXPECT_EQ(i.dst.region.horizontal, 1);
  EXPECT_EQ(i.src[0].file, File::immediate);
  EXPECT_EQ(i.src[0].type, Type::f);
  EXPECT_EQ(i.src[0].immediate, 0x3f800000u);
}

// (f0.1) add (16|M16) (lt)f0.1 (sat)r10.0<2>:f -r12.4<8;8,1>:f (abs)r14.0<0;1,0>:f
void expect_add(const Instruction& i) {
  EXPECT_EQ(i.op, Op::add);
  EXPECT_EQ(i.exec_size, 16);
  EXPECT_EQ(i.first_channel, 16);
  EXPECT_FALSE(i.no_mask);
  EXPECT_TRUE(i.saturate);
  EXPECT_EQ(i.predicate, Predicate::normal);
  EXPECT_EQ(i.flag, 1);
  EXPECT_EQ(i.condition, Condition::less);
  EXPECT_EQ(i.dst.region.horizontal, 2);
  EXPECT_EQ(i.src[0].reg, 12);
  EXPECT_EQ(i.src[0].sub, 16);
  EXPECT_TRUE(i.src[0].negate);
  EXPECT_FALSE(i.src[0].absolute);
  EXPECT_EQ(i.src[0].region, (Region{8, 8, 1, false}));
  EXPECT_EQ(i.src[1].reg, 14);
  EXPECT_TRUE(i.src[1].absolute);
  EXPECT_EQ(i.src[1].region, (Region{0, 1, 0, false}));
}

TEST(IsaDecode, WordsOfIntelsAssemblerDecodeToTheirText) {
  expect_mov(good(GenId::gen9, "01006000ec3e4021000000000000803f"));
  expect_mov(good(GenId::gen11, "010060002c4f4021000000000000803f"));
  expect_mov(good(GenId::gen12, "61000380a04a050a000000000000803f"));
  expect_add(good(GenId::gen9, "40208185e93a404190418d3ac0210000"));
  expect_add(good(GenId::gen11, "40208185294b404190418d4ac0210000"));
  expect_add(good(GenId::gen12, "40006401a42a060a850c465a040e0001"));
}

TEST(IsaDecode, ThreeSourceFormsHaveTypesAndRegions) {
  // mad (8|M0) r20.0<1>:f r21.0<8;1>:f r22.0<8;1>:f r23.0<1>:f
  for (const auto& [gen, hex] : {std::pair(GenId::gen11, "5b00600008400014395021072c84c005"),
                                 std::pair(GenId::gen12, "5b000300a80a041405150a0a05160517")}) {
    const Instruction i = good(gen, hex);
    EXPECT_EQ(i.op, Op::mad);
    EXPECT_EQ(i.sources, 3);
    EXPECT_EQ(i.dst.reg, 20);
    EXPECT_EQ(i.dst.type, Type::f);
    for (unsigned s = 0; s < 3; ++s) {
      EXPECT_EQ(i.src[s].reg, 21 + s);
      EXPECT_EQ(i.src[s].file, File::grf);
      EXPECT_EQ(i.src[s].type, Type::f);
    }
    EXPECT_EQ(i.src[0].region, (Region{8, 8, 1, false}));
    EXPECT_EQ(i.src[2].region, (Region{1, 1, 0, false}));
  }
}

TEST(IsaDecode, SplitSendHasTwoPayloads) {
  // sends (16|M0) r20 r30 r40 0x10C 0x4205E02
  const Instruction i = good(GenId::gen9, "3300800c18808202c4030000025e2004");
  EXPECT_EQ(i.op, Op::sends);
  EXPECT_EQ(i.dst.reg, 20);
  EXPECT_EQ(i.src[0].reg, 30);
  EXPECT_EQ(i.src[1].reg, 40);
  EXPECT_EQ(i.src[1].file, File::grf);
  EXPECT_EQ(i.send.function, 0xc);
  EXPECT_EQ(i.send.extended, 0x100u);
  EXPECT_EQ(i.send.descriptor, 0x4205e02u);
  EXPECT_FALSE(i.send.end_of_thread);
}

// Words of Mesa's compiler: (+f0.0.x) break(8) in align16, where predicate code 2 is channel x of each group of four.
TEST(IsaDecode, BranchesDecodeTheirAccessMode) {
  for (const auto& [gen, hex] : {std::pair(GenId::gen4_5, "28016200001c0f3404146e0004000000"),
                                 std::pair(GenId::gen6, "28016200841c0f2004006e0006000800")}) {
    const Instruction in = good(gen, hex);
    EXPECT_EQ(in.op, Op::break_);
    EXPECT_TRUE(in.align16);
    EXPECT_EQ(in.predicate, Predicate::replicate_x);
  }
}

// send(8) g0<1>F m21<4>F of Mesa's compiler, a write to scratch memory; then with write mask .xz in bits 51:48.
TEST(IsaDecode, SendsDecodeTheirWriteMask) {
  EXPECT_EQ(good(GenId::gen6, "31016005dd0f0f20a4026e00ff200906").dst.write_mask, 0xf);
  const Instruction in = good(GenId::gen6, "31016005dd0f0520a4026e00ff200906");
  EXPECT_TRUE(in.align16);
  EXPECT_EQ(in.dst.write_mask, 5);
  EXPECT_EQ(in.dst.reg, 0);
  EXPECT_EQ(in.src[0].reg, 21);
}

TEST(IsaDecode, ReservedCodesGiveAFault) {
  EXPECT_EQ(decode(GenId::gen9, bytes_of("01")).fault, DecodeFault::truncated);
  EXPECT_EQ(decode(GenId::gen9, bytes_of("0100600000000000")).fault, DecodeFault::truncated);
  EXPECT_EQ(decode(GenId::gen9, bytes_of("7f000000000000000000000000000000")).fault, DecodeFault::unknown_opcode);
  EXPECT_EQ(decode(GenId::gen9, bytes_of("0100c000ec3e4021000000000000803f")).fault, DecodeFault::reserved_exec_size);
  EXPECT_EQ(decode(GenId::gen4, bytes_of("01000020000000000000000000000000")).fault, DecodeFault::not_compactable);
}

}  // namespace
}  // namespace halogen::eu
