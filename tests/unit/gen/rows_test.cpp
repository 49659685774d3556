#include "gen/rows.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "gen/compression_rules.h"
#include "gen/count_rules.h"
#include "gen/depth_rules.h"
#include "gen/display_rules.h"
#include "gen/eu_rules.h"
#include "gen/generation.h"
#include "gen/message_rules.h"
#include "gen/observation_rules.h"
#include "gen/pipeline_rules.h"
#include "gen/port_rules.h"
#include "gen/tiling_rules.h"
#include "spec/device_model.h"

namespace halogen {
namespace {

using spec::DeviceId;
using spec::GenId;
using spec::GenMask;

struct Row {
  GenMask gens;
  int value;
};

constexpr std::array kComplete{Row{from_to(GenId::gen4, GenId::gen6), 4}, Row{from_to(GenId::gen7, GenId::gen12), 7}};
constexpr std::array kWithoutGen7{Row{from_to(GenId::gen4, GenId::gen6), 4},
                                  Row{from_to(GenId::gen7_5, GenId::gen12), 8}};
constexpr std::array kTwiceGen6{Row{from_to(GenId::gen4, GenId::gen6), 4}, Row{from_to(GenId::gen6, GenId::gen12), 6}};

constexpr std::array kOfChips{Row{from_to(GenId::gen4, GenId::gen4_5), 4}, Row{gens_of(GenId::gen6, GenId::gen8), 6},
                              Row{from_to(GenId::gen9, GenId::gen12), 9}};

struct DeviceRow {
  spec::DeviceMask devices;
  int value;
};
constexpr std::array kOfDevices{DeviceRow{devices_of(DeviceId::tgl, DeviceId::dg1), 1},
                                DeviceRow{devices_of(DeviceId::skl), 9}};

TEST(RowsTest, RangeOfGenerationsIncludesBothEnds) {
  EXPECT_EQ(from_to(GenId::gen6, GenId::gen7), spec::mask_of(GenId::gen6) | spec::mask_of(GenId::gen7));
  EXPECT_EQ(from_to(GenId::gen12, GenId::gen12), spec::mask_of(GenId::gen12));
}

TEST(RowsTest, RowsOfEachGenerationAreCounted) {
  static_assert(one_row_each<kComplete>);
  EXPECT_EQ(count_rows(kComplete, GenId::gen7), 1u);
  EXPECT_EQ(count_rows(kWithoutGen7, GenId::gen7), 0u);
  EXPECT_EQ(count_rows(kWithoutGen7, GenId::gen7_5), 1u);
  EXPECT_EQ(count_rows(kTwiceGen6, GenId::gen6), 2u);
}

// tests/gen_rows holds the tables that must not compile.
TEST(RowsTest, MissingRowIsAllowedForAGenerationWithoutADevice) {
  static_assert(one_row_each<kOfChips, spec::kGensWithDevice>);
  EXPECT_EQ(spec::kGensWithDevice & spec::mask_of(GenId::gen7), 0);
  EXPECT_EQ(count_rows(kOfChips, GenId::gen7), 0u);
}

TEST(RowsTest, RowOfAGenerationIsFound) {
  EXPECT_EQ(row_of(kComplete, GenId::gen6, "table").value, 4);
  EXPECT_EQ(row_of(kComplete, GenId::gen7, "table").value, 7);
  EXPECT_EQ(row_of(kWithoutGen7, GenId::gen7_5, "table").value, 8);
}

TEST(RowsTest, RowOfADeviceIsFound) {
  EXPECT_EQ(row_of(kOfDevices, DeviceId::skl, "table").value, 9);
  EXPECT_EQ(row_of(kOfDevices, DeviceId::dg1, "table").value, 1);
  EXPECT_EQ(count_rows(kOfDevices, DeviceId::skl), 1u);
  EXPECT_EQ(count_rows(kOfDevices, DeviceId::icl), 0u);
}

TEST(RowsTest, ListedGenerationsDoNotIncludeThoseBetweenThem) {
  EXPECT_EQ(gens_of(GenId::gen6, GenId::gen8), spec::mask_of(GenId::gen6) | spec::mask_of(GenId::gen8));
  EXPECT_EQ(gens_of(GenId::gen9), spec::mask_of(GenId::gen9));
}

TEST(RowsDeathTest, MissingRowIsNamedWithItsTable) {
  EXPECT_DEATH(row_of(kWithoutGen7, GenId::gen7, "table"), "table has no row for gen7");
  EXPECT_DEATH(row_of(kOfDevices, DeviceId::icl, "table"), "table has no row for icl");
}

// Instructions of these generations can be assembled and decoded, but rules of chips do not exist for them.
TEST(RowsDeathTest, ChipRulesDoNotExistForGenerationsWithoutADevice) {
  for (const GenId gen : {GenId::gen5, GenId::gen7, GenId::gen7_5}) {
    const std::string name(spec::name_of(gen));
    EXPECT_DEATH(generation_rules(gen), "generation_rules has no row for " + name);
    EXPECT_DEATH(depth_rules(gen), "depth_rules has no row for " + name);
    EXPECT_DEATH(compression_rules(gen), "compression_rules has no row for " + name);
    EXPECT_DEATH(count_rules(gen), "count_rules has no row for " + name);
    EXPECT_DEATH(display_rules(gen), "display_rules has no row for " + name);
    EXPECT_DEATH(fence_rule(gen), "fence_rule has no row for " + name);
    EXPECT_DEATH(observation_rules(gen), "observation_rules has no row for " + name);
    EXPECT_DEATH(port_rules(gen), "port_rules has no row for " + name);
    for (unsigned client = 0; client < kMemoryClients; ++client) {
      EXPECT_EQ(client_rule(gen, static_cast<MemoryClient>(client)), nullptr);
    }
  }
  for (const GenId gen : {GenId::gen5, GenId::gen7, GenId::gen7_5}) {
    EXPECT_NE(eu_rules(gen).gens & spec::mask_of(gen), 0);
    EXPECT_NE(message_rules(gen).gens & spec::mask_of(gen), 0);
  }
}

TEST(RowsDeathTest, PipelineHasNoFormOnGenerationsWithoutADevice) {
  for (const GenId gen : {GenId::gen5, GenId::gen7, GenId::gen7_5}) {
    EXPECT_DEATH(pipeline_rules(gen), "pipeline_rules has no row for " + std::string(spec::name_of(gen)));
  }
}

TEST(RowsTest, GensWithDeviceAreThoseOfTheDevices) {
  GenMask gens = 0;
  for (const spec::DeviceModel& model : spec::device_models()) {
    gens = static_cast<GenMask>(gens | spec::mask_of(model.gen));
  }
  EXPECT_EQ(spec::kGensWithDevice, gens);
  EXPECT_EQ(spec::kGensWithDevice & from_to(GenId::gen7, GenId::gen7_5), 0);
}

TEST(PipelineRulesTest, StateOfGen4ComesFromUnitsAndOfGen6FromCombinedCommands) {
  EXPECT_EQ(pipeline_rules(GenId::gen4).pipeline, PipelineForm::units);
  EXPECT_EQ(pipeline_rules(GenId::gen4_5).pipeline, PipelineForm::units);
  EXPECT_EQ(pipeline_rules(GenId::gen6).pipeline, PipelineForm::combined);
  for (const GenId gen : {GenId::gen8, GenId::gen9, GenId::gen11, GenId::gen12}) {
    EXPECT_EQ(pipeline_rules(gen).pipeline, PipelineForm::split);
  }
}

}  // namespace
}  // namespace halogen
