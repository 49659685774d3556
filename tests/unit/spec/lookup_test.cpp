#include <gtest/gtest.h>

#include "spec/descriptors.h"
#include "spec/device_model.h"
#include "spec/item_ids.h"
#include "spec/tables.h"

namespace halogen::spec {
namespace {

TEST(Lookup, EveryItemIsFoundByItsNameAndId) {
  for (const CommandDesc* c : commands()) {
    EXPECT_EQ(find_command(c->name), c);
    EXPECT_EQ(&desc(c->id), c);
  }
  for (const StructDesc* s : structs()) {
    EXPECT_EQ(find_struct(s->name), s);
    EXPECT_EQ(&desc(s->id), s);
  }
  for (const RegisterDesc* r : registers()) {
    EXPECT_EQ(find_register(r->name), r);
    EXPECT_EQ(&desc(r->id), r);
  }
  EXPECT_EQ(find_command("NO_SUCH_COMMAND"), nullptr);
  EXPECT_EQ(find_command(""), nullptr);
  EXPECT_EQ(commands().size(), kCommandCount);
}

TEST(Lookup, ElevenDevicesAreDescribed) {
  struct Known {
    const char* name;
    GenId gen;
    EngineClass engine;
  };
  const Known known[] = {
      {"i965", GenId::gen4, EngineClass::render},  {"gm965", GenId::gen4, EngineClass::render},
      {"g45", GenId::gen4_5, EngineClass::render}, {"gm45", GenId::gen4_5, EngineClass::render},
      {"snb", GenId::gen6, EngineClass::blit},     {"bdw", GenId::gen8, EngineClass::vebox},
      {"chv", GenId::gen8, EngineClass::blit},     {"skl", GenId::gen9, EngineClass::video},
      {"icl", GenId::gen11, EngineClass::vebox},   {"tgl", GenId::gen12, EngineClass::blit},
      {"dg1", GenId::gen12, EngineClass::blit},
  };
  EXPECT_EQ(device_models().size(), std::size(known));
  for (const Known& k : known) {
    const DeviceModel* device = find_device(k.name);
    ASSERT_NE(device, nullptr) << k.name;
    EXPECT_EQ(device->gen, k.gen) << k.name;
    EXPECT_EQ(&model(device->id), device);
    bool found = false;
    for (const EngineModel& e : device->engines) found = found || e.engine_class == k.engine;
    EXPECT_TRUE(found) << k.name;
  }
  EXPECT_EQ(find_device("voodoo"), nullptr);
  EXPECT_EQ(name_of(GenId::gen4_5), "gen4.5");
  EXPECT_EQ(name_of(EngineClass::vebox), "vebox");
}

TEST(Lookup, RangeRowsAreFoundByAnyAddressInThem) {
  for (const RangeTable& table : range_tables()) {
    for (size_t i = 0; i < table.rows.size(); ++i) {
      const MmioRange& row = table.rows[i];
      EXPECT_EQ(table.find(row.start), &row) << table.name;
      EXPECT_EQ(table.find(row.end), &row) << table.name;
      const bool next_touches = i + 1 < table.rows.size() && table.rows[i + 1].start == row.end + 1;
      if (!next_touches) {
        EXPECT_EQ(table.find(row.end + 1), nullptr) << table.name;
      }
    }
    EXPECT_EQ(table.find(0xffff'fffc), nullptr) << table.name;
  }
}

TEST(Lookup, OffsetsAndDevicesGoTogether) {
  for (const RegisterDesc* r : registers()) {
    for (const DeviceModel& device : device_models()) {
      const bool has = (r->devices & mask_of(device.id)) != 0;
      EXPECT_EQ(r->offset(device.id) != kNoOffset, has) << r->name << " " << device.name;
    }
  }
  const RegisterDesc* mode = find_register("GFX_MODE");
  ASSERT_NE(mode, nullptr);
  EXPECT_EQ(mode->offset(DeviceId::snb), 0x520u);
  EXPECT_EQ(mode->offset(DeviceId::skl), 0x29cu);
  EXPECT_EQ(mode->offset(DeviceId::gm965), kNoOffset);
}

TEST(Lookup, EnumNamesDependOnTheGeneration) {
  constexpr EnumValue kValues[] = {{"OLD", 1, mask_of(GenId::gen4)}, {"NEW", 1, mask_of(GenId::gen9)}};
  const EnumDesc desc{"E", "", kValues};
  EXPECT_EQ(desc.name_of(1, GenId::gen4), "OLD");
  EXPECT_EQ(desc.name_of(1, GenId::gen9), "NEW");
  EXPECT_EQ(desc.name_of(1, GenId::gen12), "");
  EXPECT_EQ(desc.name_of(2, GenId::gen4), "");
}

}  // namespace
}  // namespace halogen::spec
