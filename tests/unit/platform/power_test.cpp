// The PCU mailbox and the display power wells, as drivers use them; offsets are from Linux i915.
#include <gtest/gtest.h>

#include "device/device.h"
#include "unit/device/test_host.h"

namespace halogen::platform {
namespace {

constexpr uint32_t kMailbox = 0x13'8124, kData = 0x13'8128, kBusy = 1u << 31;

class MailboxTest : public ::testing::TestWithParam<const char*> {
 protected:
  device::Bench bench{*spec::find_device(GetParam())};
  // Returns the low byte of the answer: an error code.
  uint32_t run(uint32_t command, uint32_t data) {
    bench.write(kData, data);
    bench.write(kMailbox, kBusy | command);
    const uint32_t answer = bench.read(kMailbox);
    EXPECT_EQ(answer & kBusy, 0u);
    return answer & 0xff;
  }
};

TEST_P(MailboxTest, KnownMailboxCommandsSucceed) {
  EXPECT_EQ(run(0x9, 0x55), 0u);  // READ_MIN_FREQ_TABLE
  EXPECT_EQ(bench.events(EventKind::unsupported), 0u);
}

TEST_P(MailboxTest, UnknownMailboxCommandsAreIllegal) {
  EXPECT_EQ(run(0xee, 0), 1u);
  EXPECT_EQ(bench.events(EventKind::unsupported), 1u);
}

TEST_P(MailboxTest, CommandWithoutTheBusyBitDoesNotRun) {
  bench.write(kMailbox, 0xee);
  EXPECT_EQ(bench.read(kMailbox), 0xeeu);
}

INSTANTIATE_TEST_SUITE_P(Chips, MailboxTest, ::testing::Values("snb", "bdw", "skl", "icl", "tgl", "dg1"));

TEST(Mailbox, DisplayClockChangeIsGranted) {
  device::Bench bench(*spec::find_device("icl"));
  bench.write(kData, 3);  // prepare for change
  bench.write(kMailbox, kBusy | 0x7);
  EXPECT_EQ(bench.read(kMailbox), 0u);
  EXPECT_EQ(bench.read(kData) & 1, 1u);
}

TEST(Mailbox, BoardIsReportedAsInitialised) {
  device::Bench bench(*spec::find_device("dg1"));
  bench.write(kMailbox, kBusy | 0x7e);
  EXPECT_EQ(bench.read(kMailbox), 0u);
  EXPECT_EQ(bench.read(kData), 1u);
}

TEST(PowerWells, WellIsOnWhileAnyRequestIsSet) {
  device::Bench bench(*spec::find_device("icl"));
  constexpr uint32_t kFirmware = 0x45400, kDriver = 0x45404, kDebug = 0x4540c;
  EXPECT_EQ(bench.read(kDriver), 0u);
  bench.write(kDriver, 2);
  EXPECT_EQ(bench.read(kDriver), 3u);
  EXPECT_EQ(bench.read(kFirmware), 1u) << "the state is on without its own request";
  bench.write(kDebug, 2);
  bench.write(kDriver, 0);
  EXPECT_EQ(bench.read(kDriver), 1u);
  bench.write(kDebug, 0);
  EXPECT_EQ(bench.read(kDriver), 0u);
  bench.write(kDriver, 0xffff'ffff);
  EXPECT_EQ(bench.read(kDebug), 0x5555'5555u);
  EXPECT_EQ(bench.read(0x45444), 0u) << "other groups have their own wells";
}

TEST(DisplayFuses, HeadlessDeviceHasNoPipes) {
  const spec::DeviceModel& model = *spec::find_device("icl");
  device::Bench whole(model);
  EXPECT_EQ(whole.read(0x51000), 0u);
  TestHost host;
  device::DeviceOptions options;
  options.headless = true;
  auto device = device::Device::create(model, host, options);
  ASSERT_TRUE(device.ok());
  (*device)->config_write(4, 2, 6);
  EXPECT_EQ((*device)->bar_read(0, 0x51000, 4), 0x5060'0000u);
}

}  // namespace
}  // namespace halogen::platform
