// Registers by their numbers: statistics and dispatch registers of the access lists in DG1 PRM vol. 13 (seed 000),
// every register that access lists and context images name, fuses, and those that Linux i915 touches while it binds to
// a chip.
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <vector>

#include "spec/tables.h"
#include "unit/spec_registers/registers.h"

namespace halogen::spec_registers {
namespace {

struct Row {
  std::string_view name;
  uint32_t offset;
  unsigned dwords;
};

// Registers of this topic that render batches may write (seed 000, ledger DG1-WL-01).
constexpr std::array kRender = {
    Row{"CACHE_MODE_0", 0x7000, 1},
    Row{"CACHE_MODE_1", 0x7004, 1},
    Row{"GT_MODE", 0x7008, 1},
    Row{"NOPID", 0x2094, 1},
    Row{"NOPID", 0x18094, 1},
    Row{"INSTPM", 0x20c0, 1},
    Row{"IA_VERTICES_COUNT", 0x2310, 2},
    Row{"IA_VERTICES_COUNT", 0x18310, 2},
    Row{"IA_PRIMITIVES_COUNT", 0x2318, 2},
    Row{"IA_PRIMITIVES_COUNT", 0x18318, 2},
    Row{"VS_INVOCATION_COUNT", 0x2320, 2},
    Row{"VS_INVOCATION_COUNT", 0x18320, 2},
    Row{"HS_INVOCATION_COUNT", 0x2300, 2},
    Row{"DS_INVOCATION_COUNT", 0x2308, 2},
    Row{"GS_INVOCATION_COUNT", 0x2328, 2},
    Row{"GS_PRIMITIVES_COUNT", 0x2330, 2},
    Row{"SO_NUM_PRIMS_WRITTEN0", 0x5200, 2},
    Row{"SO_NUM_PRIMS_WRITTEN3", 0x5218, 2},
    Row{"SO_PRIM_STORAGE_NEEDED0", 0x5240, 2},
    Row{"SO_PRIM_STORAGE_NEEDED3", 0x5258, 2},
    Row{"SO_WRITE_OFFSET0", 0x5280, 1},
    Row{"SO_WRITE_OFFSET3", 0x528c, 1},
    Row{"CL_INVOCATION_COUNT", 0x2338, 2},
    Row{"CL_INVOCATION_COUNT", 0x18338, 2},
    Row{"CL_PRIMITIVES_COUNT", 0x2340, 2},
    Row{"CL_PRIMITIVES_COUNT", 0x18340, 2},
    Row{"PS_INVOCATION_COUNT", 0x2348, 2},
    Row{"PS_DEPTH_COUNT", 0x2350, 2},
    Row{"PS_INVOCATION_COUNT_0", 0x22c8, 2},
    Row{"PS_DEPTH_COUNT_0", 0x22d8, 2},
    Row{"PS_INVOCATION_COUNT_1", 0x22f0, 2},
    Row{"PS_DEPTH_COUNT_1", 0x22f8, 2},
    Row{"PS_INVOCATION_COUNT_2", 0x2448, 2},
    Row{"PS_DEPTH_COUNT_2", 0x2450, 2},
    Row{"PS_INVOCATION_COUNT_5", 0x24a0, 2},
    Row{"PS_DEPTH_COUNT_5", 0x24a8, 2},
    Row{"PS_INVOCATION_COUNT_6", 0x25d0, 2},
    Row{"PS_DEPTH_COUNT_6", 0x25b0, 2},
    Row{"PS_INVOCATION_COUNT_7", 0x25d8, 2},
    Row{"PS_DEPTH_COUNT_7", 0x25b8, 2},
    Row{"CPS_INVOCATION_COUNT", 0x2478, 2},
    Row{"GPGPU_DISPATCHDIMX", 0x2500, 1},
    Row{"GPGPU_DISPATCHDIMY", 0x2504, 1},
    Row{"GPGPU_DISPATCHDIMZ", 0x2508, 1},
    Row{"GPGPU_DISPATCHDIMX", 0x1a500, 1},
    Row{"3DPRIM_END_OFFSET", 0x2420, 1},
    Row{"3DPRIM_START_VERTEX", 0x2430, 1},
    Row{"3DPRIM_START_VERTEX", 0x18430, 1},
    Row{"3DPRIM_VERTEX_COUNT", 0x2434, 1},
    Row{"3DPRIM_INSTANCE_COUNT", 0x2438, 1},
    Row{"3DPRIM_START_INSTANCE", 0x243c, 1},
    Row{"3DPRIM_BASE_VERTEX", 0x2440, 1},
    Row{"3DPRIM_XP0", 0x2690, 1},
    Row{"3DPRIM_XP2", 0x18698, 1},
    Row{"GPGPU_THREADS_DISPATCHED", 0x2290, 2},
    Row{"GPGPU_THREADS_DISPATCHED", 0x1a290, 2},
    Row{"BB_OFFSET", 0x2158, 1},
    Row{"CS_GPR", 0x2600, 32},
    Row{"CS_GPR", 0x18600, 32},
    Row{"CS_GPR", 0x22600, 32},
    Row{"PR_CTR_CTL", 0x2178, 1},
    Row{"PR_CTR_THRSH", 0x217c, 1},
    Row{"VSR_PUSH_CONSTANT_BASE", 0xe518, 1},
    Row{"PTBR_PAGE_POOL_SIZE_REGISTER", 0x18590, 1},
    Row{"PSS_MODE", 0x7038, 1},
    Row{"CMD_BUF_CCTL", 0x2084, 1},
    Row{"Z_DISCARD_EN", 0x7040, 1},
    Row{"LSQCREG1", 0xb100, 1},
    Row{"LSQCREG4", 0xb118, 1},
    Row{"LSQCREG5", 0xb158, 1},
    Row{"LSQCREG6", 0xb15c, 1},
    Row{"L3ALLOC", 0xb134, 1},
    Row{"L3TCCNTLREG", 0xb138, 1},
    Row{"TIMESTAMP", 0x2358, 2},
    Row{"RPSTAT0", 0xa01c, 1},
    Row{"GFXREG_GT", 0x145040, 7},
    Row{"GFXREG_IA", 0x145828, 13},
    Row{"GFXREG_IO", 0x145928, 24},
    Row{"RP_PREV_UP", 0xa058, 1},
    Row{"RP_PREV_DOWN", 0xa064, 1},
    Row{"GT_GFX_RC6", 0x138108, 1},
    Row{"CTX_TIMESTAMP", 0x23a8, 1},
};

TEST(AccessListRegisters, AreAtTheOffsetsOfTheManual) {
  for (const Row& row : kRender) {
    for (unsigned n = 0; n < row.dwords; ++n) {
      EXPECT_EQ(who(DeviceId::dg1, row.offset + 4 * n), row.name) << std::hex << row.offset + 4 * n;
    }
  }
}

// Ranges of the observation unit that the access lists contain as a whole, with gaps between the registers.
bool is_observation_range(std::string_view name) {
  return name.find("_PERF") != std::string_view::npos;
}

TEST(AccessListRegisters, EveryListedDwordBelongsToARegister) {
  const mmio::RegisterMap& map = map_of(DeviceId::dg1);
  size_t rows = 0;
  for (const spec::PrivilegeList& list : spec::privilege_lists()) {
    if ((list.devices & spec::mask_of(DeviceId::dg1)) == 0) continue;
    for (const spec::PrivilegeRow& row : list.rows) {
      if (is_observation_range(row.name)) continue;
      for (const spec::EngineModel& engine : spec::model(DeviceId::dg1).engines) {
        if ((list.engines & spec::mask_of(engine.engine_class)) == 0) continue;
        const uint32_t base = row.base == spec::RegisterBase::engine ? engine.mmio_base : 0;
        for (uint32_t n = 0; n < row.dwords; ++n) {
          EXPECT_NE(map.find(base + row.offset + 4 * n), nullptr) << list.name << ' ' << row.name << ' ' << engine.name;
        }
        ++rows;
      }
    }
  }
  EXPECT_GT(rows, 300u);
}

TEST(ContextImages, NameOnlyRegistersThatExist) {
  for (const spec::ContextImageDesc& image : spec::context_images()) {
    for (const spec::DeviceModel& model : spec::device_models()) {
      if ((image.devices & spec::mask_of(model.id)) == 0) continue;
      const mmio::RegisterMap& map = map_of(model.id);
      for (const spec::EngineModel& engine : model.engines) {
        if ((image.engines & spec::mask_of(engine.engine_class)) == 0) continue;
        for (const spec::ImageEntry& entry : image.entries) {
          for (const spec::ImageRegister& reg : entry.registers) {
            if (reg.name == "UNLISTED") continue;  // a pair that the manual counts but does not name
            const bool found = map.find(reg.offset) != nullptr || map.find(engine.mmio_base + reg.offset) != nullptr;
            EXPECT_TRUE(found) << image.name << ' ' << model.name << ' ' << engine.name << ' ' << reg.name;
          }
        }
      }
    }
  }
}

TEST(Fuses, DescribeTheDevices) {
  // Broadwell and Skylake GT2: slice 0 of three; Skylake's fourth subslice is off.
  EXPECT_EQ(reset(DeviceId::bdw, "FUSE2"), 1u << 25);
  EXPECT_EQ(reset(DeviceId::skl, "FUSE2"), (1u << 25) | (8u << 20));
  EXPECT_EQ(at(DeviceId::chv, "CHV_FUSE_GT"), 0x182168u);
  EXPECT_EQ(at(DeviceId::icl, "GT_SLICE_ENABLE"), 0x9138u);
  EXPECT_EQ(reset(DeviceId::icl, "GT_SLICE_ENABLE"), 1u);
  EXPECT_EQ(at(DeviceId::dg1, "GT_VEBOX_VDBOX_DISABLE"), 0x9140u);
  // DG1 has video boxes 0 and 2 of eight and enhancement box 0 of four (seed 000, wake targets).
  const uint64_t media = reset(DeviceId::dg1, "GT_VEBOX_VDBOX_DISABLE");
  EXPECT_EQ(~media & 0xff, 0b101u);
  EXPECT_EQ(~(media >> 16) & 0xf, 0b1u);
}

TEST(Fuses, ClockRegistersAgreeWithTheTimestampRate) {
  // Frequency = crystal >> (3 - shift); Linux i915, intel_gt_clock_utils.c.
  const auto rate = [](DeviceId device, uint64_t crystal_hz) {
    const GenId gen = spec::model(device).gen;
    const Bits shift = bits(gen, "RPM_CONFIG0", "ctc_shift");
    return crystal_hz >> (3 - (reset(device, "RPM_CONFIG0") >> shift.lo & 3));
  };
  constexpr std::array<uint64_t, 4> crystals = {24'000'000, 19'200'000, 38'400'000, 25'000'000};
  for (const DeviceId device : {DeviceId::icl, DeviceId::tgl, DeviceId::dg1}) {
    EXPECT_EQ(rate(device, crystals[reset(device, "RPM_CONFIG0") >> 3 & 7]), spec::model(device).timestamp_hz);
    EXPECT_EQ(reset(device, "CTC_MODE") & 1, 0u) << "the crystal is the source";
  }
  EXPECT_EQ(24'000'000u >> (3 - (reset(DeviceId::skl, "CTC_MODE") >> 1 & 3)), spec::model(DeviceId::skl).timestamp_hz);
}

struct Touched {
  DeviceId device;
  std::vector<uint32_t> absolute;
  std::vector<uint32_t> on_every_engine;  // of chips that i915 supports
};

// GT registers that i915 of Linux 6.1 reads or writes between probe and a first batch.
std::vector<Touched> touched() {
  const std::vector<uint32_t> execlist_engine = {0x30, 0x34,  0x38,  0x3c,  0x54,  0x5c,  0x60, 0x64, 0x68,
                                                 0x74, 0x78,  0x80,  0x98,  0x9c,  0xa8,  0xb0, 0xb4, 0xb8,
                                                 0xd0, 0x140, 0x168, 0x234, 0x238, 0x29c, 0x3a0};
  std::vector<uint32_t> queue_engine = execlist_engine;
  for (const uint32_t offset : {0x4d0u, 0x4fcu, 0x510u, 0x514u, 0x518u, 0x51cu, 0x550u}) queue_engine.push_back(offset);
  std::vector<uint32_t> port_engine = execlist_engine;
  port_engine.push_back(0x230);
  return {
      {DeviceId::g45,
       {0x20a0, 0x20a4, 0x20a8, 0x20b4, 0x20e0, 0x2098, 0x2120, 0x2180, 0x21a0, 0x21d0, 0x6204, 0x6208, 0x620c, 0x6210,
        0x10204, 0x10604, 0x10c00, 0x10c38},
       {0x30, 0x34, 0x38, 0x3c, 0x64, 0x68, 0x74, 0x78, 0x80, 0x9c, 0x140}},
      {DeviceId::snb,
       {0x2084,   0x2090,   0x20d0,   0x2120,   0x2180,   0x21a0,   0x2520,   0x12050,  0x12198,  0x9400,
        0x9404,   0x941c,   0xa090,   0xa094,   0xa0a0,   0xa0c0,   0xa168,   0x44004,  0x4400c,  0x44014,
        0x4401c,  0x44024,  0x4402c,  0xc4004,  0xc400c,  0xc4040,  0x120000, 0x120008, 0x13805c, 0x138108,
        0x138124, 0x138128, 0x13812c, 0x145004, 0x145008, 0x145998, 0x145d10, 0x145e04},
       {0x30, 0x34, 0x38, 0x3c, 0x54, 0x64, 0x68,  0x74,  0x78,  0x98,
        0x9c, 0xa8, 0xb0, 0xb4, 0xb8, 0xc0, 0x140, 0x220, 0x228, 0x2080}},
      {DeviceId::chv,
       {0x20a0,   0x2050,   0x9400,   0x941c,   0x9424,   0x9430,   0xa090,   0xa094,   0xa09c,   0xa0b8,
        0xa168,   0xb100,   0x44200,  0x44304,  0x44318,  0x4432c,  0x44338,  0x444e4,  0x120008, 0x138104,
        0x138108, 0x182028, 0x1820a0, 0x1820a4, 0x1820a8, 0x182100, 0x182104, 0x182108, 0x182120, 0x182168},
       port_engine},
      {DeviceId::icl,
       {0xd00,    0x2090,   0x20a0,   0x20d4,   0x20e0,   0x20ec,   0x7034,   0x8000,   0x800c,   0x80c0,   0x9134,
        0x9138,   0x913c,   0x9140,   0x941c,   0x9434,   0x94d4,   0x94e4,   0x9524,   0x9550,   0xa090,   0xa0c8,
        0xa168,   0xa210,   0xa26c,   0xb000,   0xb004,   0xb118,   0xb140,   0xb404,   0xb43c,   0xc000,   0xc3e4,
        0x42300,  0x444e4,  0x444f8,  0xc4004,  0x120010, 0x138108, 0x138124, 0x138128, 0x145998, 0x145e04, 0x145ef0,
        0x190010, 0x190018, 0x19001c, 0x190030, 0x190040, 0x190060, 0x190074, 0x190090, 0x1900d0, 0x1900f0},
       queue_engine},
      {DeviceId::dg1,
       {0xd00,    0x20a0,   0x20e0,   0x20ec,   0x8000,   0x8010,   0x9134,   0x9138,   0x913c,   0x9140,   0x941c,
        0x94e4,   0x9528,   0x9550,   0xa090,   0xa0c8,   0xa168,   0xa210,   0xa26c,   0xc000,   0xc3e4,   0xe18c,
        0xe4f4,   0x42300,  0x444e4,  0x444f8,  0x101038, 0x120010, 0x138108, 0x138124, 0x145998, 0x145ef0, 0x190008,
        0x190010, 0x190018, 0x190044, 0x190060, 0x190070, 0x190090, 0x1900f4, 0x1c3f10, 0x1d3f10},
       queue_engine},
  };
}

TEST(LinuxBinding, TouchesOnlyDescribedGtRegisters) {
  for (const Touched& chip : touched()) {
    const spec::DeviceModel& model = spec::model(chip.device);
    for (const uint32_t offset : chip.absolute) {
      EXPECT_NE(who(chip.device, offset), "") << model.name << ' ' << std::hex << offset;
    }
    for (const spec::EngineModel& engine : model.engines) {
      for (const uint32_t offset : chip.on_every_engine) {
        EXPECT_NE(who(chip.device, engine.mmio_base + offset), "") << engine.name << ' ' << std::hex << offset;
      }
    }
  }
}

}  // namespace
}  // namespace halogen::spec_registers
