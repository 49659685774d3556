// The registers that a non-privileged batch may access: the lists of DG1 PRM vol. 13 (seed 000: "User Mode Privileged
// Commands", "Read Only User Mode Privilege MMIO Access") and the RING_FORCE_TO_NONPRIV slots that software adds. The
// command streamer implements the effect of a denied access.
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
  unknown,  // no list for this device: allow, and report an approximation
};

inline constexpr size_t kForceToNonPrivSlots = 20;
using ForceToNonPrivSlots = std::array<uint32_t, kForceToNonPrivSlots>;

// Returns the offset of slot `index` from its engine's MMIO base. Nothing: the device lacks the slot.
std::optional<uint32_t> force_to_nonpriv_offset(spec::DeviceId device, size_t index);
// The reverse: returns the slot at this offset from the engine's MMIO base.
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

class Privilege {
 public:
  explicit Privilege(spec::DeviceId device);
  Privilege(spec::DeviceId device, std::span<const spec::PrivilegeList> lists);

  // Tells whether a non-privileged batch on `engine` may make this access. `slots` are the engine's
  // RING_FORCE_TO_NONPRIV registers.
  Permission check(const spec::EngineModel& engine, uint32_t offset, RegisterAccess access,
                   std::span<const uint32_t> slots) const;

  // Checks the lists alone.
  bool listed(const spec::EngineModel& engine, uint32_t offset, RegisterAccess access) const;
  bool has_lists() const { return !lists_.empty(); }

 private:
  spec::GenId gen_;
  std::vector<const spec::PrivilegeList*> lists_;
};

}  // namespace halogen::mmio
