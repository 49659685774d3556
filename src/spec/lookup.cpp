// Finds items, devices and rows by name or address. The generated arrays are sorted by name.
#include <algorithm>

#include "spec/descriptors.h"
#include "spec/device_model.h"
#include "spec/payload.h"
#include "spec/tables.h"

namespace halogen::spec {

namespace {

template <class Desc>
const Desc* find_by_name(std::span<const Desc* const> all, std::string_view name) {
  const auto it = std::lower_bound(all.begin(), all.end(), name,
                                   [](const Desc* desc, std::string_view wanted) { return desc->name < wanted; });
  return it != all.end() && (*it)->name == name ? *it : nullptr;
}

}  // namespace

const CommandDesc* find_command(std::string_view name) {
  return find_by_name(commands(), name);
}
const StructDesc* find_struct(std::string_view name) {
  return find_by_name(structs(), name);
}
const RegisterDesc* find_register(std::string_view name) {
  return find_by_name(registers(), name);
}

// Finds a message's header. A description that names the type comes before one for all messages of the function.
const MessageHeaderDesc* find_message_header(GenId gen, std::string_view function, std::string_view type) {
  const MessageHeaderDesc* found = nullptr;
  for (const MessageHeaderDesc* each : message_headers()) {
    if (each->layout(gen) == nullptr || std::ranges::find(each->functions, function) == each->functions.end()) {
      continue;
    }
    if (std::ranges::find(each->types, type) != each->types.end()) {
      return each;
    }
    found = each->types.empty() ? each : found;
  }
  return found;
}

std::string_view EnumDesc::name_of(uint64_t value, GenId gen) const {
  for (const EnumValue& v : values) {
    if (v.value == value && (v.gens & mask_of(gen)) != 0) return v.name;
  }
  return {};
}

uint64_t RegisterDesc::reset_value(DeviceId device) const {
  for (const RegisterReset& reset : resets) {
    if ((reset.devices & mask_of(device)) != 0) return reset.value;
  }
  return 0;
}

const DeviceModel* find_device(std::string_view name) {
  for (const DeviceModel& device : device_models()) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

const MmioRange* RangeTable::find(uint32_t offset) const {
  const auto it = std::upper_bound(rows.begin(), rows.end(), offset,
                                   [](uint32_t at, const MmioRange& row) { return at < row.start; });
  if (it == rows.begin()) return nullptr;
  const MmioRange& row = *std::prev(it);
  return offset <= row.end ? &row : nullptr;
}

}  // namespace halogen::spec
