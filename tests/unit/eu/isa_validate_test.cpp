// Validates instructions written as text and compares the broken rules with the manuals.
#include "eu/isa/validator.h"

#include <gtest/gtest.h>

#include <string>

#include "covers.h"
#include "eu/isa/assembler.h"

namespace halogen::eu {
namespace {

using spec::GenId;

std::string rules(GenId gen, std::string_view text) {
  const Result<Instruction> in = assemble_line(gen, text);
  if (!in) return in.message();
  std::string out;
  for (const Rule rule : validate(gen, *in)) {
    out += std::string(out.empty() ? "" : " ") + std::string(name_of(rule));
  }
  return out;
}

TEST(IsaValidate, ValidInstructionsBreakNoRule) {
  for (const char* text :
       {"mov (8|M0) r10.0<1>:f r12.0<8;8,1>:f", "add (16|M0) r10.0<1>:f r12.0<8;8,1>:f r2.0<0;1,0>:f",
        "mov (8|M0) r10.0<2>:w r12.0<8;8,1>:d", "mov (16|M0) r10.0<1>:ub r12.0<16;16,1>:ub",
        "mov (1|M0) r10.0<1>:d r12.3<0;1,0>:d", "cmp (8|M8) (lt)f0.0 null<1>:f r12.0<8;8,1>:f 0x0:f",
        "mul (8|M0) (sat)r10.0<1>:f -r12.0<8;8,1>:f (abs)r13.0<8;8,1>:f",
        "math.inv (8|M0) r10.0<1>:f r12.0<8;8,1>:f"}) {
    for (const GenId gen : {GenId::gen8, GenId::gen9, GenId::gen11, GenId::gen12}) {
      EXPECT_EQ(rules(gen, text), "") << text;
    }
  }
}

TEST(IsaValidate, RegionRulesAreChecked) {
  const struct {
    const char* text;
    const char* rule;
  } cases[] = {
      {"mov (8|M0) r10.0<0>:f r12.0<8;8,1>:f", "dst_stride_zero"},
      {"mov (4|M0) r10.0<1>:f r12.0<8;8,1>:f", "width_above_channels"},
      {"mov (8|M0) r10.0<1>:f r12.0<1;1,1>:f", "row_of_one_with_stride"},
      {"mov (1|M0) r10.0<1>:f r12.0<1;1,0>:f", "one_channel_with_stride"},
      {"mov (8|M0) r10.0<1>:f r12.0<0;4,0>:f", "no_strides_with_width"},
      {"mov (8|M0) r10.0<1>:f r12.0<16;8,1>:f", "row_stride_mismatch"},
      {"mov (8|M0) r10.0<1>:f r12.4<8;8,1>:f", "row_crosses_register"},
      {"mov (16|M0) r10.0<1>:f r12.0<16;8,2>:f", "row_crosses_register source_spans_too_much"},
      {"mov (16|M0) r10.0<2>:f r12.0<8;8,1>:f", "dst_spans_too_much"},
      {"mov (8|M0) r10.0<1>:w r12.0<8;8,1>:d", "dst_stride_below_result"},
      {"mov (8|M0) r10.1<2>:ub r12.0<8;8,1>:uw", ""},
      {"mov (4|M0) r10.2<4>:ub r12.0<4;4,1>:ud", "dst_misaligned"},
      {"mov (8|M16) r10.0<1>:f r12.0<8;8,1>:f", ""},
      {"mov (16|M24) r10.0<1>:f r12.0<8;8,1>:f", "channels_out_of_range"},
      {"mov (8|M0) r128.0<1>:f r12.0<8;8,1>:f", "register_out_of_range"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(rules(GenId::gen9, c.text), c.rule) << c.text;
  }
}

TEST(IsaValidate, TypeRulesAreChecked) {
  EXPECT_EQ(rules(GenId::gen9, "add (8|M0) r10.0<1>:f r12.0<8;8,1>:f r13.0<8;8,1>:d"), "mixed_sources");
  EXPECT_EQ(rules(GenId::gen4, "add (8|M0) r10.0<1>:f r12.0<8;8,1>:f r13.0<8;8,1>:d"), "");
  EXPECT_EQ(rules(GenId::gen9, "add (4|M0) r10.0<1>:q r12.0<4;4,1>:q r13.0<4;4,1>:q"), "");
  EXPECT_EQ(rules(GenId::gen12, "add (4|M0) r10.0<1>:q r12.0<4;4,1>:q r13.0<4;4,1>:q"), "type_not_supported");
  EXPECT_EQ(rules(GenId::gen9, "frc (8|M0) r10.0<1>:d r12.0<8;8,1>:d"), "type_combination");
  EXPECT_EQ(rules(GenId::gen9, "and (8|M0) r10.0<1>:f r12.0<8;8,1>:ud r13.0<8;8,1>:ud"), "type_combination");
  EXPECT_EQ(rules(GenId::gen12, "add (8|M0) r10.0<2>:b r12.0<8;8,1>:b r13.0<8;8,1>:b"), "byte_second_source");
  EXPECT_EQ(rules(GenId::gen9, "add (8|M0) r10.0<2>:b r12.0<8;8,1>:b r13.0<8;8,1>:b"), "");
}

TEST(IsaValidate, ModifierRulesAreChecked) {
  EXPECT_EQ(rules(GenId::gen9, "and (8|M0) (sat)r10.0<1>:ud r12.0<8;8,1>:ud r13.0<8;8,1>:ud"), "saturate_not_allowed");
  EXPECT_EQ(rules(GenId::gen9, "bfrev (8|M0) (eq)f0.0 r10.0<1>:ud r12.0<8;8,1>:ud"), "condition_not_allowed");
  EXPECT_EQ(rules(GenId::gen9, "addc (8|M0) r10.0<1>:ud -r12.0<8;8,1>:ud r13.0<8;8,1>:ud"), "modifier_not_allowed");
  EXPECT_EQ(rules(GenId::gen7, "add (32|M0) (eq)f0.0 r10.0<1>:w r12.0<16;16,1>:w r14.0<16;16,1>:w"),
            "condition_too_wide");
  EXPECT_EQ(rules(GenId::gen8, "add (32|M0) (eq)f0.0 r10.0<1>:w r12.0<16;16,1>:w r14.0<16;16,1>:w"), "");
}

TEST(IsaValidate, RulesDependOnTheGeneration) {
  EXPECT_EQ(rules(GenId::gen7, "mov (16|M0) r10.0<1>:f r12.0<4;8,0>:f"), "source_spans_less_than_dst");
  EXPECT_EQ(rules(GenId::gen8, "mov (16|M0) r10.0<1>:f r12.0<4;8,0>:f"), "");
  EXPECT_EQ(rules(GenId::gen7, "mov (16|M0) r10.0<1>:f r12.0<8;8,1>:w"), "");
  EXPECT_EQ(rules(GenId::gen8, "mov (8|M0) r10.2<1>:f r12.0<8;8,1>:f"), "uneven_write");
  EXPECT_EQ(rules(GenId::gen9, "mov (8|M0) r10.2<1>:f r12.0<8;8,1>:f"), "");
  EXPECT_EQ(rules(GenId::gen6, "mov (8|M0) r10.0<1>:f m3.0<8;8,1>:f"), "message_register_read");
  EXPECT_EQ(rules(GenId::gen5, "mov (8|M0) m16.0<1>:f r3.0<8;8,1>:f"), "register_out_of_range");
  EXPECT_EQ(rules(GenId::gen6, "mov (8|M0) m16.0<1>:f r3.0<8;8,1>:f"), "");
  EXPECT_EQ(rules(GenId::gen6, "math.inv (8|M0) r10.0<1>:f -r12.0<8;8,1>:f"), "math_form");
  EXPECT_EQ(rules(GenId::gen7, "math.inv (8|M0) r10.0<1>:f -r12.0<8;8,1>:f"), "");
  EXPECT_EQ(rules(GenId::gen9, "math.iqot (16|M0) r10.0<1>:d r12.0<8;8,1>:d r14.0<8;8,1>:d"), "math_form");
  EXPECT_EQ(rules(GenId::gen7, "mov (8|M0) r10.0<1>.xyzw:f r12.0<2>.xyzw:f {Align16}"), "align16_stride");
}

TEST(IsaValidate, MessageRulesAreChecked) {
  EXPECT_EQ(rules(GenId::gen9, "send.ts (8|M0) null r127 0x0 0x02000010 {EOT}"), "");
  EXPECT_EQ(rules(GenId::gen9, "send.ts (8|M0) null r10 0x0 0x02000010 {EOT}"), "end_of_thread_form");
  EXPECT_EQ(rules(GenId::gen9, "send.ts (8|M0) r5 r127 0x0 0x02100010 {EOT}"), "end_of_thread_form");
  EXPECT_EQ(rules(GenId::gen9, "send.dc1 (8|M0) r5 r127 0x0 0x04105e00"), "payload_out_of_range");
  EXPECT_EQ(rules(GenId::gen9, "sends.dc1 (8|M0) null r20 r21 0x40 0x04025e00"), "payload_overlap");
  EXPECT_EQ(rules(GenId::gen9, "sends.dc1 (8|M0) null r20 r22 0x40 0x04025e00"), "");
}

TEST(IsaValidate, AccumulatorAndIndirectSourcesAreChecked) {
  EXPECT_EQ(rules(GenId::gen9, "add (8|M0) r10.0<1>:f r12.0<8;8,1>:f acc0.0<8;8,1>:f"), "accumulator_source");
  EXPECT_EQ(rules(GenId::gen12, "add (8|M0) r10.0<1>:f r12.0<8;8,1>:f acc0.0<8;8,1>:f"), "");
  EXPECT_EQ(rules(GenId::gen9, "add (8|M0) acc0.0<2>:f r12.0<8;8,1>:f r13.0<8;8,1>:f"), "accumulator_misaligned");
  EXPECT_EQ(rules(GenId::gen9, "add (8|M0) r10.0<1>:f r12.0<8;8,1>:f r[a0.0]<8;8,1>:f"), "second_source_indirect");
}

}  // namespace
}  // namespace halogen::eu
