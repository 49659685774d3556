#include "gen/generation.h"

#include <gtest/gtest.h>

#include "gen/config_rules.h"

namespace halogen {
namespace {

Generation of(std::string_view device) {
  return Generation(*spec::find_device(device));
}

TEST(GenerationTest, StrategiesFollowTheChips) {
  EXPECT_EQ(of("g45").submission(), SubmissionKind::ring);
  EXPECT_EQ(of("snb").submission(), SubmissionKind::ring);
  EXPECT_EQ(of("chv").submission(), SubmissionKind::execlist_port);
  EXPECT_EQ(of("dg1").submission(), SubmissionKind::submit_queue);
  EXPECT_EQ(of("i965").ggtt_format(), GgttFormat::pte32_36);
  EXPECT_EQ(of("snb").ggtt_format(), GgttFormat::pte32_40);
  EXPECT_EQ(of("bdw").ggtt_format(), GgttFormat::pte64);
  EXPECT_EQ(of("gm45").interrupts(), InterruptKind::one_bank);
  EXPECT_EQ(of("snb").interrupts(), InterruptKind::display_master);
  EXPECT_EQ(of("skl").interrupts(), InterruptKind::numbered_banks);
  EXPECT_EQ(of("icl").interrupts(), InterruptKind::collapsed_banks);
  EXPECT_EQ(of("i965").reset_port(), ResetPort::config_gdrst);
  EXPECT_EQ(of("tgl").reset_port(), ResetPort::mmio_gdrst);
  EXPECT_EQ(of("icl").name(), "gen11");
}

TEST(GenerationTest, TimestampsAndAccessRulesFollowTheChips) {
  EXPECT_EQ(of("i965").timestamp_format(), TimestampFormat::ticks);
  EXPECT_EQ(of("gm45").timestamp_format(), TimestampFormat::quarter_nanoseconds);
  EXPECT_EQ(of("snb").timestamp_format(), TimestampFormat::ticks_36);
  EXPECT_EQ(of("dg1").timestamp_format(), TimestampFormat::ticks_36);
  EXPECT_TRUE(of("g45").register_access().allows(0x10206, 2));
  EXPECT_TRUE(of("g45").register_access().allows(0x10207, 2));
  EXPECT_TRUE(of("icl").register_access().allows(0x10206, 2));
  EXPECT_FALSE(of("icl").register_access().allows(0x10207, 2));
  EXPECT_FALSE(of("tgl").register_access().allows(0x10206, 2));
  EXPECT_TRUE(of("snb").gtt_access().allows(0x204, 4));
  EXPECT_TRUE(of("bdw").gtt_access().allows(0x204, 4));
  EXPECT_FALSE(of("bdw").gtt_access().allows(0x204, 8));
  EXPECT_FALSE(of("dg1").gtt_access().allows(0x204, 4));
  EXPECT_EQ(of("snb").ggtt_entry_bytes(), 4u);
  EXPECT_EQ(of("chv").ggtt_entry_bytes(), 8u);
}

// Linux i915: GEN6_GRDOM_*, GEN8_GRDOM_*, GEN11_GRDOM_*.
TEST(EngineNumbersTest, ResetBitsAreThoseOfLinux) {
  using spec::EngineClass;
  const auto bit = [](std::string_view device, std::string_view engine) {
    for (const spec::EngineModel& each : spec::find_device(device)->engines) {
      if (each.name == engine) {
        return unsigned{each.reset_bit};
      }
    }
    return ~0u;
  };
  for (const std::string_view device : {"snb", "bdw", "chv", "skl"}) {
    EXPECT_EQ(bit(device, "rcs0"), 1u) << device;
    EXPECT_EQ(bit(device, "vcs0"), 2u) << device;
    EXPECT_EQ(bit(device, "bcs0"), 3u) << device;
    EXPECT_EQ(bit(device, "vecs0"), device == "snb" ? ~0u : 4u) << device;
  }
  for (const std::string_view device : {"icl", "tgl", "dg1"}) {
    EXPECT_EQ(bit(device, "rcs0"), 1u) << device;
    EXPECT_EQ(bit(device, "pocs0"), 1u) << device;
    EXPECT_EQ(bit(device, "bcs0"), 2u) << device;
    EXPECT_EQ(bit(device, "vcs0"), 5u) << device;
    EXPECT_EQ(bit(device, "vcs2"), 7u) << device;
    EXPECT_EQ(bit(device, "vecs0"), 13u) << device;
    EXPECT_EQ(bit(device, "ccs0"), device == "icl" ? ~0u : 1u) << device;
  }
}

// Linux i915: *_HW ids of intel_engine_types.h for faults, *_CLASS for descriptors; spec/registers/trtt.toml for
// copies.
TEST(EngineNumbersTest, NumbersAreThoseOfLinuxAndTheRegisters) {
  using spec::EngineClass;
  constexpr unsigned kNone = spec::EngineModel::kNoId;
  for (const spec::DeviceModel& model : spec::device_models()) {
    const bool faults = Generation(model).has_execlists();
    const bool queue = Generation(model).submission() == SubmissionKind::submit_queue;
    const bool copies = model.name == "tgl" || model.name == "dg1";
    for (const spec::EngineModel& engine : model.engines) {
      unsigned fault = 0;
      unsigned number = 0;
      unsigned copy = 0;
      switch (engine.engine_class) {
        case EngineClass::render:
          break;
        case EngineClass::compute:
          number = 5;
          copy = 8;
          break;
        case EngineClass::posh:
          number = 6;
          copy = kNone;
          break;
        case EngineClass::video:
          fault = engine.instance == 0 ? 1 : 6;
          number = 1;
          copy = engine.instance == 0 ? 1 : 5;
          break;
        case EngineClass::vebox:
          fault = 3;
          number = 2;
          copy = 3;
          break;
        case EngineClass::blit:
          fault = 2;
          number = 3;
          copy = 4;
          break;
      }
      EXPECT_EQ(engine.fault_id, faults ? fault : kNone) << model.name << " " << engine.name;
      EXPECT_EQ(engine.class_id, queue ? number : kNone) << model.name << " " << engine.name;
      EXPECT_EQ(engine.register_set, copies ? copy : kNone) << model.name << " " << engine.name;
    }
  }
}

// The ranges of seed 001 and seed 000, and the page where Linux looks for a hypervisor.
TEST(NullRangesTest, RangesMatchTheGeneration) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    const auto ranges = spec::null_ranges(model.id);
    ASSERT_FALSE(ranges.empty()) << model.name;
    EXPECT_EQ(ranges[0].start, 0x78000u) << model.name;
    EXPECT_EQ(ranges[0].end, 0x78fffu) << model.name;
    const bool gen9_to_11 = model.name == "skl" || model.name == "icl";
    const bool gen12 = model.name == "tgl" || model.name == "dg1";
    ASSERT_EQ(ranges.size(), gen9_to_11 || gen12 ? 2u : 1u) << model.name;
    if (ranges.size() == 2) {
      EXPECT_EQ(ranges[1].start, gen12 ? 0x178000u : 0x170000u) << model.name;
      EXPECT_EQ(ranges[1].end, gen12 ? 0x178fffu : 0x17ffffu) << model.name;
    }
  }
}

