// MMIO bases of the units of Gen12: DG1 PRM vol. 13, Register Access and User Mode Privileges (seed 000).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "covers.h"
#include "spec/device_model.h"
#include "spec/tables.h"

namespace halogen {
namespace {

const std::map<std::string_view, uint32_t>& manual() {
  static const std::map<std::string_view, uint32_t> kBases = {
      {"RCS0", 0x2000},     {"POCS0", 0x18000},   {"BCS0", 0x22000},    {"CCS0", 0x1a000},    {"VCS0", 0x1c0000},
      {"VCS1", 0x1c4000},   {"VCS2", 0x1d0000},   {"VCS3", 0x1d4000},   {"VCS4", 0x1e0000},   {"VCS5", 0x1e4000},
      {"VCS6", 0x1f0000},   {"VCS7", 0x1f4000},   {"VECS0", 0x1c8000},  {"VECS1", 0x1d8000},  {"VECS2", 0x1e8000},
      {"VECS3", 0x1f8000},  {"AV1_0", 0x1c2b00},  {"AV1_1", 0x1c6b00},  {"AV1_2", 0x1d2b00},  {"AV1_3", 0x1d6b00},
      {"AV1_4", 0x1e2b00},  {"AV1_5", 0x1e6b00},  {"AV1_6", 0x1f2b00},  {"AV1_7", 0x1f6b00},  {"HEVC0", 0x1c2800},
      {"HEVC1", 0x1c6800},  {"HEVC2", 0x1d2800},  {"HEVC3", 0x1d6800},  {"HEVC4", 0x1e2800},  {"HEVC5", 0x1e6800},
      {"HEVC6", 0x1f2800},  {"HEVC7", 0x1f6800},  {"VDENC0", 0x1c2d00}, {"VDENC1", 0x1c6d00}, {"VDENC2", 0x1d2d00},
      {"VDENC3", 0x1d6d00}, {"VDENC4", 0x1e2d00}, {"VDENC5", 0x1e6d00}, {"VDENC6", 0x1f2d00}, {"VDENC7", 0x1f6d00},
  };
  return kBases;
}

TEST(Gen12Units, BasesAreTheManuals) {
  COVERS("DG1-CS-02");
  const auto tables = spec::unit_tables();
  const auto found = std::ranges::find_if(
      tables, [](const spec::UnitTable& t) { return (t.devices & spec::mask_of(spec::DeviceId::dg1)) != 0; });
  ASSERT_NE(found, tables.end());
  std::map<std::string_view, uint32_t> ours;
  for (const spec::UnitBase& unit : found->rows) ours[unit.name] = unit.base;
  EXPECT_EQ(ours, manual());
}

TEST(Gen12Units, EnginesAreAtTheirBase) {
  COVERS("DG1-CS-02");
  for (const spec::DeviceId device : {spec::DeviceId::tgl, spec::DeviceId::dg1}) {
    for (const spec::EngineModel& engine : spec::model(device).engines) {
      std::string name(engine.name);
      std::ranges::transform(name, name.begin(),
                             [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
      ASSERT_TRUE(manual().contains(name)) << name;
      EXPECT_EQ(engine.mmio_base, manual().at(name)) << name;
    }
  }
}

}  // namespace
}  // namespace halogen
