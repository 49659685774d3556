#include "guest_setup.h"

#include <algorithm>

#include <fmt/format.h>

#include "gen/generation.h"

namespace halogen::vm {
namespace {

constexpr uint64_t kSmallTable = uint64_t{1} << 20;
constexpr uint64_t kLocalBytes = uint64_t{512} << 20;

}  // namespace

device::DeviceOptions guest_device_options(const spec::DeviceModel& model) {
  device::DeviceOptions options;
  options.headless = true;  // a driver then does not access clocks, power wells and connectors of the display
  // Linux fills the whole table, entry by entry, on parts with four-byte entries; a smaller table is filled sooner.
  if (Generation(model).ggtt_entry_bytes() == 4) options.gtt_bytes = std::min(model.gtt_bytes, kSmallTable);
  if (model.local_bytes != 0) {
    // A small board whose BAR shows all of its memory, because Linux 6.1 locates stolen memory by the BAR's size.
    options.local_bytes = kLocalBytes;
    options.local_bar_bytes = kLocalBytes;
  } else {
    options.table_enabled = true;
    options.stolen_base = kGuestMemoryBytes - stolen_bytes(model, options);
  }
  return options;
}

void leave_out_stolen_memory(const spec::DeviceModel& model, device::DeviceOptions& options) {
  if (model.local_bytes != 0) return;
  options.stolen_base = 0;
  options.stolen_bytes = 0;
}

uint64_t end_of_guest_memory(const spec::DeviceModel& model, const device::DeviceOptions& options) {
  constexpr uint64_t kStep = uint64_t{16} << 20;
  return options.stolen_base == 0 ? kGuestMemoryBytes
                                  : (options.stolen_base - gtt_bytes(model, options)) / kStep * kStep;
}

// Linux 6.1 binds to boards with local memory only on request, and would leave submission to firmware, which the model
// does not run.
std::string module_options(const spec::DeviceModel& model) {
  return model.local_bytes != 0 ? fmt::format("force_probe={:04x} enable_guc=0", model.pci_id) : std::string();
}

}  // namespace halogen::vm
