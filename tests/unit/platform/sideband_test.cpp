// Cherryview's sideband and the power it controls, as Linux i915 uses them (vlv_sideband.c,
// intel_display_power_well.c). Offsets, addresses and bits are from its headers.
#include <gtest/gtest.h>

#include "device/device.h"
#include "unit/device/test_host.h"

namespace halogen::platform {
namespace {

constexpr uint32_t kRequest = 0x18'2100, kData = 0x18'2104, kAddress = 0x18'2108;
constexpr uint32_t kPhyControl = 0x1e'0100, kPhyStatus = 0x1e'0104, kPllB = 0x18'6018;
constexpr uint32_t kPunit = 4, kCck = 0x14, kDpio = 0x12, kDpio2 = 0x1a;
constexpr uint32_t kWells = 0x60, kWellStatus = 0x61, kDisplay = 0x36;

class SidebandTest : public ::testing::Test {
 protected:
  device::Bench bench{*spec::find_device("chv")};

  void request(uint32_t opcode, uint32_t port, uint32_t enables = 0xf) {
    bench.write(kRequest, opcode << 16 | port << 8 | enables << 4 | 1);
    EXPECT_EQ(bench.read(kRequest) & 1, 0u) << "still busy";
  }
  uint32_t get(uint32_t port, uint32_t address, uint32_t opcode = 6) {
    bench.write(kAddress, address);
    bench.write(kData, 0);
    request(opcode, port);
    return bench.read(kData);
  }
  void set(uint32_t port, uint32_t address, uint32_t value, uint32_t opcode = 7, uint32_t enables = 0xf) {
    bench.write(kAddress, address);
    bench.write(kData, value);
    request(opcode, port, enables);
  }
};

TEST_F(SidebandTest, AccessWithoutTheBusyBitDoesNotRun) {
  bench.write(kAddress, kWells);
  bench.write(kData, 0x1234);
  bench.write(kRequest, 7 << 16 | kPunit << 8 | 0xf0);
  EXPECT_EQ(get(kPunit, kWells), 0u);
}

TEST_F(SidebandTest, WellStatusFollowsItsControl) {
  EXPECT_EQ(get(kPunit, kWellStatus), 0u) << "all wells are on";
  set(kPunit, kWells, 3u << 24 | 3u << 6);
  EXPECT_EQ(get(kPunit, kWellStatus), 3u << 24 | 3u << 6);
  EXPECT_EQ(get(kPunit, kWells), 3u << 24 | 3u << 6);
  set(kPunit, kWellStatus, 0);
  EXPECT_EQ(get(kPunit, kWellStatus), 3u << 24 | 3u << 6) << "status cannot be written";
  set(kPunit, kWells, 0);
  EXPECT_EQ(get(kPunit, kWellStatus), 0u);
}

TEST_F(SidebandTest, DisplayStateFollowsItsRequests) {
  const uint32_t first = get(kPunit, kDisplay);
  EXPECT_EQ(first >> 16 & 0x3f, 0u) << "pipes have power";
  EXPECT_EQ(first >> 24 & 0x1f, first >> 8 & 0x1f);
  set(kPunit, kDisplay, 3 | 1u << 6 | 4u << 8);  // pipe A gated, PM5, another frequency
  const uint32_t state = get(kPunit, kDisplay);
  EXPECT_EQ(state >> 16 & 3, 3u);
  EXPECT_EQ(state >> 22 & 1, 1u);
  EXPECT_EQ(state >> 24 & 0x1f, 4u);
  set(kPunit, kDisplay, 0x3f'0000);  // state bits are not requests
  EXPECT_EQ(get(kPunit, kDisplay), 0u);
}

TEST_F(SidebandTest, MissingUnitsAreReportedAsGated) {
  constexpr uint32_t kCamera = 0x39;
  EXPECT_EQ(get(kPunit, kCamera) & 3, 3u);
  EXPECT_EQ(get(kPunit, kCamera) >> 24 & 3, 3u);
  set(kPunit, kCamera, 0);
  EXPECT_EQ(get(kPunit, kCamera), 0u);
  set(kPunit, kCamera, 1);
  EXPECT_EQ(get(kPunit, kCamera), 0x0100'0001u);
}

// As intel_rps.c computes frequencies: MHz = reference * value / 4, all values even.
TEST_F(SidebandTest, FrequencyTablesAreConsistent) {
  constexpr uint32_t kVco[] = {800, 1600, 2000, 2400};
  const uint32_t vco = kVco[get(kCck, 0x08) & 3];
  const auto clock = [&](uint32_t address, uint32_t source) {
    const uint32_t control = get(kCck, address);
    EXPECT_EQ(control >> 8 & 0x1f, control & 0x1f) << "no change in progress";
    return 2 * source / ((control & 0x1f) + 1);
  };
  EXPECT_EQ(clock(0x6b, vco), 320u) << "a display clock that the chip has";
  const uint32_t reference = clock(0x67, clock(0x62, vco));
  const uint32_t fuse = get(kPunit, 0x136);
  const uint32_t guaranteed = fuse & 0xff, highest = fuse >> 8 & 0xff;
  const uint32_t lowest = get(kPunit, 0x137) >> 8 & 0xff, efficient = get(kPunit, 0xdf) >> 8 & 0xff;
  EXPECT_EQ((guaranteed | highest | lowest | efficient) & 1, 0u);
  EXPECT_LE(lowest, efficient);
  EXPECT_LE(efficient, guaranteed);
  EXPECT_LT(guaranteed, highest);
  EXPECT_EQ(reference * highest / 4, 700u);
  EXPECT_EQ(reference * guaranteed / 4, 400u);
  EXPECT_EQ(get(kPunit, 0xd8) & 0x11, 0x10u) << "the PLL runs, and nothing is pending";
  set(kPunit, 0xd4, highest);
  EXPECT_EQ(get(kPunit, 0xd8), highest << 8 | 0x10);
  set(kPunit, 0x136, 0);
  EXPECT_EQ(get(kPunit, 0x136), fuse) << "fuses are read only";
  set(kCck, 0x6b, 7);
  EXPECT_EQ(get(kCck, 0x6b), 0x707u);
}

TEST_F(SidebandTest, MemoryRequestsAreServed) {
  set(kPunit, 0x139, 1u << 8 | 1);
  EXPECT_EQ(get(kPunit, 0x139), 1u);
}

TEST_F(SidebandTest, OtherUnitsStoreWrittenValues) {
  set(kDpio, 0x8170, 0x1122'3344, 1);
  EXPECT_EQ(get(kDpio, 0x8170, 0), 0x1122'3344u);
  EXPECT_EQ(get(kDpio2, 0x8170, 0), 0u) << "each unit has its own registers";
  set(kDpio, 0x8170, 0xaabb'ccdd, 1, 0x4);
  EXPECT_EQ(get(kDpio, 0x8170, 0), 0x11bb'3344u) << "enabled bytes only";
}

TEST_F(SidebandTest, InvalidAccessesAreReportedAndReadZero) {
  EXPECT_EQ(get(0x77, 0), 0u);
  EXPECT_EQ(bench.events(EventKind::unsupported), 1u);
  bench.write(kData, 5);
  request(0x20, kPunit);
  EXPECT_EQ(bench.events(EventKind::unsupported), 2u);
  EXPECT_EQ(bench.read(kData), 0u);
}

TEST_F(SidebandTest, StoredRegistersAreLimitedInNumber) {
  for (uint32_t i = 0; i < Sideband::kMaxRegisters + 10; ++i) set(kDpio, i, 1 + i);
  EXPECT_EQ(bench.device->snapshot().sideband.registers.size(), Sideband::kMaxRegisters);
  EXPECT_EQ(bench.events(EventKind::bad_access), 10u);
  set(kDpio, 3, 77);
  EXPECT_EQ(get(kDpio, 3), 77u) << "existing registers can still change";
}

TEST_F(SidebandTest, StateIsSavedAndReset) {
  set(kPunit, kWells, 0xc0);
  const device::DeviceState state = bench.device->snapshot();
  set(kPunit, kWells, 0);
  bench.device->restore(state);
  EXPECT_EQ(get(kPunit, kWellStatus), 0xc0u);
  bench.device->reset(device::ResetKind::function_level);
  bench.device->config_write(4, 2, 6);
  EXPECT_EQ(get(kPunit, kWellStatus), 0u);
}

// Bits that the driver expects for the wells and the control register that it wrote.
TEST_F(SidebandTest, TransmittersHavePowerWhileTheirWellIsOn) {
  bench.write(kPhyControl, 0x3d00'07ff);  // Linux's first value: all channels overridden, no lane down
  EXPECT_EQ(bench.read(kPhyStatus), 0xc000'0000u);
  set(kPunit, kWells, 3u << 24);
  EXPECT_EQ(bench.read(kPhyStatus), 0x8000'0000u);
  set(kPunit, kWells, 3u << 10);
  EXPECT_EQ(bench.read(kPhyStatus), 0x4000'0000u);
  set(kPunit, kWells, 3u << 10 | 3u << 24);
  EXPECT_EQ(bench.read(kPhyStatus), 0u);
}

TEST_F(SidebandTest, UnusedLanesArePoweredDown) {
  bench.write(kPhyControl, 0);  // no override
  EXPECT_EQ(bench.read(kPhyStatus), 0xc000'01ffu);
  bench.write(kPllB, 1u << 31);  // the clock of pipe B needs the second channel's common lane
  EXPECT_EQ(bench.read(kPllB), 1u << 31 | 1u << 15) << "and the clock is locked";
  EXPECT_EQ(bench.read(kPhyStatus), 0xc000'01f7u);
  bench.write(kPllB, 0);
  bench.write(kPhyControl, 1u << 27 | 0x3u << 11);  // channel 0 of the first: lanes 0 and 1 down
  EXPECT_EQ(bench.read(kPhyStatus), 0xc000'013fu);
  bench.write(kPhyControl, 1u << 29 | 0xcu << 19);  // the second: lanes 2 and 3 down
  EXPECT_EQ(bench.read(kPhyStatus), 0xc000'01fau);
}

TEST(Sideband, OtherChipsHaveNoSideband) {
  device::Bench bench(*spec::find_device("bdw"));
  bench.write(kRequest, 1);
  EXPECT_EQ(bench.read(kRequest), 0u);
}

}  // namespace
}  // namespace halogen::platform
