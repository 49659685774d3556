#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "spec/field_visitor.h"

namespace halogen::spec {
namespace {

FieldDesc field(FieldType type, uint16_t first, uint16_t width, uint8_t fraction = 0) {
  return {"f", "", type, Access::rw, fraction, first, width, nullptr, nullptr};
}

TEST(Format, ValuesArePrintedByType) {
  const GenId gen = GenId::gen9;
  EXPECT_EQ(format_value(field(FieldType::uint, 0, 8), gen, 200), "200");
  EXPECT_EQ(format_value(field(FieldType::uint, 0, 32), gen, 0x1234), "0x1234");
  EXPECT_EQ(format_value(field(FieldType::sint, 0, 4), gen, 0xc), "-4");
  EXPECT_EQ(format_value(field(FieldType::boolean, 0, 1), gen, 1), "true");
  EXPECT_EQ(format_value(field(FieldType::gpu_va, 34, 46), gen, 0x400), "0x0000000000001000");
  EXPECT_EQ(format_value(field(FieldType::reg, 2, 21), gen, 0x2358 >> 2), "0x2358");
  EXPECT_EQ(format_value(field(FieldType::ufixed, 0, 8, 4), gen, 0x18), "1.5");
  EXPECT_EQ(format_value(field(FieldType::sfixed, 0, 8, 4), gen, 0xf8), "-0.5");
  EXPECT_EQ(format_value(field(FieldType::float32, 0, 32), gen, std::bit_cast<uint32_t>(0.25f)), "0.25");
  EXPECT_EQ(format_value(field(FieldType::float32, 0, 32), gen, 0x7f800000), "inf");
  constexpr EnumValue kValues[] = {{"LESS", 3, 0xffff}};
  const EnumDesc desc{"E", "", kValues};
  FieldDesc f = field(FieldType::enumeration, 0, 3);
  f.enumeration = &desc;
  EXPECT_EQ(format_value(f, gen, 3), "LESS (3)");
  EXPECT_EQ(format_value(f, gen, 4), "4");
}

TEST(Format, PositionsAreDwordAndBits) {
  EXPECT_EQ(format_position(0, 1), "0[0]");
  EXPECT_EQ(format_position(34, 46), "1[47:2]");
  EXPECT_EQ(format_position(63, 1), "1[31]");
}

TEST(Format, CommandsArePrintedWithTheirGroups) {
  const uint32_t dwords[] = {0x11000003, 0x2358, 7, 0x0080235c, 8};
  EXPECT_EQ(format_fields(*find_command("MI_LOAD_REGISTER_IMM"), GenId::gen6, dwords, "  "),
            "  byte_write_disables = 0\n"
            "  pairs[0].register_offset = 0x2358\n"
            "  pairs[0].data_dword = 0x7\n"
            "  pairs[1].register_offset = 0x235c\n"
            "  pairs[1].data_dword = 0x8\n"
            "  reserved 3[31:23] = 0x1\n");
}

TEST(Format, FieldsBeyondTheLengthAreSkipped) {
  const uint32_t header[] = {0x10000002};
  const std::string text = format_fields(*find_command("MI_STORE_DATA_IMM"), GenId::gen9, header, "");
  EXPECT_NE(text.find("use_global_gtt = false"), std::string::npos);
  EXPECT_EQ(text.find("address ="), std::string::npos);
}

TEST(Format, AbsentItemsPrintNothing) {
  const uint32_t dwords[] = {0, 0, 0, 0};
  EXPECT_EQ(format_fields(*find_command("MI_STORE_DATA_IMM"), GenId::gen7, dwords, ""), "");
  EXPECT_EQ(format_fields(*find_command("MI_STORE_DATA_IMM"), GenId::gen9, {}, ""), "");
}

TEST(Format, FieldsAreFoundByNameAndRead) {
  const CommandDesc& store = *find_command("MI_STORE_DATA_IMM");
  const FieldDesc* address = find_field(store, GenId::gen9, "address");
  ASSERT_NE(address, nullptr);
  const uint32_t dwords[] = {0, 0x1000, 0x1};
  EXPECT_EQ(field_value(*address, read_field(*address, dwords)), 0x1'0000'1000u);
  EXPECT_EQ(find_field(store, GenId::gen9, "no_such"), nullptr);
  EXPECT_EQ(find_field(store, GenId::gen7, "address"), nullptr);
}

}  // namespace
}  // namespace halogen::spec
