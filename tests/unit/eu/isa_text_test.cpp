// The assembly language: accepted text, errors, and the commands asm and disasm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "eu/isa/assembler.h"
#include "eu/isa/decoder.h"
#include "eu/isa/message_header.h"
#include "eu/isa/messages.h"
#include "eu/isa/printer.h"
#include "fuzz/isa_target.h"
#include "spec/device_model.h"
#include "support/run_tool.h"

namespace halogen::eu {
namespace {

using spec::GenId;
using ::testing::HasSubstr;

std::string hex(const std::vector<std::byte>& bytes) {
  std::string out;
  for (const std::byte b : bytes) {
    char pair[3];
    std::snprintf(pair, sizeof pair, "%02x", static_cast<unsigned>(b));
    out += pair;
  }
  return out;
}

// The words are those of Intel's assembler (iga64) for the same text.
TEST(IsaText, TextAssemblesToTheWordsOfIntelsAssembler) {
  const struct {
    GenId gen;
    const char* text;
    const char* word;
  } cases[] = {
      {GenId::gen9, "(W) mov (8|M0) r10.0<1>:f 1.0:f", "01006000ec3e4021000000000000803f"},
      {GenId::gen11, "(W) mov (8|M0) r10.0<1>:f 0x3f800000:f", "010060002c4f4021000000000000803f"},
      {GenId::gen12, "(W) mov (8|M0) r10.0<1>:f 0x3f800000:f", "61000380a04a050a000000000000803f"},
      {GenId::gen12, "(f0.1) add (16|M16) (lt)f0.1 (sat)r10.0<2>:f -r12.4<8;8,1>:f (abs)r14.0<0;1,0>:f",
       "40006401a42a060a850c465a040e0001"},
      {GenId::gen12, "mad (8|M0) r1.0<2>:w r2.0<1;0>:w r3.0<4;1>:w 0x1234:w", "5b000300588505010402050d05033412"},
      {GenId::gen12, "sync.allrd 0x1234:ud", "01000000004201000000002034120000"},
      {GenId::gen12, "send.dc0 (8|M0) r1 r2 r3 0x200 0x02184000 {EOT,$3}", "3143030004000c010c0200a044031002"},
      {GenId::gen12, "math.invm (8|M0) (eo)f0.0 r1.mme0<1>:f r2.nomme:f r3.nomme:f",
       "38000300a00a0501440210ea44031000"},
      {GenId::gen12, "mov (8|M0) r10.0<1>:hf r11.3<8;8,1>:b", "610003009004050a1d0b460000000000"},
      {GenId::gen9, "sends (16|M0) r20:ud r30 r40 0x10C 0x4205E02", "3300800c18808202c4030000025e2004"},
      {GenId::gen9, "sends.dc1 (16|M0) r20 r30 r40 0x100 0x04205e02", "3300800c18808202c4030000025e2004"},
  };
  for (const auto& c : cases) {
    const auto code = assemble(c.gen, c.text);
    ASSERT_TRUE(code.ok()) << c.text << ": " << code.message();
    EXPECT_EQ(hex(*code), c.word) << c.text;
  }
}

// Intel's assembler accepts the type in three-source forms only, in every operand.
TEST(IsaText, NativeFloatsOfGen12AreTypesOfThreeSourceForms) {
  const struct {
    const char* text;
    const char* word;
  } cases[] = {
      {"mad (8|M0) acc0.0<1>:nf r6.3<0;0>:f r2.0<8;1>:f r6.0<0>:f", "5b000300f002002064060a0a05020406"},
      {"mad (8|M0) r113.0<1>:f acc0.0<8;1>:nf r3.0<8;1>:f r6.1<0>:f", "5b000300a80f047101200a0a05032406"},
      {"mad (8|M0) r113.0<1>:f r3.0<8;1>:f acc0.0<8;1>:nf r6.1<0>:f", "5b000300a80a047105030a0f01202406"},
      {"mad (8|M0) r113.0<1>:f r3.0<8;1>:f r6.0<8;1>:f acc0.0<1>:nf", "5b000300a80a047105030f0a05060120"},
      {"mad (8|M0) r113.0<1>:nf r3.0<8;1>:nf r6.0<8;1>:nf r7.0<1>:nf", "5b000300f80f047105030f0f05060507"},
      {"csel (8|M0) (eq)f0.0 r113.0<1>:f acc0.0<8;1>:nf r3.0<8;1>:f r6.1<1>:f", "72000300a80f047101200a1a05032506"},
  };
  for (const auto& c : cases) {
    const auto code = assemble(GenId::gen12, c.text);
    ASSERT_TRUE(code.ok()) << c.text << ": " << code.message();
    EXPECT_EQ(hex(*code), c.word) << c.text;
    const std::string text = print(GenId::gen12, decode(GenId::gen12, *code).instruction);
    const auto again = assemble(GenId::gen12, text);
    ASSERT_TRUE(again.ok()) << text << ": " << again.message();
    EXPECT_EQ(hex(*again), c.word) << text;
  }
  for (const char* const refused :
       {"mov (8|M0) r10.0<1>:f acc0.0<8;8,1>:nf", "add (8|M0) r10.0<1>:f acc0.0<8;8,1>:nf r12.0<8;8,1>:f",
        "mul (8|M0) acc0.0<1>:nf r10.0<8;8,1>:f r12.0<8;8,1>:f", "rndd (8|M0) r10.0<1>:f acc0.0<8;8,1>:nf"}) {
    EXPECT_FALSE(assemble(GenId::gen12, refused).ok()) << refused;
  }
}

TEST(IsaText, LabelsBecomeDistancesInTheUnitOfTheGeneration) {
  // The target is 32 bytes ahead. Gen7 encodes the distance in units of 8 bytes, Gen8 in bytes.
  const char* text = "(f0.0) if (8|M0) END END\nnop\nEND:\nendif (8|M0) END\n";
  for (const GenId gen : {GenId::gen7, GenId::gen8, GenId::gen12}) {
    const auto code = assemble(gen, text);
    ASSERT_TRUE(code.ok()) << code.message();
    EXPECT_EQ(disassemble(gen, *code), "    (f0.0) if (8|M0) L32 L32\n    nop\nL32:\n    endif (8|M0) L32\n");
  }
}

TEST(IsaText, ErrorsNameTheLineAndTheFault) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"foo (8|M0) r1.0<1>:f", "line 1: gen9 has no instruction 'foo'"},
      {"nop\nmov (8|M0) r1.0<1>:f", "line 2: expected a register"},
      {"mov (8|M0) r1.0<1>:g r2.0<8;8,1>:f", "unknown type 'g'"},
      {"mov (8|M0) r1.0<1>:f x2.0<8;8,1>:f", "unknown register 'x2'"},
      {"mov (3|M0) r1.0<1>:f r2.0<8;8,1>:f", "execution size 3"},
      {"mov (8|M0) r1.0<1>:f r2.0<3;8,1>:f", "vertical stride 3 cannot be encoded"},
      {"mov (8|M0) r1.0<1>:f r2.0<8;8,1>:f extra", "unexpected 'extra'"},
      {"mov (8|M0) r1.0<1>:f r2.0<8;8,1>:f {Odd}", "unknown option 'Odd'"},
      {"jmpi NOWHERE", "the label NOWHERE is not defined"},
      {"A:\nA:\nnop", "the label A is defined twice"},
      {"(f2.0) nop", "expected a flag register"},
      {"(f0.0) cmp (8|M0) (eq)f0.1 null<1>:f r1.0<8;8,1>:f r2.0<8;8,1>:f", "must use the same flag register"},
      {"send.xyz (8|M0) null r1 0x0 0x0", "has no function 'xyz'"},
      {"math (8|M0) r1.0<1>:f r2.0<8;8,1>:f", "needs a function"},
      {"mad (8|M0) r1.0<1>:f r2.0<8;1>:f r3.0<8;1>:f r4.0<1>:f", "a group of four channels or a scalar"},
      {"mov (8|M0) m1.0<1>:f r2.0<8;8,1>:f", "cannot be encoded"},
      {"add (8|M0) r1.0<1>:w r2.0<8;8,1>:w 0x12345:w", "does not fit its type"},
      {"add (8|M0) r1.0<1>:w 0x1:w r2.0<8;8,1>:w", "only the last source"},
      {"add (8|M0) r1.0<1>:f r2.0<8;8,1>:f r3.0<8;8,1>:f {Compacted,Breakpoint,AccWrEn,NoDDChk}",
       "has no compact form"},
      {".bytes 1", "pairs of hexadecimal digits"},
  };
  for (const auto& c : cases) {
    const auto code = assemble(GenId::gen9, c.text);
    ASSERT_FALSE(code.ok()) << c.text;
    EXPECT_THAT(code.message(), HasSubstr(c.message)) << c.text;
    EXPECT_THAT(code.message(), HasSubstr("line ")) << c.text;
  }
}

