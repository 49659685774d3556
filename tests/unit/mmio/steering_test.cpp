// Steering of DG1, and the rule for fused-off slices on a fictitious chip with two slices.
#include "mmio/steering.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>

#include "covers.h"
#include "spec/device_model.h"

namespace halogen::mmio {
namespace {

using spec::DeviceId;
constexpr auto kHost = SelectorOrigin::host;
constexpr auto kCs = SelectorOrigin::command_streamer;

constexpr uint32_t selector(bool multicast, uint32_t slice, uint32_t subslice) {
  return (multicast ? 1u << 31 : 0u) | (slice << 27) | (subslice << 24);
}

SteeringConfig dg1_config() {
  return SteeringConfig::for_device(DeviceId::dg1);
}
Steering dg1() {
  return Steering(dg1_config());
}

constexpr uint32_t kInDss = 0xe4f0;
constexpr uint32_t kInL3Bank = 0xb100;
constexpr uint32_t kInSqidi = 0x1000;

TEST(Dg1Steering, SelectorsOutsideTheGtAreAtTheirOffsets) {
  COVERS("DG1-STEER-01");
  Steering steering = dg1();
  for (const uint32_t offset : {0xfd0u, 0xfd4u, 0xfd8u, 0xfdcu}) {
    ASSERT_TRUE(steering.is_selector(offset)) << std::hex << offset;
    steering.write_selector(offset, selector(false, 0, 1));
    EXPECT_EQ(steering.read_selector(offset), selector(false, 0, 1));
    steering.reset();
  }
  const std::map<uint32_t, std::string_view> serves = {{0xfd0, "mcfg"}, {0xfd4, "mdrb"}, {0xfd8, "sf"}, {0xfdc, ""}};
  for (const spec::SteeringSelector& s : dg1_config().table->selectors) {
    if (s.origin == kHost) {
      EXPECT_EQ(serves.at(s.offset), s.endpoints);
    }
  }
  // All other classes use FDC.
  steering.write_selector(0xfd0, selector(false, 0, 5));
  steering.write_selector(0xfd4, selector(false, 0, 5));
  steering.write_selector(0xfd8, selector(false, 0, 5));
  steering.write_selector(0xfdc, selector(false, 0, 1));
  for (const uint32_t offset : {kInDss, kInL3Bank, kInSqidi}) {
    EXPECT_EQ(steering.targets(offset, true, kHost).copies, 1u << 1) << std::hex << offset;
  }
}

// A chip where the three special endpoint classes have ranges.
TEST(Steering, EndpointClassesHaveTheirOwnSelector) {
  COVERS("DG1-STEER-01");
  static constexpr std::array kRows = {
      spec::MmioRange{0x100, 0x1ff, "aon", "mcfg", 4}, spec::MmioRange{0x200, 0x2ff, "aon", "mdrb", 4},
      spec::MmioRange{0x300, 0x3ff, "aon", "sf", 4}, spec::MmioRange{0x400, 0x4ff, "aon", "dss", 4}};
  static constexpr std::array kGroups = {
      spec::ReplicationGroup{"mcfg", 4, spec::FuseSense::none, 0, 0, 4},
      spec::ReplicationGroup{"mdrb", 4, spec::FuseSense::none, 0, 0, 4},
      spec::ReplicationGroup{"sf", 4, spec::FuseSense::none, 0, 0, 4},
      spec::ReplicationGroup{"dss", 4, spec::FuseSense::none, 0, 0, 4},
  };
  spec::ReplicationTable table = *dg1_config().table;
  table.groups = kGroups;
  const spec::RangeTable ranges{"made_up", "", "", 0, false, kRows};
  Steering steering(SteeringConfig(&table, &ranges, nullptr));
  steering.write_selector(0xfd0, selector(false, 0, 0));
  steering.write_selector(0xfd4, selector(false, 0, 1));
  steering.write_selector(0xfd8, selector(false, 0, 2));
  steering.write_selector(0xfdc, selector(false, 0, 3));
  EXPECT_EQ(steering.targets(0x100, true, kHost).copies, 1u << 0);
  EXPECT_EQ(steering.targets(0x200, true, kHost).copies, 1u << 1);
  EXPECT_EQ(steering.targets(0x300, true, kHost).copies, 1u << 2);
  EXPECT_EQ(steering.targets(0x400, true, kHost).copies, 1u << 3);
}

TEST(Dg1Steering, CommandStreamersSteerThrough20CC) {
  COVERS("DG1-STEER-02");
  Steering steering = dg1();
  ASSERT_TRUE(steering.is_selector(0x20cc));
  steering.write_selector(0x20cc, selector(false, 0, 1));
  for (const uint32_t offset : {kInDss, kInL3Bank, kInSqidi}) {
    EXPECT_EQ(steering.targets(offset, true, kCs).copies, 1u << 1);
    EXPECT_GT(std::popcount(steering.targets(offset, true, kHost).copies), 1) << "the host has its own";
  }
}

TEST(Dg1Steering, DefaultsAreMulticastToInstanceZero) {
  COVERS("DG1-STEER-03");
  Steering steering = dg1();
  for (const uint32_t offset : {0xfd0u, 0xfd4u, 0xfd8u, 0xfdcu, 0x20ccu}) {
    EXPECT_EQ(steering.read_selector(offset), 0x8000'0000u) << std::hex << offset;
  }
  const SteeringSelection chosen = steering.selection(kInDss, kHost);
  EXPECT_TRUE(chosen.multicast);
  EXPECT_EQ(chosen.slice, 0);
  EXPECT_EQ(chosen.subslice, 0);
  // No effect on registers that are not replicated.
  for (const bool multicast : {false, true}) {
    steering.write_selector(0xfdc, selector(multicast, 0, 5));
    for (const bool is_write : {false, true}) {
      EXPECT_EQ(steering.targets(0x2358, is_write, kHost).copies, 1u);
      EXPECT_EQ(steering.targets(0x7000, is_write, kHost).copies, 1u);
      EXPECT_FALSE(steering.targets(0x2358, is_write, kHost).replicated);
    }
  }
}

TEST(Dg1Steering, MulticastAndUnicastSelectCopies) {
  COVERS("DG1-STEER-04");
  Steering steering = dg1();
  steering.write_selector(0xfdc, selector(true, 3, 4));
  EXPECT_EQ(steering.targets(kInDss, true, kHost).copies, 0b111111u) << "a multicast write ignores the ids";
  EXPECT_EQ(steering.targets(kInDss, false, kHost).copies, 1u << 4) << "a multicast read returns the selected copy";
  steering.write_selector(0xfdc, selector(false, 0, 4));
  EXPECT_EQ(steering.targets(kInDss, true, kHost).copies, 1u << 4);
  EXPECT_EQ(steering.targets(kInDss, false, kHost).copies, 1u << 4);
  EXPECT_EQ(steering.targets(kInDss, false, kHost).first(), 4u);
}

TEST(Dg1Steering, FusesSelectThePresentCopies) {
  COVERS("DG1-STEER-05");
  SteeringConfig config = dg1_config();
  {
    Steering steering(config);
    EXPECT_EQ(steering.targets(kInSqidi, true, kHost).copies, 0b11u);
    EXPECT_EQ(steering.targets(kInDss, true, kHost).copies, 0b111111u);
    EXPECT_EQ(steering.targets(kInL3Bank, true, kHost).copies, 0xffu);
    EXPECT_EQ(steering.copies_of(kInSqidi), 2u);
    EXPECT_EQ(steering.copies_of(kInDss), 6u);
    EXPECT_EQ(steering.copies_of(kInL3Bank), 8u);
    for (uint32_t subslice = 0; subslice < 8; ++subslice) {
      steering.write_selector(0xfdc, selector(false, 0, subslice));
      EXPECT_EQ(steering.targets(kInSqidi, false, kHost).terminated(), subslice >= 2);
      EXPECT_EQ(steering.targets(kInDss, false, kHost).terminated(), subslice >= 6);
      EXPECT_FALSE(steering.targets(kInL3Bank, false, kHost).terminated());
    }
  }
  config.set_fuse("dss", 0b101011);
  config.set_fuse("l3bank", 0b0010);
  config.set_fuse("sqidi", 0);  // has no fuse
  Steering steering(config);
  EXPECT_EQ(steering.targets(kInDss, true, kHost).copies, 0b101011u);
  EXPECT_EQ(steering.targets(kInL3Bank, true, kHost).copies, 0b11011101u);
  EXPECT_EQ(steering.targets(kInSqidi, true, kHost).copies, 0b11u) << "always present";
  steering.write_selector(0xfdc, selector(false, 0, 2));
  EXPECT_TRUE(steering.targets(kInDss, true, kHost).terminated());
  EXPECT_TRUE(steering.targets(kInDss, false, kHost).terminated());
  steering.write_selector(0xfdc, selector(true, 0, 5));
  EXPECT_TRUE(steering.targets(kInL3Bank, false, kHost).terminated()) << "bank 5 has the fuse of bank 1";
}

TEST(Dg1Steering, ReplicatedRangesHaveTheirCopies) {
  COVERS("DG1-STEER-06");
  const struct {
    uint32_t start;
    uint32_t end;
    unsigned copies;
  } replicated[] = {{0xb00, 0xbff, 2},   {0x1000, 0x1fff, 2}, {0x8700, 0x87ff, 2}, {0xb100, 0xb3ff, 8},
                    {0x8150, 0x815f, 6}, {0x9520, 0x955f, 6}, {0xde80, 0xe8ff, 6}, {0x24a00, 0x24a7f, 6}};
  const Steering steering = dg1();
  for (uint32_t offset = 0; offset < 0x240000; offset += 4) {
    unsigned expected = 1;
    for (const auto& range : replicated) {
      if (offset >= range.start && offset <= range.end) {
        expected = range.copies;
      }
    }
    ASSERT_EQ(steering.copies_of(offset), expected) << std::hex << offset;
  }
  std::set<uint32_t> dss_rows;
  for (const spec::MmioRange& row : steering.config().ranges->rows) {
    if (row.replication == "dss" && row.start >= 0xde80 && row.end <= 0xe8ff) {
      dss_rows.insert(row.start);
    }
  }
  EXPECT_EQ(dss_rows, (std::set<uint32_t>{0xde80, 0xdf00, 0xe000, 0xe100, 0xe200, 0xe400, 0xe800}));
}

TEST(Dg1Steering, FuseReflectionsShowThePresentCopies) {
  COVERS("DG1-STEER-07");
  SteeringConfig config = dg1_config();
  EXPECT_EQ(Steering(config).fuse_reflection(0x913c), 0x3fu);
  EXPECT_EQ(Steering(config).fuse_reflection(0x9118), 0x00u);
  config.set_fuse("dss", 0b011101);
  config.set_fuse("l3bank", 0b1010);
  EXPECT_EQ(Steering(config).fuse_reflection(0x913c), 0b011101u);
  EXPECT_EQ(Steering(config).fuse_reflection(0x9118), 0xaau) << "the four fuses appear twice";
  EXPECT_FALSE(Steering(config).fuse_reflection(0x9134).has_value());
}

TEST(Dg1Steering, SelectorsHaveTheManualsLayout) {
  COVERS("DG1-STEER-08");
  Steering steering = dg1();
  steering.write_selector(0xfdc, 0x8000'0000);
  EXPECT_TRUE(steering.selection(kInDss, kHost).multicast);
  steering.write_selector(0xfdc, 0x7800'0000);
  EXPECT_FALSE(steering.selection(kInDss, kHost).multicast);
  EXPECT_EQ(steering.selection(kInDss, kHost).slice, 0xf);
  EXPECT_EQ(steering.selection(kInDss, kHost).subslice, 0);
  steering.write_selector(0xfdc, 0x0700'0000);
  EXPECT_EQ(steering.selection(kInDss, kHost).slice, 0);
  EXPECT_EQ(steering.selection(kInDss, kHost).subslice, 7);
}

TEST(Steering, FusedOffSliceZeroReadsZero) {
  COVERS("DG1-STEER-09");
  spec::ReplicationTable table = *dg1_config().table;
  table.slices = 2;
  SteeringConfig config(&table, dg1_config().ranges, dg1_config().slice_ranges);
  config.fuses.slices = 0b10;
  Steering steering(config);
  for (const auto origin : {kHost, kCs}) {  // MI_STORE_REGISTER_MEM of any command streamer reads the same
    const uint32_t reg = origin == kHost ? 0xfdc : 0x20cc;
    for (const uint32_t in_slice : {0x7000u, 0x5500u, 0xb000u, 0x9400u}) {
      steering.write_selector(reg, selector(true, 0, 0));
      EXPECT_TRUE(steering.targets(in_slice, false, origin).terminated()) << "slice 0 reads zero";
      EXPECT_EQ(steering.targets(in_slice, true, origin).copies, 0b10u)
          << "a multicast write reaches the present copies";
      steering.write_selector(reg, selector(true, 1, 0));
      EXPECT_EQ(steering.targets(in_slice, false, origin).copies, 0b10u) << "directed to slice 1";
    }
    // Replicated inside the slice: copies of slice 1 follow those of slice 0.
    steering.write_selector(reg, selector(true, 1, 4));
    EXPECT_EQ(steering.targets(kInDss, false, origin).copies, uint64_t{1} << (6 + 4));
    steering.write_selector(reg, selector(true, 0, 4));
    EXPECT_TRUE(steering.targets(kInDss, false, origin).terminated());
    // No effect outside of slices.
    EXPECT_EQ(steering.targets(0x2358, false, origin).copies, 1u);
    EXPECT_EQ(steering.targets(kInSqidi, true, origin).copies, 0b11u);
  }
}

TEST(Dg1Steering, SliceLocatedRangesMatchTheManual) {
  COVERS("DG1-STEER-10");
  const struct {
    uint32_t start;
    uint32_t end;
    std::string_view unit;
    unsigned instances;
  } expected[] = {{0x5500, 0x5fff, "wmbe", 1},
                  {0x7000, 0x7fff, "svl", 1},
                  {0x9400, 0x97ff, "cp", 1},
                  {0xb000, 0xb0ff, "l3_status", 1},
                  {0xb100, 0xb3ff, "l3_bank_config", 1},
                  {0xe000, 0xe0ff, "dm", 1},
                  {0xe100, 0xe1ff, "sc", 1},
                  {0xe200, 0xe3ff, "gwl", 3},
                  {0xe400, 0xe7ff, "tdl", 1}};
  const spec::RangeTable& table = *dg1_config().slice_ranges;
  ASSERT_EQ(table.rows.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(table.rows[i].start, expected[i].start);
    EXPECT_EQ(table.rows[i].end, expected[i].end);
    EXPECT_EQ(table.rows[i].replication, expected[i].unit);
    EXPECT_EQ(table.rows[i].instances, expected[i].instances);
  }
}

TEST(Steering, DevicesWithoutReplicationHaveOneCopy) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    const SteeringConfig config = SteeringConfig::for_device(model.id);
    if (config.table != nullptr) {
      continue;
    }
    Steering steering(config);
    steering.write_selector(0xfdc, 0xffff'ffff);
    EXPECT_EQ(steering.targets(0xb100, true, kHost).copies, 1u) << model.name;
    EXPECT_FALSE(steering.is_selector(0xfdc));
  }
}

TEST(Steering, AnySelectorValueIsHarmless) {
  Steering steering = dg1();
  for (uint32_t high = 0; high < 256; ++high) {
    steering.write_selector(0xfdc, high << 24 | 0x00ff'ffff);
    for (const uint32_t offset : {kInDss, kInL3Bank, kInSqidi, 0x2358u, 0x0u, 0xffff'fffcu}) {
      for (const bool is_write : {false, true}) {
        const SteeringTargets targets = steering.targets(offset, is_write, kHost);
        EXPECT_LT(targets.copies, uint64_t{1} << steering.copies_of(offset));
      }
    }
  }
}

}  // namespace
}  // namespace halogen::mmio
