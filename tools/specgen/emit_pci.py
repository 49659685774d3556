"""spec/pci_data.cpp: the capability lists of configuration space (src/spec/pci.h)."""

from cppnames import ident
from emit_types import NOTE


def pci_data(spec):
    out = [NOTE + '#include "spec/pci.h"', "", "namespace halogen::spec {", ""]
    for chain in spec.pci_lists.values():
        out += [f"static constexpr PciCapability kList_{ident(chain.name)}[] = {{"]
        out += [f'    {{"{name}", {chain.ids[name]:#x}, {at:#x}}},' for name, at in chain.rows] + ["};"]
    out += ["", "std::span<const PciCapability> pci_capabilities(DeviceId device) {", "  switch (device) {"]
    lists = {d: chain for chain in spec.pci_lists.values() for d in chain.devices}
    for device in spec.devices:
        value = f"kList_{ident(lists[device].name)}" if device in lists else "{}"
        out += [f"    case DeviceId::{ident(device)}:", f"      return {value};"]
    return "\n".join(out + ["  }", "  return {};", "}", "", "}  // namespace halogen::spec", ""])
