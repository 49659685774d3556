#include "trace/device_ids.h"

#include <algorithm>
#include <charconv>

namespace halogen::trace {
const spec::DeviceModel* device_of_aub_code(uint8_t code) {
  for (const spec::DeviceModel& device : spec::device_models()) {
    if (std::find(device.aub_codes.begin(), device.aub_codes.end(), code) != device.aub_codes.end()) return &device;
  }
  return nullptr;
}

const spec::DeviceModel* device_of_pci_id(uint32_t pci_id) {
  const auto ids = spec::device_models();
  const auto first_of = [&](auto is_it) {
    const auto it = std::find_if(ids.begin(), ids.end(), is_it);
    return it == ids.end() ? nullptr : &*it;
  };
  // Exact ids take precedence over families, which include related chips.
  const auto* exact = first_of([&](const spec::DeviceModel& device) {
    const auto& other = device.other_pci_ids;
    return device.pci_id == pci_id || std::find(other.begin(), other.end(), pci_id) != other.end();
  });
  if (exact != nullptr) return exact;
  return first_of([&](const spec::DeviceModel& device) {
    const auto& families = device.pci_families;
    return pci_id <= 0xffff && std::any_of(families.begin(), families.end(), [&](const spec::PciFamily& family) {
             return (pci_id & family.mask) == family.id;
           });
  });
}

std::optional<uint32_t> pci_id_in(std::string_view text) {
  constexpr std::string_view kKey = "PCI-ID=";
  const size_t at = text.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kKey.size());
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  uint32_t id = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  if (status != std::errc{} || end == text.data()) return std::nullopt;
  return id;
}

}  // namespace halogen::trace
