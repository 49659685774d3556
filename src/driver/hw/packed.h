// Registers, structures and table entries as values, with the layouts of spec/.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "memory/page_format.h"
#include "spec/device_model.h"
#include "spec/packed.h"
#include "spec/packing.h"

namespace halogen::driver {

// Returns an item of at most two dwords as a number. A field that the chip does not have is a defect of this driver.
template <class Item>
uint64_t packed(const Item& item, const spec::DeviceModel& model) {
  return spec::packed(item, model.gen, spec::Misfit::refused);
}
template <class Register>
uint32_t packed32(const Register& value, const spec::DeviceModel& model) {
  return static_cast<uint32_t>(packed(value, model));
}

// Returns the address bits of a table entry.
inline uint64_t entry_address(const memory::EntryFormat& format, uint64_t address) {
  return (address & format.address) | (address >> format.address_high_shift & format.address_high);
}

// Returns the format of a kind of table, which the chip must have.
inline memory::PageFormat format_of(const spec::DeviceModel& model, memory::WalkMode mode) {
  const memory::PageFormats formats(model, model.physical_bits);
  const memory::PageFormat* const found = formats.find(mode);
  check(found != nullptr, "the chip has this kind of table");
  return *found;
}

}  // namespace halogen::driver
