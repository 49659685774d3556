// The MI commands of 965 to GM45, their streamers and lengths: G45 PRM vol. 1b chapters 1 to 3 (seed 003).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "covers.h"
#include "spec/device_model.h"
#include "unit/spec_mi/frame.h"

namespace halogen::spec_mi {
namespace {

bool has_engine(const spec::DeviceModel& device, EngineClass engine) {
  for (const spec::EngineModel& e : device.engines) {
    if (e.engine_class == engine) return true;
  }
  return false;
}

TEST(Gen4Mi, ClientZeroIsDecodedBySixOpcodeBits) {
  COVERS("G45-1.1-01");
  for (const DeviceId device : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    for (const EngineClass engine : {EngineClass::render, EngineClass::video}) {
      for (uint32_t opcode = 0; opcode < 64; ++opcode) {
        const Frame plain = frame(device, engine, mi(opcode));
        EXPECT_EQ(frame(device, engine, mi(opcode, ones(22, 0))).name, plain.name) << opcode;
        if (!plain.name.empty()) {
          EXPECT_EQ(plain.name.substr(0, 3), "MI_") << opcode;
        }
      }
    }
  }
  // Presence depends on the product: MI_ARB_ON_OFF (1.3) and MI_UPDATE_GTT (1.19) exist from DevCTG on, MI_OVERLAY_FLIP
  // (1.12) on all.
  for (const DeviceId device : {DeviceId::i965, DeviceId::gm965}) {
    EXPECT_EQ(frame(device, EngineClass::render, mi(0x08)), Frame{});
    EXPECT_EQ(frame(device, EngineClass::render, mi(0x23, 1)), Frame{});
    EXPECT_EQ(frame(device, EngineClass::render, mi(0x11)).name, "MI_OVERLAY_FLIP");
  }
  EXPECT_EQ(frame(DeviceId::gm45, EngineClass::render, mi(0x08)).name, "MI_ARB_ON_OFF");
  EXPECT_EQ(frame(DeviceId::gm45, EngineClass::render, mi(0x23, 1)).name, "MI_UPDATE_GTT");
}

TEST(Gen4Mi, LowOpcodesAreOneDwordAndOthersHaveALengthBiasOfTwo) {
  COVERS("G45-1.1-02");
  struct Row {
    uint32_t opcode;
    const char* name;
  };
  constexpr std::array kOneDword = {
      Row{0x00, "MI_NOOP"},        Row{0x02, "MI_USER_INTERRUPT"}, Row{0x03, "MI_WAIT_FOR_EVENT"},
      Row{0x04, "MI_FLUSH"},       Row{0x05, "MI_ARB_CHECK"},      Row{0x06, "MI_UNPROBE"},
      Row{0x07, "MI_REPORT_HEAD"}, Row{0x08, "MI_ARB_ON_OFF"},     Row{0x0a, "MI_BATCH_BUFFER_END"},
  };
  constexpr std::array kLong = {
      Row{0x11, "MI_OVERLAY_FLIP"},
      Row{0x12, "MI_LOAD_SCAN_LINES_INCL"},
      Row{0x13, "MI_LOAD_SCAN_LINES_EXCL"},
      Row{0x14, "MI_DISPLAY_FLIP"},
      Row{0x18, "MI_SET_CONTEXT"},
      Row{0x20, "MI_STORE_DATA_IMM"},
      Row{0x21, "MI_STORE_DATA_INDEX"},
      Row{0x22, "MI_LOAD_REGISTER_IMM"},
      Row{0x23, "MI_UPDATE_GTT"},
      Row{0x24, "MI_STORE_REGISTER_MEM"},
      Row{0x25, "MI_PROBE"},
      Row{0x31, "MI_BATCH_BUFFER_START"},
  };
  for (const Row& row : kOneDword) {
    for (const uint32_t rest : {0u, 1u, 0x3fu}) {
      EXPECT_EQ(frame(DeviceId::gm45, EngineClass::render, mi(row.opcode, rest)), (Frame{row.name, 1}));
    }
  }
  for (const Row& row : kLong) {
    for (const uint32_t len : {0u, 1u, 2u, 5u, 0x3fu}) {
      EXPECT_EQ(frame(DeviceId::gm45, EngineClass::render, mi(row.opcode, len)), (Frame{row.name, len + 2}));
    }
  }
}

TEST(Gen4Mi, VideoStreamerExistsFromGm45On) {
  COVERS("G45-2.1-01");
  for (const spec::DeviceModel& device : spec::device_models()) {
    EXPECT_EQ(has_engine(device, EngineClass::video), device.gen != GenId::gen4) << device.name;
  }
}

TEST(Gen4Mi, ArbOnOffAndStoreRegisterMemArePrimaryOnly) {
  COVERS("G45-2.13-02");
  EXPECT_EQ(frame(DeviceId::gm45, EngineClass::render, mi(0x08)).name, "MI_ARB_ON_OFF");
  EXPECT_EQ(frame(DeviceId::gm45, EngineClass::video, mi(0x08)), Frame{});
  EXPECT_EQ(frame(DeviceId::gm45, EngineClass::render, mi(0x24, 1)).name, "MI_STORE_REGISTER_MEM");
  EXPECT_EQ(frame(DeviceId::gm45, EngineClass::video, mi(0x24, 1)), Frame{});
}

// The rest of G45-2.13-01, the parse error, is tested with the engine.
TEST(Gen4Mi, VideoStreamerHasTheCommandsOfItsSummary) {
  constexpr std::array<uint32_t, 12> kListed = {0x00, 0x02, 0x03, 0x04, 0x05, 0x07, 0x0a, 0x16, 0x20, 0x21, 0x22, 0x31};
  for (uint32_t opcode = 0; opcode < 64; ++opcode) {
    const bool listed = std::find(kListed.begin(), kListed.end(), opcode) != kListed.end();
    EXPECT_EQ(frame(DeviceId::gm45, EngineClass::video, mi(opcode, 1)).name.empty(), !listed) << opcode;
  }
}

TEST(Gen4Mi, BlitterCommandsRunOnThePrimaryRing) {
  COVERS("G45-3.1-01");
  for (const DeviceId device : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    EXPECT_FALSE(has_engine(spec::model(device), EngineClass::blit));
    constexpr uint32_t kXyColorBlt = 2u << 29 | 0x50u << 22 | 4;  // 8.9.8: client 2, opcode 50h, six dwords
    EXPECT_EQ(frame(device, EngineClass::render, kXyColorBlt), (Frame{"XY_COLOR_BLT", 6}));
    for (const uint32_t opcode : {0x00u, 0x02u, 0x03u, 0x20u, 0x21u, 0x22u}) {
      EXPECT_FALSE(frame(device, EngineClass::render, mi(opcode, 2)).name.empty()) << opcode;
    }
  }
}

TEST(Gen4Mi, PipelineSelectHasAnotherOpcodeFromGm45On) {
  // Both are one dword long; 6104h is another command of three dwords from Gen8 on.
  EXPECT_EQ(frame(DeviceId::i965, EngineClass::render, 0x61040000), (Frame{"PIPELINE_SELECT", 1}));
  EXPECT_EQ(frame(DeviceId::i965, EngineClass::render, 0x69040000).name, "");
  EXPECT_EQ(frame(DeviceId::g45, EngineClass::render, 0x69040000), (Frame{"PIPELINE_SELECT", 1}));
  EXPECT_EQ(frame(DeviceId::g45, EngineClass::render, 0x61040000).name, "");
  EXPECT_EQ(frame(DeviceId::skl, EngineClass::render, 0x61040001), (Frame{"GPGPU_CSR_BASE_ADDRESS", 3}));
}

}  // namespace
}  // namespace halogen::spec_mi
