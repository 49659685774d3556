// Compares force wake of DG1 with the lists of the ledger, and that of other chips with facts from public drivers.
#include "mmio/force_wake.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "covers.h"
#include "mmio/mmio_space.h"
#include "spec/device_model.h"

namespace halogen::mmio {
namespace {

using spec::DeviceId;

struct Span {
  uint32_t start;
  uint32_t end;
};

// Transcribed from ledger rows DG1-FW-02 to DG1-FW-06: the manual's table with adjacent ranges joined.
const std::map<std::string, std::vector<Span>>& dg1_domains() {
  static const std::map<std::string, std::vector<Span>> kDomains = {
      {"aon", {{0xb00, 0x1fff}, {0x8180, 0x81ff}, {0x9560, 0x95ff}, {0xd000, 0xd7ff}, {0x24000, 0x2407f}}},
      {"render",
       {{0x2000, 0x26ff},
        {0x2800, 0x2aff},
        {0x3000, 0x3fff},
        {0x5200, 0x53ff},
        {0x5500, 0x7fff},
        {0x8140, 0x815f},
        {0x8300, 0x84ff},
        {0x94d0, 0x955f},
        {0xb000, 0xb3ff},
        {0xd800, 0xd8ff},
        {0xdc00, 0xddff},
        {0xde80, 0xe8ff},
        {0x14800, 0x14fff},
        {0x16e00, 0x1bfff},
        {0x24a00, 0x24a7f}}},
      {"gt",
       {{0x2700, 0x27ff},
        {0x2b00, 0x2fff},
        {0x4000, 0x48ff},
        {0x8000, 0x813f},
        {0x8200, 0x82ff},
        {0x8500, 0x87ff},
        {0x9000, 0x947f},
        {0x9800, 0xafff},
        {0xb400, 0xb47f},
        {0xc000, 0xcfff},
        {0xd900, 0xdbff},
        {0xf000, 0xffff},
        {0x22000, 0x23fff},
        {0x24180, 0x241ff},
        {0x25200, 0x252ff},
        {0x30000, 0x3ffff}}},
      {"vd0",
       {{0x20000, 0x20fff},
        {0x25600, 0x2567f},
        {0x25a00, 0x25a7f},
        {0x1c0000, 0x1c2bff},
        {0x1c2d00, 0x1c2dff},
        {0x1c3f00, 0x1c3fff},
        {0x1cc000, 0x1ccfff}}},
      {"vd2",
       {{0x21000, 0x21fff},
        {0x25680, 0x256ff},
        {0x25a80, 0x25aff},
        {0x1d0000, 0x1d2bff},
        {0x1d2d00, 0x1d2dff},
        {0x1d3f00, 0x1d3fff}}},
      {"ve0", {{0x1c8000, 0x1ca0ff}, {0x1cbf00, 0x1cbfff}}},
      {"",
       {{0x0, 0xaff},         {0x4900, 0x51ff},     {0x5400, 0x54ff},     {0x8160, 0x817f},     {0x8800, 0x8fff},
        {0x9480, 0x94cf},     {0x9600, 0x97ff},     {0xb480, 0xbfff},     {0xde00, 0xde7f},     {0xe900, 0xefff},
        {0x10000, 0x147ff},   {0x15000, 0x16dff},   {0x1c000, 0x1ffff},   {0x24080, 0x2417f},   {0x24200, 0x249ff},
        {0x24a80, 0x251ff},   {0x25300, 0x255ff},   {0x25700, 0x259ff},   {0x25b00, 0x2ffff},   {0x1c2c00, 0x1c2cff},
        {0x1c2e00, 0x1c3eff}, {0x1c4000, 0x1c7fff}, {0x1ca100, 0x1cbeff}, {0x1cd000, 0x1cffff}, {0x1d2c00, 0x1d2cff},
        {0x1d2e00, 0x1d3eff}, {0x1d4000, 0x23ffff}}},
  };
  return kDomains;
}

const spec::RangeTable& dg1_table() {
  const spec::RangeTable* table = spec::find_range_table("dg1_mmio");
  check(table != nullptr, "dg1_mmio");
  return *table;
}

ForceWake dg1() {
  return ForceWake(ForceWakeConfig::for_device(DeviceId::dg1));
}

// Checks that every dword of every listed span has the expected domain in the table.
void expect_domain(const std::string& domain) {
  for (const Span& span : dg1_domains().at(domain)) {
    for (uint32_t offset = span.start; offset <= span.end; offset += 4) {
      const spec::MmioRange* row = dg1_table().find(offset);
      ASSERT_NE(row, nullptr) << std::hex << offset;
      ASSERT_EQ(row->domain, domain) << std::hex << offset;
    }
  }
}

TEST(Dg1WakeTable, CoversAllOffsetsWithTheManualsRowCounts) {
  COVERS("DG1-FW-01");
  const auto rows = dg1_table().rows;
  EXPECT_EQ(rows.size(), 199u);
  std::map<std::string_view, int> count;
  for (const spec::MmioRange& row : rows) {
    ++count[row.domain];
  }
  const std::map<std::string_view, int> expected = {{"aon", 9},  {"render", 30}, {"gt", 27}, {"vd0", 12},
                                                    {"vd2", 11}, {"ve0", 3},     {"", 107}};
  EXPECT_EQ(count, expected);
  EXPECT_EQ(rows.front().start, 0u);
  EXPECT_EQ(rows.back().end, 0x23ffffu);
  for (size_t i = 1; i < rows.size(); ++i) {
    const uint32_t expected_start = rows[i - 1].end == 0x3ffff ? 0x1c0000u : rows[i - 1].end + 1;
    EXPECT_EQ(rows[i].start, expected_start) << i;
  }
  for (uint32_t offset = 0x40000; offset < 0x1c0000; offset += 0x100) {
    EXPECT_EQ(dg1_table().find(offset), nullptr) << std::hex << offset;
  }
  EXPECT_EQ(dg1_table().find(0x240000), nullptr);
  for (const spec::MmioRange& row : rows) {
    const bool replicated = !row.replication.empty();
    EXPECT_EQ(row.instances > 1, replicated) << std::hex << row.start;
    EXPECT_EQ(row.instances == 0, row.domain.empty()) << std::hex << row.start;
  }
}

TEST(Dg1WakeTable, AlwaysOnRangesNeedNoWake) {
  COVERS("DG1-FW-02");
  expect_domain("aon");
  const ForceWake wake = dg1();
  for (const Span& span : dg1_domains().at("aon")) {
    EXPECT_FALSE(wake.domain_of(span.start).has_value());
    EXPECT_EQ(wake.reach(span.start, false), Reach::ok) << "needs no wake";
    EXPECT_EQ(wake.reach(span.end & ~3u, true), Reach::ok);
  }
}

TEST(Dg1WakeTable, RenderRangesNeedTheRenderDomain) {
  COVERS("DG1-FW-03");
  expect_domain("render");
}

TEST(Dg1WakeTable, GtRangesNeedTheGtDomain) {
  COVERS("DG1-FW-04");
  expect_domain("gt");
  EXPECT_EQ(dg1_table().find(0x22030)->domain, "gt") << "the copy engine";
}

TEST(Dg1WakeTable, VideoBoxRangesNeedTheirOwnDomain) {
  COVERS("DG1-FW-05");
  expect_domain("vd0");
  expect_domain("vd2");
  expect_domain("ve0");
  for (const spec::MmioRange& row : dg1_table().rows) {
    if (row.domain.starts_with('v')) {
      EXPECT_TRUE(row.domain == "vd0" || row.domain == "vd2" || row.domain == "ve0") << row.domain;
    }
  }
}

TEST(Dg1WakeTable, RangesWithoutEndpointTerminate) {
  COVERS("DG1-FW-06");
  expect_domain("");
  ForceWake wake = dg1();
  wake.state().power_gating = false;
  for (const Span& span : dg1_domains().at("")) {
    EXPECT_EQ(wake.reach(span.start, false), Reach::no_endpoint);
    EXPECT_EQ(wake.reach(span.end & ~3u, true), Reach::no_endpoint);
  }
  EventLog events;
  MmioSpace space(spec::model(DeviceId::dg1), RegisterMap::for_device(spec::model(DeviceId::dg1)),
                  SteeringConfig::for_device(DeviceId::dg1), events, "mmio");
  space.wake().state().power_gating = false;
  for (const Span& span : dg1_domains().at("")) {
    if (span.start < 0xb00) {
      continue;  // the VGA ports are in the first range, on another path
    }
    space.write(span.start, 4, 0xffff'ffff);
    EXPECT_EQ(space.read(span.start, 4), 0u) << std::hex << span.start;
    space.write(span.end & ~3u, 4, 0xffff'ffff);
    EXPECT_EQ(space.read(span.end & ~3u, 4), 0u) << std::hex << span.end;
  }
  // The lists in this file cover the whole table: they have as many bytes as its two spans.
  uint64_t bytes = 0;
  for (const auto& [domain, spans] : dg1_domains()) {
    for (const Span& span : spans) {
      bytes += span.end - span.start + 1;
    }
  }
  EXPECT_EQ(bytes, 0x40000u + 0x80000u);
}

TEST(Dg1WakeTable, GarbledRowsAreRepaired) {
  COVERS("DG1-FW-07");
  const struct {
    uint32_t start;
    uint32_t bytes;
    std::string_view domain;
  } expected[] = {
      {0x8800, 2048, ""},    {0x1c0000, 2048, "vd0"}, {0x1c0800, 2048, "vd0"}, {0x1d2d00, 256, "vd2"},
      {0x1d2e00, 4352, ""},  {0x1d3f00, 256, "vd2"},  {0x1d4000, 2048, ""},    {0x1d4800, 2048, ""},
      {0x1d5000, 4096, ""},  {0x1d6000, 2048, ""},    {0x1d6800, 768, ""},     {0x1d6b00, 256, ""},
      {0x1d6c00, 256, ""},   {0x1d6d00, 256, ""},     {0x1d6e00, 4352, ""},    {0x1d7f00, 256, ""},
      {0x1d8000, 8192, ""},  {0x1da000, 256, ""},     {0x1da100, 7680, ""},    {0x1dbf00, 256, ""},
      {0x1dc000, 16384, ""}, {0x1e0000, 2048, ""},    {0x1e0800, 2048, ""},    {0x1e1000, 4096, ""},
      {0x1e2000, 2048, ""},  {0x1e2800, 768, ""},     {0x1e2b00, 256, ""},     {0x1e2c00, 256, ""},
      {0x1e2d00, 256, ""},   {0x1e2e00, 4352, ""},    {0x1e3f00, 256, ""},     {0x1e4000, 2048, ""},
      {0x1e4800, 2048, ""},  {0x1e5000, 4096, ""},    {0x1e6000, 2048, ""},    {0x1e6800, 768, ""},
      {0x1e6b00, 256, ""},   {0x1e6c00, 256, ""},     {0x1e6d00, 256, ""},     {0x1e6e00, 4352, ""},
      {0x1e7f00, 256, ""},   {0x1e8000, 8192, ""},
  };
  for (const auto& row : expected) {
    const spec::MmioRange* found = dg1_table().find(row.start);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->start, row.start) << std::hex << row.start;
    EXPECT_EQ(found->end, row.start + row.bytes - 1) << std::hex << row.start;
    EXPECT_EQ(found->domain, row.domain) << std::hex << row.start;
  }
  EXPECT_EQ(dg1_table().find(0x1d3eff)->end, 0x1d3effu);
  EXPECT_EQ(dg1_table().find(0x1d7eff)->end, 0x1d7effu);
  EXPECT_EQ(dg1_table().find(0x1dbeff)->end, 0x1dbeffu);
}

TEST(Dg1ForceWake, RequestAndAcknowledgeRegistersAreAtTheManualsOffsets) {
  COVERS("DG1-FW-08");
  const struct {
    std::string_view domain;
    uint32_t request;
    uint32_t ack;
  } ports[] = {
      {"gt", 0xa188, 0x130044}, {"render", 0xa278, 0x0d84}, {"vd0", 0xa540, 0x0d50}, {"vd1", 0xa544, 0x0d54},
      {"vd2", 0xa548, 0x0d58},  {"vd3", 0xa54c, 0x0d5c},    {"vd4", 0xa550, 0x0d60}, {"vd5", 0xa554, 0x0d64},
      {"vd6", 0xa558, 0x0d68},  {"vd7", 0xa55c, 0x0d6c},    {"ve0", 0xa560, 0x0d70}, {"ve1", 0xa564, 0x0d74},
      {"ve2", 0xa568, 0x0d78},  {"ve3", 0xa56c, 0x0d7c},
  };
  for (const auto& port : ports) {
    ForceWake wake = dg1();
    ASSERT_TRUE(wake.is_request(port.request)) << port.domain;
    ASSERT_TRUE(wake.is_ack(port.ack)) << port.domain;
    EXPECT_EQ(wake.read(port.ack), 0u);
    wake.write_request(port.request, 0x00010001);
    EXPECT_EQ(wake.read(port.ack), 1u) << port.domain;
    for (const auto& other : ports) {
      EXPECT_EQ(wake.awake(*wake.domain_named(other.domain)), other.domain == port.domain)
          << port.domain << " wakes " << other.domain;
    }
  }
  EXPECT_FALSE(dg1().domain_named("aon").has_value()) << "the always-on domain has no request register";
}

TEST(Dg1ForceWake, AccessToASleepingDomainTerminates) {
  COVERS("DG1-FW-09");
  ForceWake wake = dg1();
  const uint32_t in_render = 0x2358;
  EXPECT_EQ(wake.reach(in_render, false), Reach::asleep);
  EXPECT_EQ(wake.reach(in_render, true), Reach::asleep);
  wake.write_request(0xa278, 0x00010001);
  EXPECT_EQ(wake.reach(in_render, false), Reach::ok);
  EXPECT_EQ(wake.reach(0x22358, false), Reach::asleep) << "another domain still sleeps";
  wake.write_request(0xa278, 0x00010000);
  EXPECT_EQ(wake.reach(in_render, false), Reach::asleep);
  // Shadow registers: ring tails, submission ports and the requests themselves need no wake.
  for (const uint32_t shadow :
       {0x2030u, 0x22030u, 0x1c0030u, 0x1d0030u, 0x1c8030u, 0x2510u, 0x2550u, 0xa188u, 0xa278u}) {
    EXPECT_EQ(wake.reach(shadow, true), Reach::ok) << std::hex << shadow;
  }
}

TEST(Dg1ForceWake, TerminatedAccessReadsZeroSilently) {
  COVERS("DG1-FW-10");
  EventLog events;
  MmioSpace space(spec::model(DeviceId::dg1), RegisterMap::for_device(spec::model(DeviceId::dg1)),
                  SteeringConfig::for_device(DeviceId::dg1), events, "mmio");
  constexpr uint32_t kGpr = 0x2600;  // CS_GPR_R0 of the render engine
  space.write(0xa278, 4, 0x0001'0001);
  space.write(kGpr, 4, 0x1234'5678);
  EXPECT_EQ(space.read(kGpr, 4), 0x1234'5678u);
  space.write(0xa278, 4, 0x0001'0000);
  EXPECT_EQ(space.read(kGpr, 4), 0u) << "a dummy completion";
  space.write(kGpr, 4, 0xffff'ffff);  // dropped
  space.write(0xa278, 4, 0x0001'0001);
  EXPECT_EQ(space.read(kGpr, 4), 0x1234'5678u);
  const ForceWake wake = dg1();
  for (const uint32_t offset : {0x2358u, 0x4200u, 0x1c0600u, 0x1d0600u, 0x1c8600u}) {
    EXPECT_EQ(wake.reach(offset, true), Reach::asleep) << std::hex << offset;
    EXPECT_EQ(wake.reach(offset, false), Reach::asleep) << std::hex << offset;
  }
  EXPECT_EQ(wake.reach(0x15000, true), Reach::no_endpoint);
}

TEST(Dg1ForceWake, RequestIsMaskedAndAcknowledgeMirrorsIt) {
  COVERS("DG1-FW-11");
  ForceWake wake = dg1();
  const WakeDomain gt = *wake.domain_named("gt");
  wake.write_request(0xa188, 0x00000001);
  EXPECT_EQ(wake.read(0x130044), 0u) << "no mask bit, no change";
  EXPECT_FALSE(wake.awake(gt));
  wake.write_request(0xa188, (kWakeKernel << 16) | kWakeKernel);
  wake.write_request(0xa188, (kWakeUser << 16) | kWakeUser);
  wake.write_request(0xa188, (kWakeKernelFallback << 16) | kWakeKernelFallback);
  EXPECT_EQ(wake.read(0xa188), 0x8003u);
  EXPECT_EQ(wake.read(0x130044), 0x8003u) << "the acknowledgement mirrors the request";
  wake.write_request(0xa188, kWakeKernel << 16);
  EXPECT_EQ(wake.read(0x130044), 0x8002u);
  EXPECT_TRUE(wake.awake(gt)) << "other requests still hold it";
  wake.write_request(0xa188, 0xffff0000);
  EXPECT_EQ(wake.read(0x130044), 0u);
  EXPECT_FALSE(wake.awake(gt));
}

TEST(ForceWake, HoldersInsideTheDeviceAreNotRequests) {
  ForceWake wake = dg1();
  const WakeDomain vd0 = *wake.domain_of(0x1c0030);
  wake.hold(vd0, 3);
  wake.hold(vd0, 4);
  EXPECT_EQ(wake.reach(0x1c0600, false), Reach::ok);
  wake.release(vd0, 3);
  EXPECT_TRUE(wake.awake(vd0));
  EXPECT_EQ(wake.read(0xd50), 0u) << "an inner holder is not a request";
  wake.release(vd0, 4);
  EXPECT_FALSE(wake.awake(vd0));
}

TEST(ForceWake, ResetDropsRequests) {
  ForceWake wake = dg1();
  wake.write_request(0xa278, 0x00010001);
  const ForceWakeState saved = wake.state();
  wake.reset();
  EXPECT_EQ(wake.read(0xd84), 0u);
  wake.state() = saved;
  EXPECT_EQ(wake.read(0xd84), 1u) << "the state is plain data";
}

TEST(ForceWake, WithoutPowerGatingNothingSleeps) {
  ForceWake wake = dg1();
  wake.state().power_gating = false;
  EXPECT_EQ(wake.reach(0x2358, false), Reach::ok);
}

TEST(ForceWake, SandyBridgeHasOneBitAndAMultithreadedRequest) {
  ForceWake wake(ForceWakeConfig::for_device(DeviceId::snb));
  EXPECT_EQ(wake.reach(0x12030, false), Reach::asleep);
  EXPECT_EQ(wake.reach(0x12030, true), Reach::ok) << "writes go through the wake FIFO";
  EXPECT_EQ(wake.reach(0xa18c, false), Reach::ok);
  wake.write_request(0xa18c, 0xffffffff);
  EXPECT_EQ(wake.read(0x130090), 1u) << "one bit, not masked";
  wake.write_request(0xa188, 0x00020002);
  EXPECT_EQ(wake.read(0x130040), 2u);
  wake.write_request(0xa18c, 0);
  EXPECT_EQ(wake.reach(0x2030, false), Reach::ok) << "the other request still holds it";
  wake.write_request(0xa188, 0x00020000);
  EXPECT_EQ(wake.reach(0x2030, false), Reach::asleep);
}

TEST(ForceWake, RangesOfOtherChipsNeedTheirDomains) {
  const struct {
    DeviceId device;
    uint32_t offset;
    std::string_view domain;  // "": no domain is needed
    uint32_t request;
    uint32_t ack;
  } rows[] = {
      {DeviceId::bdw, 0x2358, "render", 0xa188, 0x130044},
      {DeviceId::bdw, 0x3ffff, "render", 0xa188, 0x130044},
      {DeviceId::chv, 0x2358, "render", 0x1300b0, 0x1300b4},
      {DeviceId::chv, 0x12358, "media", 0x1300b8, 0x1300bc},
      {DeviceId::chv, 0x22358, "", 0, 0},
      {DeviceId::skl, 0x2358, "render", 0xa278, 0xd84},
      {DeviceId::skl, 0x22358, "gt", 0xa188, 0x130044},
      {DeviceId::skl, 0x12358, "media", 0xa270, 0xd88},
      {DeviceId::skl, 0x1000, "", 0, 0},
      {DeviceId::icl, 0x1c0358, "vd0", 0xa540, 0xd50},
      {DeviceId::icl, 0x1d0358, "vd2", 0xa548, 0xd58},
      {DeviceId::icl, 0x1c8358, "ve0", 0xa560, 0xd70},
      {DeviceId::icl, 0x1a000, "gt", 0xa188, 0x130044},
      {DeviceId::tgl, 0x1a000, "render", 0xa278, 0xd84},
      {DeviceId::tgl, 0x1d0358, "vd2", 0xa548, 0xd58},
  };
  for (const auto& row : rows) {
    ForceWake wake(ForceWakeConfig::for_device(row.device));
    const auto domain = wake.domain_of(row.offset);
    if (row.domain.empty()) {
      EXPECT_FALSE(domain.has_value());
      EXPECT_EQ(wake.reach(row.offset, false), Reach::ok);
      continue;
    }
    ASSERT_TRUE(domain.has_value()) << std::hex << row.offset;
    EXPECT_EQ(wake.config().name(*domain), row.domain) << std::hex << row.offset;
    EXPECT_EQ(wake.reach(row.offset, false), Reach::asleep);
    wake.write_request(row.request, 0x00010001);
    EXPECT_EQ(wake.read(row.ack), 1u);
    EXPECT_EQ(wake.reach(row.offset, false), Reach::ok) << std::hex << row.offset;
  }
}

TEST(ForceWake, SharedRangesNeedBothDomains) {
  ForceWake wake(ForceWakeConfig::for_device(DeviceId::chv));
  wake.write_request(0x1300b0, 0x00010001);
  EXPECT_EQ(wake.reach(0x9400, false), Reach::asleep);
  wake.write_request(0x1300b8, 0x00010001);
  EXPECT_EQ(wake.reach(0x9400, false), Reach::ok);
}

TEST(ForceWake, EveryEngineHasADomain) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    const ForceWakeConfig config = ForceWakeConfig::for_device(model.id);
    for (const spec::EngineModel& engine : model.engines) {
      if (config.wake() == nullptr) {
        EXPECT_TRUE(engine.domain.empty()) << model.name;
      } else {
        EXPECT_TRUE(config.find(engine.domain).has_value()) << model.name << " " << engine.name;
      }
    }
  }
}

TEST(ForceWake, DevicesWithoutForceWakeReachEverything) {
  for (const DeviceId device : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45}) {
    ForceWake wake(ForceWakeConfig::for_device(device));
    wake.write_request(0xa188, 0x00010001);
    EXPECT_EQ(wake.read(0xa188), 0u);
    EXPECT_EQ(wake.reach(0x2030, false), Reach::ok);
  }
}

}  // namespace
}  // namespace halogen::mmio
