// Configuration space as firmware and an operating system see it, for every device.
#include "device/config_space.h"

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <vector>

#include "covers.h"
#include "spec/pci.h"
#include "test_host.h"

namespace halogen::device {
namespace {

class ConfigSpaceTest : public ::testing::TestWithParam<const spec::DeviceModel*> {
 protected:
  uint32_t read(uint32_t offset, unsigned bytes) { return bench.device->config_read(offset, bytes); }
  void write(uint32_t offset, unsigned bytes, uint32_t value) { bench.device->config_write(offset, bytes, value); }

  // Walks the list as an operating system does. 0: the capability does not exist.
  unsigned find_capability(uint8_t id) {
    unsigned at = read(0x34, 1);
    for (int steps = 0; at != 0 && steps < 48; ++steps) {
      if (read(at, 1) == id) {
        return at;
      }
      at = read(at + 1, 1);
    }
    return 0;
  }

  const spec::DeviceModel& model = *GetParam();
  Bench bench{*GetParam()};
};

TEST_P(ConfigSpaceTest, HeaderIdentifiesTheChip) {
  EXPECT_EQ(read(0x00, 4), uint32_t{model.pci_id} << 16 | 0x8086u);
  EXPECT_EQ(read(0x08, 4), model.pci_class << 8 | model.pci_revision);
  EXPECT_EQ(read(0x0e, 1), 0u) << "type 0 header, one function";
  EXPECT_EQ(read(0x2c, 4), model.pci_subsystem);
  EXPECT_EQ(read(0x3d, 1), 1u) << "INTA";
  EXPECT_NE(read(0x06, 2) & 0x10u, 0u) << "capability list";
  for (const uint32_t offset : {0x00u, 0x08u, 0x2cu}) {
    const uint32_t before = read(offset, 4);
    write(offset, 4, 0xffff'ffff);
    EXPECT_EQ(read(offset, 4), before);
  }
}

// The size of a BAR is found by writing ones; the lowest bit that stays set is the size.
TEST_P(ConfigSpaceTest, BarSizesAreFoundByWritingOnes) {
  COVERS("DG1-MEM-02");
  std::set<unsigned> used;
  for (const spec::BarModel& bar : model.bars) {
    const unsigned at = 0x10 + 4u * bar.index;
    used.insert(bar.index);
    const uint32_t flags = read(at, 4) & 0xf;
    write(at, 4, 0xffff'ffff);
    uint64_t mask = read(at, 4);
    if (bar.kind == spec::BarKind::io) {
      EXPECT_EQ(flags, 1u);
      EXPECT_EQ((~static_cast<uint32_t>(mask & 0xfffc) & 0xffff) + 1, bar.bytes);
      continue;
    }
    EXPECT_EQ(flags & 1, 0u);
    EXPECT_EQ((flags >> 1) & 3, bar.address_bits == 64 ? 2u : 0u);
    EXPECT_EQ((flags >> 3) & 1, bar.prefetchable ? 1u : 0u);
    if (bar.address_bits == 64) {
      used.insert(bar.index + 1u);
      write(at + 4, 4, 0xffff'ffff);
      mask |= uint64_t{read(at + 4, 4)} << 32;
    } else {
      mask |= 0xffff'ffff'0000'0000;
    }
    EXPECT_EQ(~(mask & ~uint64_t{0xf}) + 1, bar.bytes);
  }
  for (unsigned index = 0; index < 6; ++index) {
    if (!used.contains(index)) {
      write(0x10 + 4 * index, 4, 0xffff'ffff);
      EXPECT_EQ(read(0x10 + 4 * index, 4), 0u) << "unused BAR " << index;
    }
  }
}

TEST_P(ConfigSpaceTest, BarsDecodeWhereTheyAreProgrammed) {
  for (const spec::BarModel& bar : model.bars) {
    if (bar.kind == spec::BarKind::io) {
      write(0x10 + 4u * bar.index, 4, 0xe000);
      EXPECT_EQ(bench.device->config().decode_io(0xe004)->offset, 4u);
      continue;
    }
    const uint64_t base =
        bar.address_bits == 64 ? 0x40'0000'0000 + bar.bytes * bar.index : bar.bytes * (4u + bar.index);
    write(0x10 + 4u * bar.index, 4, static_cast<uint32_t>(base));
    if (bar.address_bits == 64) {
      write(0x14 + 4u * bar.index, 4, static_cast<uint32_t>(base >> 32));
    }
    EXPECT_EQ(bench.device->config().bar_address(bar.index), base);
    const auto hit = bench.device->config().decode_memory(base + bar.bytes - 4);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->bar, bar.index);
    EXPECT_EQ(hit->offset, bar.bytes - 4);
  }
  write(4, 2, 0);
  for (const spec::BarModel& bar : model.bars) {
    EXPECT_FALSE(bench.device->config().decode_memory(bench.device->config().bar_address(bar.index)));
  }
}

TEST_P(ConfigSpaceTest, DecodingNeedsTheCommandRegisterAndStateD0) {
  EXPECT_EQ(bench.events(EventKind::bad_access), 0u);
  write(4, 2, 0);
  EXPECT_EQ(bench.read(0x2030), 0xffff'ffff) << "master abort";
  EXPECT_EQ(bench.events(EventKind::bad_access), 1u);
  write(4, 2, 2);
  bench.read(0x2030);
  EXPECT_EQ(bench.events(EventKind::bad_access), 1u);
  const unsigned power = find_capability(1);
  ASSERT_NE(power, 0u);
  write(power + 4, 2, 3);
  EXPECT_EQ(read(power + 4, 2) & 3, 3u);
  EXPECT_EQ(bench.read(0x2030), 0xffff'ffff) << "D3";
  write(power + 4, 2, 1);
  EXPECT_EQ(read(power + 4, 2) & 3, 3u) << "D1 is not supported: ignored";
  write(power + 4, 2, 0);
  EXPECT_EQ(read(4, 2), 0u) << "leaving D3 without No_Soft_Reset is a reset";
}

struct Link {
  unsigned id;
  unsigned offset;
  bool operator==(const Link&) const = default;
};

void PrintTo(const Link& link, std::ostream* out) {
  *out << std::hex << link.id << " at " << link.offset;
}

// The lists that lspci prints for the parts.
std::vector<Link> list_of(std::string_view chip) {
  constexpr unsigned kPower = 0x01, kMsi = 0x05, kVendor = 0x09, kExpress = 0x10, kFeatures = 0x13;
  if (chip == "i965" || chip == "gm965" || chip == "g45" || chip == "gm45") return {{kMsi, 0x90}, {kPower, 0xd0}};
  if (chip == "snb" || chip == "bdw") return {{kMsi, 0x90}, {kPower, 0xd0}, {kFeatures, 0xa4}};
  if (chip == "chv") return {{kPower, 0xd0}, {kMsi, 0x90}, {kVendor, 0xb0}};
  return {{kVendor, 0x40}, {kExpress, 0x70}, {kMsi, 0xac}, {kPower, 0xd0}};
}

TEST_P(ConfigSpaceTest, GuestWalksTheDescribedCapabilityList) {
  std::vector<Link> walked;
  for (unsigned at = read(0x34, 1); at != 0 && walked.size() < 48; at = read(at + 1, 1)) {
    walked.push_back({read(at, 1), at});
  }
  EXPECT_EQ(walked, list_of(model.name));
  std::vector<Link> described;
  for (const spec::PciCapability& each : spec::pci_capabilities(model.id)) described.push_back({each.id, each.offset});
  EXPECT_EQ(walked, described);
}

TEST_P(ConfigSpaceTest, MsiReplacesTheInterruptLine) {
  const unsigned msi = find_capability(5);
  const bool wide = (read(msi + 2, 2) & 0x80) != 0;
  const unsigned data = msi + (wide ? 12 : 8);
  write(msi + 4, 4, 0xfee0'1004);
  if (wide) {
    write(msi + 8, 4, 1);
  }
  write(data, 2, 0x4026);
  bench.device->set_interrupt(true);
  EXPECT_EQ(bench.host.line, (std::vector<bool>{true})) << "MSI is off: the line is used";
  write(msi + 2, 2, 1);
  EXPECT_EQ(bench.host.line, (std::vector<bool>{true, false})) << "MSI replaces the line";
  bench.device->set_interrupt(false);
  bench.device->set_interrupt(true);
  bench.device->set_interrupt(true);
  const uint64_t address = (wide ? uint64_t{1} << 32 : 0) | 0xfee0'1004;
  EXPECT_EQ(bench.host.messages, (std::vector<std::pair<uint64_t, uint32_t>>{{address, 0x4026}}))
      << "one message per rising edge";
  EXPECT_NE(read(6, 2) & 8u, 0u) << "interrupt status";
  bench.device->set_interrupt(false);
  EXPECT_EQ(read(6, 2) & 8u, 0u);
  write(4, 2, 3);
  bench.device->set_interrupt(true);
  EXPECT_EQ(bench.host.messages.size(), 1u) << "a message is a bus master write";
}

TEST_P(ConfigSpaceTest, LineInterruptCanBeDisabled) {
  bench.device->set_interrupt(true);
  write(4, 2, 0x407);
  EXPECT_EQ(bench.host.line, (std::vector<bool>{true, false}));
  write(4, 2, 7);
  EXPECT_EQ(bench.host.line, (std::vector<bool>{true, false, true})) << "the level is still high";
}

TEST_P(ConfigSpaceTest, BadAccessesAreRefusedAndReported) {
  EXPECT_EQ(read(1, 2), 0xffff'ffffu);
  EXPECT_EQ(read(2, 4), 0xffff'ffffu);
  EXPECT_EQ(read(0, 8), 0xffff'ffffu);
  EXPECT_EQ(read(0, 0), 0xffff'ffffu);
  write(3, 2, 0);
  EXPECT_EQ(bench.events(EventKind::bad_access), 5u);
  EXPECT_EQ(read(0x100, 4), 0u) << "no extended capability";
  EXPECT_EQ(read(0x1000, 4), 0xffff'ffffu);
  EXPECT_EQ(read(0xffff'fffc, 4), 0xffff'ffffu);
  write(0xffff'fffc, 4, 0);
  write(0x200, 4, 0xffff'ffff);
}

// Writes of any pattern set exactly the writable bits. Registers that start a reset have tests of their own, and so
// have BARs, whose writable bits depend on their size.
TEST_P(ConfigSpaceTest, ReadOnlyBitsCannotBeWritten) {
  const std::set<std::string_view> others{"PCI_BAR", "PCI_GDRST", "PCI_FEATURES_CONTROL", "PCI_EXPRESS_CONTROL"};
  for (const spec::PciRegisterDesc* reg : spec::pci_registers()) {
    const uint32_t offset = reg->offset(model.id);
    const uint32_t writable = reg->writable(model.id);
    if (offset == spec::kNoOffset || others.contains(reg->name)) {
      continue;
    }
    const uint32_t before = read(offset, reg->bytes);
    write(offset, reg->bytes, 0xffff'ffff);
    const uint32_t ones = read(offset, reg->bytes);
    EXPECT_EQ(ones & ~writable, before & ~writable) << reg->name;
    EXPECT_EQ(ones & writable, writable) << reg->name;
    write(offset, reg->bytes, before);
  }
}

TEST_P(ConfigSpaceTest, CommandRegisterHasTheBitsOfItsBus) {
  write(4, 2, 0xffff);
  EXPECT_EQ(read(4, 2), model.name == "dg1" ? 0x0547u : 0x0407u) << "parity and SERR only on a PCI Express endpoint";
}

// Offsets and writable bits that Linux relies on.
TEST_P(ConfigSpaceTest, GraphicsRegistersAreAtTheOffsetsThatDriversUse) {
  const bool first = model.gen <= spec::GenId::gen4_5;
  write(0xfc, 4, 0x7b00'0000);
  EXPECT_EQ(read(0xfc, 4), 0x7b00'0000u) << "ASLS";
  write(0xe4, 4, 0xffff'ffff);
  EXPECT_EQ(read(0xe4, 4), 0xffff'ffffu) << "ASLE";
  write(0xe8, 2, 0xffff);
  EXPECT_EQ(read(0xe8, 2), first ? 0u : 0xffffu) << "SWSCI";
  write(0xf0, 2, 0xffff);
  EXPECT_EQ(read(0xf0, 2), first ? 0xffffu : 0u) << "GCFGC";
  write(0xf4, 1, 0xff);
  EXPECT_EQ(read(0xf4, 1), first ? 0xffu : 0u) << "LBPC";
}

INSTANTIATE_TEST_SUITE_P(Devices, ConfigSpaceTest, ::testing::ValuesIn(every_model()), model_name);

TEST(ConfigSpaceDg1Test, BarsAreSixtyFourBitAndPrefetchable) {
  COVERS("DG1-MEM-02");
  Bench bench("dg1");
  EXPECT_EQ(bench.device->config_read(0x10, 4) & 0xf, 0xcu) << "GTTMMADR";
  EXPECT_EQ(bench.device->config_read(0x18, 4) & 0xf, 0xcu) << "LMEMBAR";
}

TEST(ConfigSpaceDg1Test, MaskedMessageStaysPending) {
  Bench bench("dg1");
  Device& device = *bench.device;
  const unsigned msi = 0xac;
  ASSERT_EQ(device.config_read(msi, 1), 5u);
  device.config_write(msi + 4, 4, 0xfee0'0000);
  device.config_write(msi + 12, 2, 0x30);
  device.config_write(msi + 16, 4, 1);
  device.config_write(msi + 2, 2, 1);
  device.set_interrupt(true);
  EXPECT_TRUE(bench.host.messages.empty());
  EXPECT_EQ(device.config_read(msi + 20, 4), 1u) << "pending";
  device.config_write(msi + 16, 4, 0);
  ASSERT_EQ(bench.host.messages.size(), 1u);
  EXPECT_EQ(bench.host.messages[0].second, 0x30u);
  EXPECT_EQ(device.config_read(msi + 20, 4), 0u);
}

TEST(DeviceOptionsTest, InvalidOptionsGiveAMessage) {
  TestHost host;
  const auto refused = [&](std::string_view device, const DeviceOptions& options) {
    const auto created = Device::create(*spec::find_device(device), host, options);
    return !created.ok() && !created.message().empty();
  };
  EXPECT_TRUE(refused("snb", {.pci_id = 0x4905}));
  EXPECT_FALSE(refused("snb", {.pci_id = 0x0102}));
  EXPECT_TRUE(refused("skl", {.local_bar_bytes = 0x1000'0000}));
  EXPECT_TRUE(refused("dg1", {.local_bar_bytes = 0x1234}));
  EXPECT_FALSE(refused("dg1", {.local_bar_bytes = 0x1000'0000}));
  EXPECT_TRUE(refused("dg1", {.gtt_bytes = 0x1000'0000}));
  EXPECT_FALSE(refused("snb", {.gtt_bytes = 0x10'0000}));
}

TEST(DeviceOptionsTest, OptionsAppearInConfigurationSpace) {
  Bench snb("snb", {.pci_id = 0x0102, .gtt_bytes = 0x10'0000, .stolen_base = 0x7c00'0000});
  EXPECT_EQ(snb.device->config_read(0, 4), 0x0102'8086u);
  EXPECT_EQ(snb.device->config_read(0x50, 2) & 0x300u, 0x100u) << "GGMS: 1 MB";
  EXPECT_EQ(snb.device->config_read(0x5c, 4), 0x7c00'0000u);
  Bench dg1("dg1", {.local_bytes = 0x1000'0000});
  dg1.device->config_write(0x18, 4, 0xffff'ffff);
  EXPECT_EQ(dg1.device->config_read(0x18, 4), 0xf000'000cu) << "256 MB";
}

}  // namespace
}  // namespace halogen::device
