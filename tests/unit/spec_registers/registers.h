// Helpers of the register layout tests: the offset of a register on a device, the position of a field, and the reset
// value. Expected numbers in the tests are copied by hand from the manuals and the requirement ledgers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string_view>

#include "mmio/register_map.h"
#include "spec/device_model.h"
#include "spec/field_visitor.h"

namespace halogen::spec_registers {

using spec::DeviceId;
using spec::GenId;

inline constexpr uint32_t kNowhere = 0xffff'ffff;

inline const mmio::RegisterMap& map_of(DeviceId device) {
  static std::array<std::shared_ptr<const mmio::RegisterMap>, spec::kDeviceCount> maps;
  auto& map = maps.at(static_cast<size_t>(device));
  if (map == nullptr) {
    map = mmio::RegisterMap::for_device(spec::model(device));
  }
  return *map;
}

// Returns the MMIO offset of the first dword of one instance, or kNowhere.
inline uint32_t at(DeviceId device, std::string_view name, std::string_view engine = {}, unsigned index = 0) {
  const mmio::RegisterSlot* slot = map_of(device).find(name, engine, index);
  return slot == nullptr ? kNowhere : slot->offset;
}

// Returns the name of the register that claims a dword. Empty: the dword is unclaimed.
inline std::string_view who(DeviceId device, uint32_t offset) {
  const mmio::RegisterSlot* slot = map_of(device).find(offset);
  return slot == nullptr ? std::string_view{} : slot->desc->name;
}

struct Bits {
  int hi = -1;  // -1: the generation has no such field
  int lo = -1;
  bool operator==(const Bits&) const = default;
};

inline void PrintTo(const Bits& bits, std::ostream* out) {
  *out << bits.hi << ':' << bits.lo;
}

inline Bits bits_of(const spec::ItemDesc* item, GenId gen, std::string_view name) {
  const spec::FieldDesc* field = item == nullptr ? nullptr : spec::find_field(*item, gen, name);
  return field == nullptr ? Bits{} : Bits{field->first_bit + field->width - 1, field->first_bit};
}

inline Bits bits(GenId gen, std::string_view reg, std::string_view field) {
  return bits_of(spec::find_register(reg), gen, field);
}

inline spec::Access access(GenId gen, std::string_view reg, std::string_view name) {
  const spec::RegisterDesc* desc = spec::find_register(reg);
  const spec::FieldDesc* field = desc == nullptr ? nullptr : spec::find_field(*desc, gen, name);
  return field == nullptr ? spec::Access::rw : field->access;
}

inline uint64_t reset(DeviceId device, std::string_view name) {
  const spec::RegisterDesc* desc = spec::find_register(name);
  return desc == nullptr ? ~uint64_t{0} : desc->reset_value(device);
}

inline std::string_view value_name(GenId gen, std::string_view reg, std::string_view name, uint64_t value) {
  const spec::RegisterDesc* desc = spec::find_register(reg);
  const spec::FieldDesc* field = desc == nullptr ? nullptr : spec::find_field(*desc, gen, name);
  return field == nullptr || field->enumeration == nullptr ? "" : field->enumeration->name_of(value, gen);
}

}  // namespace halogen::spec_registers
