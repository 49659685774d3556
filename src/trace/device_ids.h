// Finds the device of a trace from an AUB device code, a PCI id or a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "spec/device_model.h"

namespace halogen::trace {

// Returns the device, or a modelled device that decodes the same (Kaby Lake: skl). Null: no device matches.
const spec::DeviceModel* device_of_aub_code(uint8_t code);
const spec::DeviceModel* device_of_pci_id(uint32_t pci_id);

// Returns the number after "PCI-ID=" in a comment or version text of traces of Mesa and IGT.
std::optional<uint32_t> pci_id_in(std::string_view text);

}  // namespace halogen::trace