// The decoding follows Linux: intel-gtt and early-quirks for Gen4, i915_ggtt for later generations.
TEST(ConfigRulesTest, GgcReadsBackAsSoftwareDecodesIt) {
  const auto ggc = [](std::string_view device, uint64_t stolen, uint64_t table) {
    return static_cast<uint16_t>(graphics_control(*spec::find_device(device), stolen, table).value);
  };
  constexpr uint64_t kMiB = 1 << 20;
  EXPECT_EQ(ggc("g45", 8 * kMiB, kMiB / 2), 0x0030);
  EXPECT_EQ(ggc("g45", 32 * kMiB, kMiB / 2), 0x0050);
  EXPECT_EQ(ggc("g45", 352 * kMiB, 2 * kMiB), 0x03d0);
  const uint16_t snb = ggc("snb", 64 * kMiB, 2 * kMiB);
  EXPECT_EQ(((snb >> 3) & 0x1f) * 32 * kMiB, 64 * kMiB);
  EXPECT_EQ(((snb >> 8) & 3) * kMiB, 2 * kMiB);
  const uint16_t chv = ggc("chv", 64 * kMiB, 8 * kMiB);
  EXPECT_EQ(((chv >> 3) & 0x1f) * 32 * kMiB, 64 * kMiB);
  EXPECT_EQ(kMiB << ((chv >> 8) & 3), 8 * kMiB);
  const uint16_t skl = ggc("skl", 64 * kMiB, 8 * kMiB);
  EXPECT_EQ((skl >> 8) * 32 * kMiB, 64 * kMiB);
  EXPECT_EQ(kMiB << ((skl >> 6) & 3), 8 * kMiB);
}

}  // namespace
}  // namespace halogen
