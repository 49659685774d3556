// Rules that name one fact each agree with the commands, registers and engines that the descriptions give the chip.
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "gen/driver_rules.h"
#include "gen/media_rules.h"
#include "gen/perf_rules.h"
#include "gen/pipeline_rules.h"
#include "hw/3d_pointers.h"
#include "hw/gtt.h"
#include "hw/media.h"
#include "hw/oa.h"
#include "spec/device_model.h"
#include "spec/field_visitor.h"
#include "spec/interface_model.h"

namespace halogen {
namespace {

bool has(const spec::ItemDesc& item, spec::GenId gen) {
  return item.layout(gen) != nullptr;
}

class FactRules : public ::testing::TestWithParam<const spec::DeviceModel*> {
 protected:
  const spec::DeviceModel& model() const { return *GetParam(); }
  spec::GenId gen() const { return model().gen; }
};

TEST_P(FactRules, GlobalTableIsEnabledWherePgtblCtlHasTheBit) {
  const bool bit = spec::find_field(hw::PGTBL_CTL::kDesc, gen(), "page_table_enable") != nullptr;
  EXPECT_EQ(driver_rules(gen()).ggtt_enable_bit, bit);
}

TEST_P(FactRules, OneResetCoversAllEnginesWhereEnginesHaveNoResetBits) {
  bool bits = false;
  for (const spec::EngineModel& engine : model().engines) {
    bits = bits || engine.reset_bit != model().engines[0].reset_bit;
  }
  EXPECT_EQ(driver_rules(gen()).reset_covers_all_engines, !bits);
}

TEST_P(FactRules, MediaStateIsInMemoryWhereACommandPointsToIt) {
  EXPECT_EQ(media_rules(gen()).state == MediaStateForm::unit, has(hw::MEDIA_STATE_POINTERS::kDesc, gen()));
  EXPECT_EQ(media_rules(gen()).state == MediaStateForm::commands,
            has(hw::MEDIA_INTERFACE_DESCRIPTOR_LOAD::kDesc, gen()));
}

TEST_P(FactRules, ThreadsSetUpPrimitivesWhereUnitsReadTheirStateFromMemory) {
  const bool units = has(hw::_3DSTATE_PIPELINED_POINTERS::kDesc, gen());
  EXPECT_EQ(pipeline_rules(gen()).setup == SetupForm::thread, units);
  EXPECT_EQ(pipeline_rules(gen()).ordered_corners, units);
}

// Linux refuses streams of counters on chips without a unit that the driver supports.
TEST_P(FactRules, RulesOfStreamsOfCountersExistWhereLinuxOffersThem) {
  EXPECT_EQ(perf_rules(model().id).exists, spec::interface_of(model().id).perf);
}

TEST_P(FactRules, MetricSetsMayWriteOnlyWholeListedRegisters) {
  const PerfRules& rules = perf_rules(model().id);
  if (!rules.exists) GTEST_SKIP() << "no unit whose reports go to a buffer";
  EXPECT_TRUE(is_perf_register(rules.mux, 0x9888));  // the port of the signal network on every chip
  EXPECT_FALSE(is_perf_register(rules.mux, 0x9889));
  EXPECT_FALSE(is_perf_register(rules.mux, 0x988c));
  EXPECT_FALSE(is_perf_register(rules.mux, 0x2358));
  EXPECT_FALSE(is_perf_register(rules.boolean, 0x9888));
}

// Linux 6.1 i915_perf.c, mask_reg_value: GEN8_ST_PO_DISABLE and HSW_WAIT_FOR_RC6_EXIT_ENABLE with their mask bits.
TEST(PerfRulesTest, MetricSetsDoNotChangeWorkaroundBits) {
  EXPECT_EQ(allowed_perf_value(0xe180, ~0u), 0xdfff'dfffu);
  EXPECT_EQ(allowed_perf_value(0x20cc, ~0u), 0xfffe'fffeu);
  EXPECT_EQ(allowed_perf_value(0x9888, ~0u), ~0u);
}

// Linux 6.1 i915_perf.c, gen8_update_reg_state_unlocked: the order of the flexible registers in a context.
TEST(PerfRulesTest, FlexibleRegistersHaveTheOrderOfContexts) {
  constexpr uint32_t kOffsets[] = {0xe458, 0xe558, 0xe658, 0xe758, 0xe45c, 0xe55c, 0xe65c};
  ASSERT_EQ(flexible_registers().size(), std::size(kOffsets));
  for (size_t i = 0; i < std::size(kOffsets); ++i) {
    EXPECT_EQ(flexible_registers()[i]->offset(spec::DeviceId::bdw), kOffsets[i]);
    EXPECT_EQ(flexible_registers()[i]->offset(spec::DeviceId::dg1), kOffsets[i]);
  }
}

std::vector<const spec::DeviceModel*> every_model() {
  std::vector<const spec::DeviceModel*> models;
  for (const spec::DeviceModel& model : spec::device_models()) {
    models.push_back(&model);
  }
  return models;
}

INSTANTIATE_TEST_SUITE_P(Devices, FactRules, ::testing::ValuesIn(every_model()),
                         [](const auto& row) { return std::string(row.param->name); });

}  // namespace
}  // namespace halogen
