// Names for the numbers that AUB records carry.
#include <array>

#include "trace/aub_records.h"

namespace halogen::trace::aub {
namespace {

constexpr std::array<std::string_view, 6> kRegisterSpaces{"MMIO", "MCHBAR", "PCI config", "Azalia", "IO", "VT-d"};

constexpr std::array<std::string_view, 12> kMemorySpaces{
    "GGTT",           "local memory",      "system memory",   "GTT PD entry",   "GGTT entry",       "PPGTT",
    "PPGTT PT entry", "GGTT non-aperture", "PPGTT PDP entry", "PPGTT PD entry", "PPGTT PML4 entry", "power context"};

struct HintName {
  uint8_t hint;
  std::string_view name;
};
constexpr HintName kHints[] = {
    {1, "batch buffer"},
    {26, "kernel"},
    {29, "interface descriptor"},
    {34, "binding table"},
    {35, "surface state"},
    {38, "ring buffer"},
    {39, "ring buffer"},
    {40, "ring buffer"},
    {41, "ring buffer"},
    {42, "batch buffer"},
    {43, "batch buffer"},
    {44, "batch buffer"},
    {48, "context image (render)"},
    {49, "context image (blitter)"},
    {50, "context image (video)"},
    {51, "context image (video enhance)"},
    {55, "ring context"},
    {56, "ring context"},
    {57, "ring context"},
    {58, "ring context"},
    {64, "context image (compute)"},
    {65, "PPGTT level 1"},
    {66, "PPGTT level 2"},
    {67, "PPGTT level 3"},
    {68, "PPGTT level 4"},
};

}  // namespace

std::string_view name_of(RegisterSpace space) {
  const auto index = static_cast<size_t>(space);
  return index < kRegisterSpaces.size() ? kRegisterSpaces[index] : std::string_view{};
}

std::string_view name_of(MemorySpace space) {
  const auto index = static_cast<size_t>(space);
  return index < kMemorySpaces.size() ? kMemorySpaces[index] : std::string_view{};
}

std::string_view name_of_hint(uint8_t hint) {
  for (const HintName& row : kHints) {
    if (row.hint == hint) return row.name;
  }
  return {};
}

}  // namespace halogen::trace::aub
