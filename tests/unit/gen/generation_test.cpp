#include "gen/generation.h"

#include <gtest/gtest.h>

#include "gen/config_layout.h"

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

TEST(GenerationTest, EveryEngineHasItsResetBit) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    const Generation generation(model);
    if (generation.reset_port() == ResetPort::config_gdrst) {
      EXPECT_TRUE(generation.reset_domains().empty());
      continue;
    }
    for (const spec::EngineModel& engine : model.engines) {
      int found = 0;
      for (const ResetDomain& domain : generation.reset_domains()) {
        found += domain.engine_class == static_cast<int>(engine.engine_class) && domain.instance == engine.instance;
      }
      EXPECT_EQ(found, 1) << model.name << " " << engine.name;
    }
  }
}

// The decoding as Linux has it: intel-gtt and early-quirks for Gen4, i915_ggtt for the rest.
TEST(ConfigLayoutTest, GgcReadsBackAsSoftwareDecodesIt) {
  constexpr uint64_t kMiB = 1 << 20;
  EXPECT_EQ(encode_ggc(GgcFormat::gen4, 8 * kMiB, kMiB / 2), 0x0030);
  EXPECT_EQ(encode_ggc(GgcFormat::gen4, 32 * kMiB, kMiB / 2), 0x0050);
  EXPECT_EQ(encode_ggc(GgcFormat::gen4, 352 * kMiB, 2 * kMiB), 0x03d0);
  const uint16_t snb = encode_ggc(GgcFormat::gen6, 64 * kMiB, 2 * kMiB);
  EXPECT_EQ(((snb >> 3) & 0x1f) * 32 * kMiB, 64 * kMiB);
  EXPECT_EQ(((snb >> 8) & 3) * kMiB, 2 * kMiB);
  const uint16_t chv = encode_ggc(GgcFormat::chv, 64 * kMiB, 8 * kMiB);
  EXPECT_EQ(((chv >> 3) & 0x1f) * 32 * kMiB, 64 * kMiB);
  EXPECT_EQ(kMiB << ((chv >> 8) & 3), 8 * kMiB);
  const uint16_t skl = encode_ggc(GgcFormat::gen8, 64 * kMiB, 8 * kMiB);
  EXPECT_EQ((skl >> 8) * 32 * kMiB, 64 * kMiB);
  EXPECT_EQ(kMiB << ((skl >> 6) & 3), 8 * kMiB);
}

TEST(ConfigLayoutTest, RegistersAndCapabilitiesDoNotOverlap) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    const ConfigLayout& layout = config_layout(model);
    std::array<bool, 256> used{};
    const auto take = [&](unsigned offset, unsigned bytes) {
      for (unsigned i = offset; i < offset + bytes; ++i) {
        ASSERT_LT(i, used.size());
        EXPECT_FALSE(used[i]) << model.name << std::hex << " " << i;
        used[i] = true;
      }
    };
    take(0, 0x40);
    for (const ConfigRegister& reg : layout.registers) {
      take(reg.offset, reg.bytes);
    }
    for (const CapabilityPlace& place : layout.capabilities) {
      switch (place.kind) {
        case CapabilityKind::vendor:
          take(place.offset, 12);
          break;
        case CapabilityKind::power:
          take(place.offset, 8);
          break;
        case CapabilityKind::msi:
          take(place.offset, 10);
          break;
        case CapabilityKind::msi_64_maskable:
          take(place.offset, 24);
          break;
        case CapabilityKind::advanced_features:
          take(place.offset, 6);
          break;
        case CapabilityKind::express_integrated:
        case CapabilityKind::express_endpoint:
          take(place.offset, 0x3c);
          break;
      }
    }
  }
}

}  // namespace
}  // namespace halogen
