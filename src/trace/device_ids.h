// Which of our devices a trace was made for, from what traces say: an AUB device code, a PCI id, a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "spec/device_model.h"

namespace halogen::trace {

// The device itself, or the device of ours that decodes alike (Kaby Lake: skl). Null where none does.
const spec::DeviceModel* device_of_aub_code(uint8_t code);
const spec::DeviceModel* device_of_pci_id(uint32_t pci_id);

// The number after "PCI-ID=" in a comment or version text of Mesa's and IGT's traces.
std::optional<uint32_t> pci_id_in(std::string_view text);

}  // namespace halogen::trace
