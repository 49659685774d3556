// Resets of the function, of the graphics part and of one engine: what they clear and what survives.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "covers.h"
#include "device/device.h"
#include "gen/config_rules.h"
#include "test_host.h"

namespace halogen::device {
namespace {

constexpr uint32_t kRingStart = 0x38;

class ResetTest : public ::testing::TestWithParam<const spec::DeviceModel*> {
 protected:
  const spec::DeviceModel& model = *GetParam();
  Bench bench{*GetParam()};

  void fill() {
    bench.wake_all();
    for (const spec::EngineModel& engine : model.engines) {
      bench.write(engine.mmio_base + kRingStart, 0x7000);
    }
  }
  bool is_reset(const spec::EngineModel& engine) {
    const uint32_t start = bench.read(engine.mmio_base + kRingStart);
    EXPECT_TRUE(start == 0 || start == 0x7000);
    return start == 0;
  }
  // Writes GDRST through MMIO, or through configuration space on Gen4.
  void gdrst(uint32_t mmio_bits, uint8_t config_domain) {
    if (Generation(model).reset_port() == ResetPort::config_gdrst) {
      bench.device->config_write(0xc0, 1, static_cast<uint32_t>(config_domain << 2 | 1));
      if (config_reset(model) == ConfigReset::held) {
        EXPECT_EQ(bench.device->config_read(0xc0, 1) & 3, 3u) << "requested, still in progress";
        bench.device->config_write(0xc0, 1, static_cast<uint32_t>(config_domain << 2 | 1));
        bench.device->config_write(0xc0, 1, 0);
      }
      EXPECT_EQ(bench.device->config_read(0xc0, 1) & 3, 0u) << "complete";
    } else {
      bench.write(0x941c, mmio_bits);
      EXPECT_EQ(bench.read(0x941c), 0u) << "the bits clear themselves";
    }
  }
};

TEST_P(ResetTest, FullGraphicsResetClearsEveryEngine) {
  fill();
  bench.device->bar_write(0, model.gtt_offset, 4, 0x1001);
  const uint32_t command = bench.device->config_read(4, 2);
  gdrst(1, 0);
  for (const spec::EngineModel& engine : model.engines) {
    EXPECT_TRUE(is_reset(engine)) << engine.name << ": reachable, so the wake requests were kept";
  }
  EXPECT_EQ(bench.device->bar_read(0, model.gtt_offset, 4), 0x1001u) << "the table survives";
  EXPECT_EQ(bench.device->config_read(4, 2), command) << "configuration space survives";
  EXPECT_EQ(bench.events(EventKind::terminated_access), 0u);
}

// On the first chips Linux requests a reset and then its end, and checks bit 1 both times (i915_do_reset); on later
// chips it waits for bit 0 (g4x_do_reset).
TEST(ConfigReset, ResetLastsUntilSoftwareEndsItOnGen4) {
  constexpr std::pair<const char*, bool> kChips[] = {{"i965", true}, {"gm965", true}, {"g45", false}, {"gm45", false}};
  for (const auto& [name, lasts] : kChips) {
    Bench bench(*spec::find_device(name));
    bench.device->config_write(0xc0, 1, 2);
    EXPECT_EQ(bench.device->config_read(0xc0, 1), 0u) << name << ": software cannot write the status";
    bench.device->config_write(0xc0, 4, 1);
    EXPECT_EQ(bench.device->config_read(0xc0, 1), lasts ? 3u : 0u) << name;
    bench.write(0x2000 + kRingStart, 0x7000);
    bench.device->config_write(0x04, 2, 7);
    EXPECT_EQ(bench.read(0x2000 + kRingStart), 0x7000u) << name << ": other writes have no effect";
    bench.device->config_write(0xc0, 1, 0);
    EXPECT_EQ(bench.device->config_read(0xc0, 1), 0u) << name;
  }
}

// Linux resets the graphics part when it binds, and never writes LMEM_CFG: page tables stay where firmware put them.
TEST(LocalTables, LocalTablesSurviveAReset) {
  Bench bench(*spec::find_device("dg1"));
  bench.wake_all();
  EXPECT_EQ(bench.read(0xcf58), 1u << 31);
  bench.write(0x941c, 1);
  EXPECT_EQ(bench.read(0xcf58), 1u << 31);
}

TEST_P(ResetTest, RenderResetKeepsOtherEngines) {
  fill();
  gdrst(2, 1);
  for (const spec::EngineModel& engine : model.engines) {
    const bool shares = engine.engine_class == spec::EngineClass::render ||
                        engine.engine_class == spec::EngineClass::compute ||
                        engine.engine_class == spec::EngineClass::posh;
    EXPECT_EQ(is_reset(engine), shares) << engine.name;
  }
}

TEST_P(ResetTest, ResetControlRequestIsAnsweredBeforeTheReset) {
  if (!model.has(spec::Feature::ring_reset_ctl)) {
    EXPECT_TRUE(bench.device->mmio().bank().map().slots_of("RESET_CTL").empty());
    return;
  }
  bench.wake_all();
  for (const spec::EngineModel& engine : model.engines) {
    const uint32_t ctl = engine.mmio_base + 0xd0;
    EXPECT_EQ(bench.read(ctl), 0u);
    bench.write(ctl, 0x0002'0002);
    EXPECT_EQ(bench.read(ctl), 0u) << "software cannot set ready";
    bench.write(ctl, 0x0000'0001);
    EXPECT_EQ(bench.read(ctl), 0u) << "no mask bit";
    bench.write(ctl, 0x0001'0001);
    EXPECT_EQ(bench.read(ctl), 3u) << "requested and ready";
    bench.device->reset_engine(engine);
    EXPECT_EQ(bench.read(ctl), 0u) << "the reset ends the request";
    bench.write(ctl, 0x0001'0001);
    bench.write(ctl, 0x0001'0000);
    EXPECT_EQ(bench.read(ctl), 0u) << "withdrawn";
  }
}

// After a function level reset every register has its reset value and no domain is awake; memory keeps its contents.
TEST_P(ResetTest, FunctionLevelResetRestoresResetValues) {
  const auto find = [&](uint8_t id) {
    unsigned at = bench.device->config_read(0x34, 1);
    while (at != 0 && bench.device->config_read(at, 1) != id) {
      at = bench.device->config_read(at + 1, 1);
    }
    return at;
  };
  fill();
  bench.device->bar_write(0, model.gtt_offset, 4, 0x1001);
  bench.device->config_write(0x10, 4, 0xf000'0000);
  if (model.local_bytes != 0) {
    bench.device->bar_write(2, 0x1000, 4, 0x1234);
  }
  const unsigned express = find(0x10);
  const unsigned features = find(0x13);
  if (express != 0) {
    EXPECT_NE(bench.device->config_read(express + 4, 4) & 0x1000'0000, 0u);
    bench.device->config_write(express + 8, 2, 0x8000);
    EXPECT_EQ(bench.device->config_read(express + 8, 2) & 0x8000, 0u);
  } else if (features != 0) {
    EXPECT_NE(bench.device->config_read(features + 3, 1) & 2, 0u);
    bench.device->config_write(features + 4, 1, 1);
    EXPECT_EQ(bench.device->config_read(features + 4, 1), 0u);
  } else {
    bench.device->reset(ResetKind::function_level);
  }
  EXPECT_EQ(bench.device->config_read(4, 2), 0u);
  EXPECT_EQ(bench.device->config_read(0x10, 4) & ~0xfu, 0u);
  bench.enable();
  DeviceOptions options;
  Bench fresh{model, options};
  EXPECT_EQ(bench.device->snapshot().mmio, fresh.device->snapshot().mmio) << "registers as after power-on";
  EXPECT_EQ(bench.device->bar_read(0, model.gtt_offset, 4), 0x1001u);
  if (model.local_bytes != 0) {
    EXPECT_EQ(bench.device->bar_read(2, 0x1000, 4), 0x1234u);
  }
  bench.device->reset(ResetKind::power_on);
  bench.enable();
  EXPECT_EQ(bench.device->snapshot(), fresh.device->snapshot());
}

INSTANTIATE_TEST_SUITE_P(Devices, ResetTest, ::testing::ValuesIn(every_model()), model_name);

// The G45 PRM (seed 003) does not describe GDRST; the bits are those Linux uses: 3:2 domain (0 all, 1 render, 3 media),
// 0 enable.
TEST(G45Reset, MediaDomainResetsOnlyTheVideoEngine) {
  Bench bench("g45");
  bench.write(0x2038, 0x1000);
  bench.write(0x4038, 0x2000);
  bench.device->config_write(0xc0, 1, 0x0d);
  EXPECT_EQ(bench.device->config_read(0xc0, 1), 0x0cu);
  EXPECT_EQ(bench.read(0x2038), 0x1000u);
  EXPECT_EQ(bench.read(0x4038), 0u);
}

TEST(IclReset, EachBitResetsOnlyItsEngine) {
  Bench bench("icl");
  bench.wake_all();
  const std::pair<uint32_t, uint32_t> bits[] = {
      {1u << 5, 0x1c0000}, {1u << 7, 0x1d0000}, {1u << 13, 0x1c8000}, {1u << 2, 0x22000}};
  for (const auto& [bit, base] : bits) {
    for (const auto& [unused, other] : bits) {
      bench.write(other + kRingStart, 0x3000);
    }
    bench.write(0x941c, bit);
    for (const auto& [unused, other] : bits) {
      EXPECT_EQ(bench.read(other + kRingStart), other == base ? 0u : 0x3000u);
    }
  }
}

TEST(Dg1Reset, DriverResetKeepsConfigurationSpace) {
  Bench bench("dg1");
  bench.wake_all();
  bench.write(0x2038, 0x1000);
  bench.device->bar_write(2, 0, 8, 0x55);
  bench.device->config_write(0x10, 4, 0xf000'0000);
  bench.write(0x101010, 0x8000'0000);
  EXPECT_EQ(bench.read(0x101010), 0x80u) << "complete; local memory is ready again";
  EXPECT_EQ(bench.device->bar_read(2, 0, 8), 0u);
  EXPECT_EQ(bench.device->config_read(0x10, 4) & ~0xfu, 0xf000'0000u);
  bench.wake_all();
  EXPECT_EQ(bench.read(0x2038), 0u);
}

}  // namespace
}  // namespace halogen::device
