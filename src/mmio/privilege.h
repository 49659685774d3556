// Which registers a non-privileged batch may touch: the lists of seed 000 ("User Mode Privileged Commands", "Read Only
// User Mode Privilege MMIO Access") and the RING_FORCE_TO_NONPRIV slots that software adds. What a command does when it
// may not is the command streamer's business.
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

enum class Permission : uint8_t {
  allowed,
  denied,
  unknown,  // we have no list for this device: allow, and say that it is an approximation
};

inline constexpr size_t kForceToNonPrivSlots = 20;
using ForceToNonPrivSlots = std::array<uint32_t, kForceToNonPrivSlots>;

// Offset of slot `index` from its engine's MMIO base; nothing where the device lacks the slot.
std::optional<uint32_t> force_to_nonpriv_offset(spec::DeviceId device, size_t index);
// The reverse: which slot stands at this distance from the engine's MMIO base.
std::optional<size_t> force_to_nonpriv_index(spec::DeviceId device, uint32_t engine_offset);

// One slot, taken apart. Before Gen11 it has an address only: one dword to read and write.
struct ForceToNonPriv {
  uint32_t start = 0;  // first byte; the range is aligned to its size
  uint32_t bytes = 4;
  bool reads = false;
  bool writes = false;
  bool deny = false;

  static ForceToNonPriv decode(spec::GenId gen, uint32_t slot);
  bool covers(uint32_t offset, RegisterAccess access) const;
};

class Privilege {
 public:
  explicit Privilege(spec::DeviceId device);
  Privilege(spec::DeviceId device, std::span<const spec::PrivilegeList> lists);

  // May a non-privileged batch on `engine` make this access? `slots` are the engine's RING_FORCE_TO_NONPRIV registers.
  Permission check(const spec::EngineModel& engine, uint32_t offset, RegisterAccess access,
                   std::span<const uint32_t> slots) const;

  // The lists alone.
  bool listed(const spec::EngineModel& engine, uint32_t offset, RegisterAccess access) const;
  bool has_lists() const { return !lists_.empty(); }

 private:
  spec::GenId gen_;
  std::vector<const spec::PrivilegeList*> lists_;
};

}  // namespace halogen::mmio
