#include "trace/device_ids.h"

#include <charconv>

namespace halogen::trace {
namespace {

struct AubCode {
  uint8_t code;
  std::string_view device;
};
constexpr AubCode kAubCodes[] = {
    {0, "i965"}, {1, "gm965"}, {3, "gm45"}, {4, "g45"},  {6, "snb"},  {11, "bdw"}, {12, "skl"},
    {13, "chv"}, {14, "skl"},  {16, "skl"}, {17, "skl"}, {19, "icl"}, {22, "tgl"}, {24, "skl"},
    {25, "icl"}, {28, "icl"},  {30, "dg1"}, {34, "tgl"}, {37, "tgl"},
};

// PCI ids come in families that share a high part; the first row that holds decides. Source: the i915 id lists.
struct PciFamily {
  uint16_t mask;
  uint16_t value;
  std::string_view device;
};
constexpr PciFamily kPciFamilies[] = {
    {0xffff, 0x2972, "i965"},  {0xffff, 0x2982, "i965"}, {0xffff, 0x2992, "i965"}, {0xffff, 0x29a2, "i965"},
    {0xffef, 0x2a02, "gm965"}, {0xffff, 0x2a42, "gm45"}, {0xff00, 0x2e00, "g45"},  {0xff00, 0x0100, "snb"},
    {0xff00, 0x1600, "bdw"},   {0xfffc, 0x22b0, "chv"},  {0xff00, 0x1900, "skl"},  {0xff00, 0x5900, "skl"},
    {0xff00, 0x3e00, "skl"},   {0xff00, 0x9b00, "skl"},  {0xff00, 0x8a00, "icl"},  {0xffff, 0xff05, "icl"},
    {0xff00, 0x9a00, "tgl"},   {0xffff, 0xff20, "tgl"},  {0xff00, 0x4900, "dg1"},
};

}  // namespace

const spec::DeviceModel* device_of_aub_code(uint8_t code) {
  for (const AubCode& row : kAubCodes) {
    if (row.code == code) return spec::find_device(row.device);
  }
  return nullptr;
}

const spec::DeviceModel* device_of_pci_id(uint32_t pci_id) {
  for (const spec::DeviceModel& device : spec::device_models()) {
    if (device.pci_id == pci_id) return &device;
  }
  for (const PciFamily& row : kPciFamilies) {
    if ((pci_id & row.mask) == row.value && pci_id <= 0xffff) return spec::find_device(row.device);
  }
  return nullptr;
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
