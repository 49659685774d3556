// Steering: the copies of a replicated endpoint that an MMIO access reaches. DG1 PRM vol. 13, "Force Wake and Steering
// Table" and "Slice Registers and Die Recovery" (seed 000). Selectors: FD0, FD4, FD8, FDC for accesses from outside the
// GT, 20CC for command streamers. Accesses to fused-off copies are terminated: writes are dropped, reads return zero.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "spec/domain_tables.h"

namespace halogen::mmio {

using spec::SelectorOrigin;

inline constexpr size_t kMaxSteeringSelectors = 8;
inline constexpr size_t kMaxReplicationGroups = 8;

// The copies that one access reaches. For registers in a slice: copy index = slice * copies per slice + instance.
struct SteeringTargets {
  uint64_t copies = 1;      // bit n: copy n is reached; 0: the access is terminated
  bool replicated = false;  // more than one copy exists
  bool terminated() const { return copies == 0; }
  // Returns the copy that a read returns.
  unsigned first() const { return static_cast<unsigned>(std::countr_zero(copies)); }
  constexpr bool operator==(const SteeringTargets&) const = default;
};

// The fields of a selector register.
struct SteeringSelection {
  bool multicast = true;
  uint8_t slice = 0;
  uint8_t subslice = 0;
};

// Fuses of one chip. Every bit is a working instance (whatever the polarity of the register is).
struct SteeringFuses {
  std::array<uint32_t, kMaxReplicationGroups> present{};  // in the order of the table's groups
  uint32_t slices = 1;                                    // bit n: slice n is present
};

// Configuration: the tables of one device and its fuses.
class SteeringConfig {
 public:
  // Without a replication table every register has one copy.
  static SteeringConfig for_device(spec::DeviceId device);
  SteeringConfig(const spec::ReplicationTable* table, const spec::RangeTable* ranges,
                 const spec::RangeTable* slice_ranges);

  SteeringFuses all_present() const;
  // Sets the fuse of a group from the raw value of its register; the table gives polarity and pattern.
  void set_fuse(std::string_view group, uint32_t fuse);

  const spec::ReplicationTable* table = nullptr;
  const spec::RangeTable* ranges = nullptr;
  const spec::RangeTable* slice_ranges = nullptr;
  SteeringFuses fuses;
};

// The state, as plain data: the value of each selector register in the order of the table.
struct SteeringState {
  std::array<uint32_t, kMaxSteeringSelectors> selectors{};
  bool operator==(const SteeringState&) const = default;
};

class Steering {
 public:
  explicit Steering(SteeringConfig config);

  SteeringTargets targets(uint32_t offset, bool is_write, SelectorOrigin origin) const;
  unsigned copies_of(uint32_t offset) const;  // 1: not replicated

  bool is_selector(uint32_t offset) const;
  void write_selector(uint32_t offset, uint32_t value);  // ignored if `offset` is not a selector
  uint32_t read_selector(uint32_t offset) const;         // 0 if `offset` is not a selector
  SteeringSelection selection(uint32_t offset,
                              SelectorOrigin origin) const;  // returns the selection for an access to `offset`

  // Returns the value of a register that reflects fuses (DG1: 913C, 9118). No value: `offset` is not such a register.
  std::optional<uint32_t> fuse_reflection(uint32_t offset) const;

  void reset();

  const SteeringConfig& config() const { return config_; }
  const SteeringState& state() const { return state_; }
  SteeringState& state() { return state_; }

 private:
  std::optional<size_t> group_of(uint32_t offset) const;
  std::optional<size_t> selector_at(uint32_t offset) const;
  std::optional<size_t> selector_for(uint32_t offset, SelectorOrigin origin) const;
  SteeringSelection decode(uint32_t value) const;

  SteeringConfig config_;
  SteeringState state_;
};

}  // namespace halogen::mmio
