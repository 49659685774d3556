// The description of configuration space. Lengths of capabilities and positions of bits are those of the PCI
// specifications.
#include "spec/pci.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "hw/pci_capabilities.h"
#include "hw/pci_graphics.h"
#include "hw/pci_header.h"

namespace halogen::spec {
namespace {

// Bytes of each capability, including those that no described register covers.
unsigned length_of(const PciCapability& capability, const DeviceModel& model) {
  const bool wide = hw::PCI_MSI_ADDRESS_UPPER::kDesc.offset(model.id) != kNoOffset;
  const std::map<std::string_view, unsigned> lengths{
      {"vendor", 12}, {"power", 8}, {"msi", wide ? 24 : 10}, {"advanced_features", 6}, {"express", 0x3c}};
  return lengths.at(capability.name);
}

TEST(PciSpace, CapabilitiesAndRegistersDoNotOverlap) {
  for (const DeviceModel& model : device_models()) {
    std::array<std::string_view, 256> owner{};
    for (const PciCapability& each : pci_capabilities(model.id)) {
      EXPECT_GE(each.offset, 0x40) << model.name;
      for (unsigned i = each.offset; i < each.offset + length_of(each, model); ++i) {
        ASSERT_LT(i, owner.size());
        EXPECT_EQ(owner[i], "") << model.name << std::hex << " " << i;
        owner[i] = each.name;
      }
    }
    for (const PciRegisterDesc* each : pci_registers()) {
      if (each->offset(model.id) == kNoOffset) continue;
      const unsigned first = each->offset(model.id);
      const unsigned last = first + each->count * each->bytes - 1u;
      ASSERT_LT(last, owner.size());
      EXPECT_EQ(owner[first], owner[last]) << each->name << " leaves its capability on " << model.name;
    }
  }
}

// Ids from the "PCI Code and ID Assignment Specification".
TEST(PciSpace, CapabilitiesHaveTheAssignedIds) {
  const std::map<std::string_view, unsigned> ids{
      {"power", 0x01}, {"msi", 0x05}, {"vendor", 0x09}, {"express", 0x10}, {"advanced_features", 0x13}};
  for (const DeviceModel& model : device_models()) {
    EXPECT_FALSE(pci_capabilities(model.id).empty()) << model.name;
    for (const PciCapability& each : pci_capabilities(model.id)) EXPECT_EQ(each.id, ids.at(each.name)) << model.name;
  }
}

TEST(PciSpace, WritesOfNamedRegistersHaveTheBitsOfTheStandard) {
  const DeviceModel& dg1 = *find_device("dg1");
  const PciWrite command = pci_write(dg1, hw::PCI_COMMAND{.memory_space = true, .interrupt_disable = true});
  EXPECT_EQ(command.offset, 0x04u);
  EXPECT_EQ(command.bytes, 2u);
  EXPECT_EQ(command.value, 0x0402u);
  const PciWrite bar = pci_write(dg1, hw::PCI_BAR{.prefetchable = true, .memory_address = PhysAddr(0xf000'0000)}, 2);
  EXPECT_EQ(bar.offset, 0x18u);
  EXPECT_EQ(bar.value, 0xf000'0008u);
  EXPECT_EQ(pci_write(dg1, hw::PCI_MSI_DATA{.data = 0x4026}).offset, 0xb8u) << "behind a 64-bit address";
  EXPECT_EQ(pci_write(*find_device("tgl"), hw::PCI_MSI_DATA{.data = 0x4026}).offset, 0xb4u);
}

}  // namespace
}  // namespace halogen::spec
