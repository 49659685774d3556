// The registers that a non-privileged batch may access: the lists in spec/tables/, and the FORCE_TO_NONPRIV slots that
// software adds. What neither names is refused, so a device or streamer without a list refuses every access. The
// command streamer implements the effect of a refused access. DG1 PRM vol. 13, User Mode Privileged Commands, Read Only
// User Mode Privilege MMIO Access (seed 000).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spec/device_model.h"
#include "spec/tables.h"

namespace halogen::mmio {

enum class RegisterAccess : uint8_t { read, write };

inline constexpr size_t kForceToNonPrivSlots = 20;

// Returns the offset of slot `index` from its engine's MMIO base. No value: the device lacks the slot.
std::optional<uint32_t> force_to_nonpriv_offset(spec::DeviceId device, size_t index);
// Returns the index of the slot at this offset from the engine's MMIO base. No value: there is no slot.
std::optional<size_t> force_to_nonpriv_index(spec::DeviceId device, uint32_t engine_offset);

// The fields of one slot. Before Gen11 it holds only the address of one readable and writable dword.
struct ForceToNonPriv {
  uint32_t start = 0;  // first byte; the range is aligned to its size
  uint32_t bytes = 4;
  bool reads = false;
  bool writes = false;
  bool deny = false;

  static ForceToNonPriv decode(spec::GenId gen, uint32_t slot);
  bool covers(uint32_t offset, RegisterAccess access) const;
};

// Returns the values that Linux writes to the slots of an engine. Slots after them are unused.
std::vector<uint32_t> slots_of_driver(spec::DeviceId device, const spec::EngineModel& engine);

// The registers of one streamer.
class Privilege {
 public:
  Privilege(spec::DeviceId device, const spec::EngineModel& engine);
  Privilege(const spec::EngineModel& engine, std::span<const spec::PrivilegeList* const> lists);

  // Returns whether a non-privileged batch may make this access. `slots` are the engine's FORCE_TO_NONPRIV registers.
  bool allows(uint32_t offset, RegisterAccess access, std::span<const ForceToNonPriv> slots) const;
  // Returns whether the lists alone allow the access.
  bool listed(uint32_t offset, RegisterAccess access) const;

 private:
  struct Range {
    uint64_t start;
    uint64_t end;
  };
  using Ranges = std::vector<Range>;  // sorted, without overlap

  static void add(Ranges& ranges, const spec::PrivilegeRow& row, uint32_t engine_base);
  static void merge(Ranges& ranges);

  Ranges readable_;  // and writable
  Ranges writable_;
};

}  // namespace halogen::mmio
