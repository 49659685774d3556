// Force wake, steering and fuses as a driver uses them through the BAR.
#include <gtest/gtest.h>

#include "covers.h"
#include "device/device.h"
#include "test_host.h"

namespace halogen::device {
namespace {

constexpr uint32_t kWake = 0x0001'0001;
constexpr uint32_t kRelease = 0x0001'0000;

TEST(Dg1Wake, SleepingDomainDropsWritesAndReadsZero) {
  COVERS("DG1-FW-09");
  COVERS("DG1-FW-10");
  Bench bench("dg1");
  constexpr uint32_t kRingStart = 0x2038;
  bench.write(kRingStart, 0x1234'5000);
  EXPECT_EQ(bench.read(kRingStart), 0u);
  EXPECT_EQ(bench.events(EventKind::terminated_access), 2u);
  bench.write(0xa278, kWake);
  EXPECT_EQ(bench.read(0x0d84), 1u) << "acknowledged";
  EXPECT_EQ(bench.read(kRingStart), 0u) << "the write was dropped";
  bench.write(kRingStart, 0x1234'5000);
  EXPECT_EQ(bench.read(kRingStart), 0x1234'5000u);
  bench.write(0xa278, kRelease);
  EXPECT_EQ(bench.read(0x0d84), 0u);
  EXPECT_EQ(bench.read(kRingStart), 0u);
  bench.write(0xa278, kWake);
  EXPECT_EQ(bench.read(kRingStart), 0x1234'5000u) << "sleeping loses nothing";
}

struct WakePair {
  uint32_t request;
  uint32_t ack;
  uint32_t inside;  // RING_START of an engine in the domain
};

TEST(Dg1Wake, EachRequestWakesItsOwnDomain) {
  COVERS("DG1-FW-08");
  // Bases: DG1-CS-02; the copy engine lies in GT.
  constexpr std::array kPairs{WakePair{0xa188, 0x130044, 0x22038}, WakePair{0xa278, 0x0d84, 0x2038},
                              WakePair{0xa540, 0x0d50, 0x1c0038}, WakePair{0xa548, 0x0d58, 0x1d0038},
                              WakePair{0xa560, 0x0d70, 0x1c8038}};
  for (const WakePair& pair : kPairs) {
    Bench bench("dg1");
    bench.write(pair.request, kWake);
    EXPECT_EQ(bench.read(pair.ack), 1u);
    for (const WakePair& other : kPairs) {
      bench.write(other.inside, 0x5000);
      const bool same = other.inside == pair.inside;
      EXPECT_EQ(bench.read(other.inside), same ? 0x5000u : 0u) << std::hex << pair.request << " " << other.inside;
    }
  }
}

TEST(Dg1Wake, RangesWithoutEndpointAlwaysTerminate) {
  COVERS("DG1-FW-06");
  Bench bench("dg1");
  bench.wake_all();
  bench.host.log.clear();
  // First and last dword of blank rows, from the manual's table.
  constexpr std::array<uint32_t, 14> kBlank{0x4900,  0x51fc,  0x8160,  0x817c,   0x10000,  0x147fc,  0x15000,
                                            0x1c000, 0x25b00, 0x2fffc, 0x1c4000, 0x1c7ffc, 0x1d4000, 0x23fffc};
  for (const uint32_t offset : kBlank) {
    bench.write(offset, 0xffff'ffff);
    EXPECT_EQ(bench.read(offset), 0u) << std::hex << offset;
  }
  EXPECT_EQ(bench.events(EventKind::terminated_access), 2 * kBlank.size());
}

TEST(SnbWake, OneUnmaskedRequestServesTheWholeGt) {
  Bench bench("snb");
  EXPECT_EQ(bench.read(0x2038), 0u);
  EXPECT_EQ(bench.events(EventKind::terminated_access), 1u);
  bench.write(0xa18c, 1);
  EXPECT_EQ(bench.read(0x130090), 1u);
  for (const uint32_t base : {0x2000u, 0x12000u, 0x22000u}) {
    bench.write(base + 0x38, 0x7000);
    EXPECT_EQ(bench.read(base + 0x38), 0x7000u);
  }
}

TEST(ChvWake, RenderAndMediaAreSeparateDomains) {
  Bench bench("chv");
  bench.write(0x1300b0, kWake);
  EXPECT_EQ(bench.read(0x1300b4), 1u);
  bench.write(0x2038, 0x5000);
  EXPECT_EQ(bench.read(0x2038), 0x5000u);
  EXPECT_EQ(bench.read(0x12038), 0u);
  bench.write(0x1300b8, kWake);
  EXPECT_EQ(bench.read(0x1300bc), 1u);
  bench.write(0x12038, 0x6000);
  EXPECT_EQ(bench.read(0x12038), 0x6000u);
}

TEST(Wake, Gen4HasNoDomains) {
  Bench bench("gm45");
  bench.write(0x2038, 0x5000);
  EXPECT_EQ(bench.read(0x2038), 0x5000u);
  EXPECT_EQ(bench.events(), 0u);
}

TEST(Wake, SubmissionPortsAreReachableWhileTheEngineSleeps) {
  // Linux i915 writes submission ports without a wake request.
  const std::pair<std::string_view, std::vector<uint32_t>> ports[] = {
      {"bdw", {0x2230, 0x22230, 0x12230, 0x1a230}},
      {"skl", {0x2230, 0x22230, 0x12230, 0x1a230}},
      {"icl", {0x2510, 0x254c, 0x2550, 0x22510, 0x1c0550, 0x1c8510}},
      {"dg1", {0x2510, 0x254c, 0x2550, 0x22510, 0x1c0550, 0x1c8510}},
  };
  for (const auto& [name, offsets] : ports) {
    Bench bench(name);
    for (const uint32_t offset : offsets) {
      bench.write(offset, 0);
    }
    EXPECT_EQ(bench.events(EventKind::terminated_access), 0u) << name;
  }
}

TEST(Wake, PowerGatingCanBeDisabled) {
  Bench bench("dg1", {.power_gating = false});
  bench.write(0x2038, 0x5000);
  EXPECT_EQ(bench.read(0x2038), 0x5000u);
  bench.device->reset(ResetKind::function_level);
  bench.enable();
  bench.write(0x2038, 0x5000);
  EXPECT_EQ(bench.read(0x2038), 0x5000u) << "the choice survives a reset";
}

TEST(Wake, StreamerAccessesNeedNoWakeRequest) {
  Bench bench("dg1");
  mmio::MmioSpace& mmio = bench.device->mmio();
  mmio.write(0x2038, 4, 0x9000, mmio::SelectorOrigin::command_streamer);
  EXPECT_EQ(mmio.read(0x2038, 4, mmio::SelectorOrigin::command_streamer), 0x9000u);
  EXPECT_EQ(bench.events(), 0u);
}

// FDC: multicast bit 31, slice 30:27, subslice 26:24.
constexpr uint32_t kSelector = 0xfdc;
constexpr uint32_t steer(uint32_t subslice) {
  return subslice << 24;
}
constexpr uint32_t kMulticast = 0x8000'0000;
constexpr uint32_t kPerDss = 0x9524;   // SUBSLICE_UNIT_LEVEL_CLKGATE
constexpr uint32_t kPerBank = 0xb100;  // LSQCREG1

TEST(Dg1Steering, UnicastReachesOneCopyAndMulticastAll) {
  COVERS("DG1-STEER-04");
  Bench bench("dg1");
  bench.wake_all();
  bench.read(kPerDss);
  const uint32_t rw = bench.device->mmio().bank().find(kPerDss)->policy.rw;
  const auto at = [&](uint32_t dss) {
    bench.write(kSelector, steer(dss));
    return bench.read(kPerDss);
  };
  for (uint32_t dss = 0; dss < 6; ++dss) {
    bench.write(kSelector, steer(dss));
    bench.write(kPerDss, 0x0101'0101 * (dss + 1));
  }
  for (uint32_t dss = 0; dss < 6; ++dss) {
    EXPECT_EQ(at(dss), (0x0101'0101 * (dss + 1)) & rw);
  }
  // Multicast reads come from the copy that the ids name; multicast writes go to all.
  bench.write(kSelector, kMulticast | steer(3));
  EXPECT_EQ(bench.read(kPerDss), (0x0101'0101 * 4) & rw);
  bench.write(kPerDss, 0x5a5a'5a5a);
  for (uint32_t dss = 0; dss < 6; ++dss) {
    EXPECT_EQ(at(dss), 0x5a5a'5a5a & rw);
  }
  EXPECT_EQ(bench.events(EventKind::terminated_access), 0u);
}

TEST(Dg1Steering, MulticastHasNoEffectOnASingleRegister) {
  COVERS("DG1-STEER-03");
  Bench bench("dg1");
  bench.wake_all();
  EXPECT_EQ(bench.read(kSelector) & kMulticast, kMulticast) << "the default";
  for (const uint32_t selector : {kMulticast, steer(0), steer(5), kMulticast | steer(7)}) {
    bench.write(kSelector, selector);
    bench.write(0x2038, selector ^ 0x1111'1000);
    EXPECT_EQ(bench.read(0x2038), (selector ^ 0x1111'1000) & 0xffff'f000);
  }
}

TEST(Dg1Steering, StreamersHaveTheirOwnSelector) {
  COVERS("DG1-STEER-02");
  Bench bench("dg1");
  bench.wake_all();
  mmio::MmioSpace& mmio = bench.device->mmio();
  const uint32_t rw = mmio.bank().find(kPerDss)->policy.rw;
  bench.write(kSelector, steer(1));
  bench.write(0x20cc, steer(2));
  mmio.write(kPerDss, 4, 0xffff'ffff, mmio::SelectorOrigin::command_streamer);
  EXPECT_EQ(bench.read(kPerDss), 0u) << "the host looks at copy 1";
  EXPECT_EQ(mmio.read(kPerDss, 4, mmio::SelectorOrigin::command_streamer), rw);
  bench.write(kSelector, steer(2));
  EXPECT_EQ(bench.read(kPerDss), rw);
}

TEST(Dg1Steering, FusedOffCopiesTerminateAndShowInTheFuses) {
  COVERS("DG1-STEER-05");
  COVERS("DG1-STEER-07");
  DeviceOptions options;
  options.fuses = mmio::SteeringConfig::for_device(spec::DeviceId::dg1).all_present();
  options.fuses->present[1] = 0b011'011;    // subslices 2 and 5 are off
  options.fuses->present[2] = 0b1110'1110;  // banks 0 and 4: one fuse
  Bench bench("dg1", options);
  bench.wake_all();
  EXPECT_EQ(bench.read(0x913c) & 0x3f, 0b011'011u) << "enable mask";
  EXPECT_EQ(bench.read(0x9118) & 0xff, 0b0001'0001u) << "disable mask, replicated";
  bench.host.log.clear();
  bench.write(kPerDss, 0xffff'ffff);
  for (uint32_t dss = 0; dss < 6; ++dss) {
    bench.write(kSelector, steer(dss));
    const bool off = dss == 2 || dss == 5;
    EXPECT_EQ(bench.read(kPerDss) == 0, off) << dss;
  }
  EXPECT_EQ(bench.events(EventKind::terminated_access), 2u);
  bench.write(kSelector, steer(4));
  bench.write(kPerBank, 0xffff'ffff);
  EXPECT_EQ(bench.read(kPerBank), 0u);
  EXPECT_EQ(bench.events(EventKind::terminated_access), 4u);
  bench.write(kSelector, steer(6));
  bench.write(kPerBank, 0xffff'ffff);
  EXPECT_NE(bench.read(kPerBank), 0u);
}

TEST(Dg1Steering, NothingIsFusedOffByDefault) {
  Bench bench("dg1");
  bench.wake_all();
  EXPECT_EQ(bench.read(0x913c) & 0x3f, 0x3fu);
  EXPECT_EQ(bench.read(0x9118) & 0xff, 0u);
}

}  // namespace
}  // namespace halogen::device
