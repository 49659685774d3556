#include "decode/pointers.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "decode/field_list.h"
#include "row_items.h"
#include "spec/device_model.h"

namespace halogen::decode {
namespace {

// Rows refer to items and fields of spec/ by name. A rename there must fail this test, not silently disable the row.
TEST(Pointers, EveryRowNamesExistingItems) {
  for (const PointerRow& row : pointer_rows()) {
    const std::string where = std::string(row.owner) + "." + std::string(row.field);
    const spec::ItemDesc* owner = find_item(row.owner);
    ASSERT_NE(owner, nullptr) << where;
    EXPECT_TRUE(has_field(*owner, row.field)) << where;
    if (row.target == Target::structure) {
      EXPECT_NE(spec::find_struct(row.structure), nullptr) << where;
    }
    for (std::string_view rest = row.only_if; !rest.empty();) {
      const size_t bar = std::min(rest.find('|'), rest.size());
      EXPECT_TRUE(has_field(*owner, rest.substr(0, bar))) << where << " only_if " << rest;
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
    if (row.count.empty()) continue;
    const size_t dot = row.count.find('.');
    const spec::ItemDesc* counter = dot == std::string_view::npos ? owner : find_item(row.count.substr(0, dot));
    ASSERT_NE(counter, nullptr) << where;
    EXPECT_TRUE(has_field(*counter, dot == std::string_view::npos ? row.count : row.count.substr(dot + 1))) << where;
  }
}

TEST(Pointers, EveryBaseNamesExistingItems) {
  for (const BaseRow& row : base_rows()) {
    const spec::ItemDesc* command = spec::find_command(row.command);
    ASSERT_NE(command, nullptr) << row.command;
    EXPECT_TRUE(has_field(*command, row.address)) << row.address;
    if (!row.modify.empty()) {
      EXPECT_TRUE(has_field(*command, row.modify)) << row.modify;
    }
    if (!row.enable.empty()) {
      EXPECT_TRUE(has_field(*command, row.enable)) << row.enable;
    }
  }
}

class Bases : public ::testing::Test {
 protected:
  const spec::CommandDesc* command_ = spec::find_command("STATE_BASE_ADDRESS");
  StateBases bases_;
};

TEST_F(Bases, AreKeptUnlessTheirModifyBitIsSet) {
  const spec::DeviceModel& bdw = *spec::find_device("bdw");
  std::array<uint32_t, 16> dwords{};
  dwords[0] = 0x6101'000e;
  dwords[4] = 0x0010'0001;  // surface state base, low dword, modify enable
  dwords[5] = 0x1;
  dwords[6] = 0x0020'0000;  // dynamic state base without modify enable
  bases_.update(*command_, bdw.gen, dwords);
  EXPECT_EQ(bases_.get(Base::surface), 0x1'0010'0000u);
  EXPECT_EQ(bases_.get(Base::dynamic), 0u);
  EXPECT_EQ(bases_.get(Base::binding_table_pool), 0x1'0010'0000u) << "no pool: tables are surface state";
}

TEST_F(Bases, OldestGenerationHasOneBaseForKernelsAndState) {
  const spec::DeviceModel& i965 = *spec::find_device("i965");
  const std::array<uint32_t, 6> dwords{0x6101'0004, 0x0040'0001, 1, 1, 1, 1};
  bases_.update(*command_, i965.gen, dwords);
  EXPECT_EQ(bases_.get(Base::general), 0x0040'0000u);
  EXPECT_EQ(bases_.get(Base::instruction), 0x0040'0000u);
  EXPECT_EQ(bases_.get(Base::dynamic), 0x0040'0000u);
  EXPECT_EQ(bases_.get(Base::surface), 0u);
}

TEST_F(Bases, BindingTablePointersMoveWithGtMode) {
  const spec::CommandDesc* load = spec::find_command("MI_LOAD_REGISTER_IMM");
  const spec::DeviceModel& icl = *spec::find_device("icl");
  EXPECT_EQ(bases_.binding_table_shift(), 0u);
  bases_.update(*load, icl.gen, std::array<uint32_t, 3>{0x1100'0001, 0x7008, 0x0400'0400});
  EXPECT_EQ(bases_.binding_table_shift(), 3u);
  bases_.update(*load, icl.gen, std::array<uint32_t, 3>{0x1100'0001, 0x7008, 0x0000'0000});
  EXPECT_EQ(bases_.binding_table_shift(), 3u) << "no mask bit, no change";
  bases_.update(*load, icl.gen, std::array<uint32_t, 3>{0x1100'0001, 0x7008, 0x0400'0000});
  EXPECT_EQ(bases_.binding_table_shift(), 0u);
}

TEST(FieldList, PathsNameElementsAndNestedStructures) {
  const spec::CommandDesc* load = spec::find_command("MI_LOAD_REGISTER_IMM");
  const spec::DeviceModel& bdw = *spec::find_device("bdw");
  const FieldList list = list_fields(*load, bdw.gen, std::array<uint32_t, 5>{0x1100'0003, 0x2244, 1, 0x2030, 2});
  int found = 0;
  for (const FieldValue& field : list.fields) {
    if (field.desc->type != spec::FieldType::reg) continue;
    EXPECT_NE(field.path.find(found == 0 ? "[0]" : "[1]"), std::string::npos) << field.path;
    EXPECT_EQ(spec::field_value(*field.desc, field.raw), found == 0 ? 0x2244u : 0x2030u);
    ++found;
  }
  EXPECT_EQ(found, 2);
}

}  // namespace
}  // namespace halogen::decode
