// Registers, structures and table entries as values: their bits are those of spec/.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "memory/page_format.h"
#include "spec/device_model.h"
#include "spec/packing.h"

namespace halogen::driver {

// At most two dwords. A field that the chip does not have is a mistake of this driver.
template <class Item>
uint64_t packed(const Item& item, const spec::DeviceModel& model) {
  std::array<uint32_t, 2> dwords{};
  size_t length = 0;
  if constexpr (requires { Item::kDesc.width_bits; }) {
    length = Item::kDesc.width_bits / 32;
  } else {
    length = Item::kDesc.dwords_of_gen[static_cast<size_t>(model.gen)];
  }
  const spec::PackResult result = item.pack(model.gen, std::span(dwords).first(length));
  check(static_cast<bool>(result), "a field that the chip does not have, or that does not hold its value");
  return dwords[0] | uint64_t{dwords[1]} << 32;
}
template <class Register>
uint32_t packed32(const Register& value, const spec::DeviceModel& model) {
  return static_cast<uint32_t>(packed(value, model));
}

// Where an entry of a table points to.
inline uint64_t entry_address(const memory::EntryFormat& format, uint64_t address) {
  return (address & format.address) | (address >> format.address_high_shift & format.address_high);
}

// How tables of a kind look on this chip; it must have them.
inline memory::PageFormat format_of(const spec::DeviceModel& model, memory::WalkMode mode) {
  const memory::PageFormats formats(model, model.physical_bits);
  const memory::PageFormat* const found = formats.find(mode);
  check(found != nullptr, "tables that the chip does not have");
  return *found;
}

}  // namespace halogen::driver
