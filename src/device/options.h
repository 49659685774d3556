// Properties that may differ between two devices of one model: the settings of firmware and fuses, and the board.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "eu/library/executor_kind.h"
#include "mmio/steering.h"
#include "spec/device_model.h"

namespace halogen::device {

struct DeviceOptions {
  std::string name = "gpu0";             // first part of every path in logs and Events
  std::string stepping{};                // empty: the default; else the name of one of the model's steppings
  uint16_t pci_id = 0;                   // 0: the model's default id; else one of its other ids
  uint64_t local_bytes = 0;              // 0: the model's size; else that of a smaller board
  bool wide_local = false;               // local memory at every address that an entry can hold, as simulators have it
  uint64_t local_bar_bytes = 0;          // 0: the model's size; a host with little address space may map less of it
  uint64_t gtt_bytes = 0;                // 0: the model's size; firmware may reserve less
  uint64_t aperture_bytes = 0;           // 0: the model's size; firmware may show more or less of graphics memory
  std::optional<uint64_t> stolen_bytes;  // no value: the model's size
  uint64_t stolen_base = 0;              // address of stolen memory; not for local memory, whose end is stolen
  std::optional<uint64_t> wopcm_offset;  // of firmware's part in stolen memory; no value: at the end
  bool local_tables = true;              // firmware leaves LMEM_CFG enabled: page tables lie in local memory
  std::optional<mmio::SteeringFuses> fuses{};  // no value: no unit is fused off
  bool table_enabled = false;   // Gen4: the global table is always enabled; Linux clears its enable bit on G45
  bool headless = false;        // every pipe of the display is fused off, where a chip has such fuses
  unsigned prefetch_lines = 0;  // cache lines of commands that streamers read ahead and do not read again
  bool power_gating = true;     // false: domains never sleep, for software without force wake
  unsigned threads = 1;         // host threads for the device's work; results do not depend on it
  eu::ExecutorKind executor = eu::ExecutorKind::interpreter;  // how EU code runs; results do not depend on it
  bool check_rules = false;          // report uses of surfaces whose compression state the client cannot decode
  bool manual_status_place = false;  // context status buffer at dword 28h of the status page, as the manual prints
};

// Checks the options. The error is a sentence for the user.
Result<void> check_options(const spec::DeviceModel& model, const DeviceOptions& options);

// Returns the model with the chosen stepping.
spec::DeviceModel model_of(const spec::DeviceModel& model, const DeviceOptions& options);

// Returns the model's BAR with the options applied.
uint64_t bar_bytes(const spec::BarModel& bar, const DeviceOptions& options);
uint64_t local_bytes(const spec::DeviceModel& model, const DeviceOptions& options);
uint64_t gtt_bytes(const spec::DeviceModel& model, const DeviceOptions& options);
uint64_t stolen_bytes(const spec::DeviceModel& model, const DeviceOptions& options);

}  // namespace halogen::device