// A header has eight dwords in the first register of a message: r30 here, and m1 where send moves src0 there first.
TEST(IsaText, ListingNamesTheFieldsOfMessageHeaders) {
  const char* text = "send.smpl (8|M0) r20 r30 0x0 0x04480000\nsend.smpl (8|M0) r20 r30 0x0 0x04400000\n";
  const auto code = assemble(GenId::gen9, text);
  ASSERT_TRUE(code.ok()) << code.message();
  const std::string comment =
      "// SAMPLER_HEADER: r30.2[3:0] r_offset, r30.2[7:4] v_offset, r30.2[11:8] u_offset, r30.2[15:12] channels_off, "
      "r30.2[17:16] gather_channel, r30.3[31:5] sampler_table\n";
  const std::string listing = disassemble(GenId::gen9, *code, {.headers = true});
  EXPECT_THAT(listing, HasSubstr(comment));
  EXPECT_EQ(listing.find("SAMPLER_HEADER"), listing.rfind("SAMPLER_HEADER")) << "the second message has no header";
  EXPECT_EQ(disassemble(GenId::gen9, *code).find("SAMPLER_HEADER"), std::string::npos);
  const auto again = assemble(GenId::gen9, listing);
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(*again, *code) << "comments do not change the program";

  Instruction early{.op = Op::send, .sources = 1};
  early.send.function = static_cast<uint8_t>(function_code(GenId::gen4, "smpl"));
  early.send.descriptor = DescriptorBits::kHeaderPresent;
  early.send.message_register = 1;
  EXPECT_THAT(describe_header(GenId::gen4, early), HasSubstr("SAMPLER_HEADER: m1.2[3:0] r_offset"));
}

