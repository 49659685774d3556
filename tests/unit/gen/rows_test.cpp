#include "gen/rows.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "gen/pipeline_rules.h"
#include "spec/device_model.h"

namespace halogen {
namespace {

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

TEST(RowsTest, RangeOfGenerationsHasBothEnds) {
  EXPECT_EQ(from_to(GenId::gen6, GenId::gen7), spec::mask_of(GenId::gen6) | spec::mask_of(GenId::gen7));
  EXPECT_EQ(from_to(GenId::gen12, GenId::gen12), spec::mask_of(GenId::gen12));
}

TEST(RowsTest, CompleteTableHasNoGenerationAtFault) {
  EXPECT_EQ(gens_at_fault(kComplete, kAllGens), 0);
  static_assert(one_row_each<kComplete>);
}

TEST(RowsTest, MissingRowIsAFaultOfThatGeneration) {
  EXPECT_EQ(gens_at_fault(kWithoutGen7, kAllGens), spec::mask_of(GenId::gen7));
}

TEST(RowsTest, MissingRowIsAllowedWhereTheGenerationIsNotAsked) {
  const auto others = static_cast<GenMask>(kAllGens & ~spec::mask_of(GenId::gen7));
  EXPECT_EQ(gens_at_fault(kWithoutGen7, others), 0);
}

TEST(RowsTest, TwoRowsAreAFaultEvenWhereTheGenerationIsNotAsked) {
  EXPECT_EQ(gens_at_fault(kTwiceGen6, kAllGens), spec::mask_of(GenId::gen6));
  EXPECT_EQ(gens_at_fault(kTwiceGen6, spec::mask_of(GenId::gen4)), spec::mask_of(GenId::gen6));
}

TEST(RowsTest, RowOfAGenerationIsFound) {
  EXPECT_EQ(row_of(kComplete, GenId::gen6, "table").value, 4);
  EXPECT_EQ(row_of(kComplete, GenId::gen7, "table").value, 7);
  EXPECT_EQ(row_of(kWithoutGen7, GenId::gen7_5, "table").value, 8);
}

TEST(RowsDeathTest, MissingRowIsNamedWithItsTable) {
  EXPECT_DEATH(row_of(kWithoutGen7, GenId::gen7, "table"), "table has no row for gen7;");
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