TEST(IsaText, DescriptorsAreExplainedByField) {
  const auto in = assemble_line(GenId::gen9, "send.dc1 (16|M0) r20 r30 0x0 0x04205e02");
  ASSERT_TRUE(in.ok());
  // Untyped read of x, SIMD16: type 1 in 18:14, SIMD 1 in 13:12, disabled channels in 11:8.
  EXPECT_EQ(describe_message(GenId::gen9, *in), "len=2 ret=2 surface=0x2 mask_off=0xe simd=simd16 type=untyped_read");
  const auto barrier = assemble_line(GenId::gen9, "send.gtwy (8|M0) null r30 0x0 0x02000004");
  ASSERT_TRUE(barrier.ok());
  EXPECT_THAT(describe_message(GenId::gen9, *barrier), HasSubstr("type=barrier"));
}

TEST(IsaText, RandomBytesAndTextNeverBreakTheRoundTrip) {
  std::mt19937 random(5);
  const std::string letters = "movadsenrmf0123456789.<>;,:()|M{}@$ -~\n";
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint8_t> data(2 + random() % 60);
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
    if (data[1] % 2 == 1) {
      for (size_t n = 2; n < data.size(); ++n) data[n] = static_cast<uint8_t>(letters[random() % letters.size()]);
    }
    fuzz::isa(data);
  }
}

class IsaTool : public test::ToolTest {
 protected:
  test::Outcome run(const std::string& arguments) const { return ToolTest::run(arguments, true); }
};

TEST_F(IsaTool, DisassemblesAndAssembles) {
  const std::string word = "01 00 60 00 ec 3e 40 21 00 00 00 00 00 00 80 3f\n";
  const std::string code = file("a.hex", word);
  const auto [status, text] = run("disasm --gen gen9 " + code);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text, "    (W) mov (8|M0) r10.0<1>:f 0x3f800000:f\n");
  EXPECT_EQ(run("asm --gen gen9 " + file("a.asm", text)), (test::Outcome{0, word}));
  EXPECT_EQ(run("asm --gen gen9 --raw --out " + (root_ / "a.bin").string() + " " + file("b.asm", text)),
            (test::Outcome{0, {}}));
  EXPECT_EQ(run("disasm --gen gen9 " + (root_ / "a.bin").string()), (test::Outcome{0, text}));
}

TEST_F(IsaTool, WrongUseExitsWithOneSentence) {
  const auto one_sentence = [](const test::Outcome& outcome, const char* part) {
    EXPECT_EQ(outcome.status, 2) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(part));
    EXPECT_EQ(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 1) << outcome.text;
  };
  one_sentence(run("disasm --gen gen3 " + file("a", "00")), "unknown generation \"gen3\"");
  one_sentence(run("disasm --gen gen9 " + (root_ / "nothing").string()), "No such file");
  one_sentence(run("disasm --gen gen9 " + file("b", "")), "empty");
  one_sentence(run("disasm --gen gen9 " + file("c", "0")), "pairs");
  one_sentence(run("disasm --gen gen9 " + root_.string()), root_.string().c_str());
  one_sentence(run("disasm " + file("d", "00")), "--gen");
  one_sentence(run("asm --gen gen9 " + file("e", "nop\nfoo")), "line 2: gen9 has no instruction 'foo'");
  const auto [status, text] = run("disasm --gen gen9 " + file("f", "7f000000000000000000000000000000"));
  EXPECT_EQ(status, 1);
  EXPECT_THAT(text, HasSubstr("unknown opcode"));
}

}  // namespace
}  // namespace halogen::eu
