// Memory types: the private page attribute table that page table entries index (PAT, PCD and PWT bits). The model has
// no caches; types matter to it because only write-back memory takes atomic operations. Ice Lake PRM vol. 6, Atomic
// Operations between GPU and IA, Updating A/D Bits (seed 001); layouts: spec/registers/mocs.toml. Not modelled: cache
// hits and ages, and the memory object control tables (MOCS) that commands and surface states index.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "spec/descriptors.h"
#include "spec/device_model.h"

namespace halogen::memory {

enum class MemoryType : uint8_t { uc, wc, wt, wb };  // as the tables encode them
std::string_view name_of(MemoryType type);

struct PatEntry {
  MemoryType type = MemoryType::uc;
  uint8_t target_cache = 0;
  uint8_t age = 0;
  bool operator==(const PatEntry&) const = default;
};

// The outcome of an atomic operation.
enum class AtomicOutcome : uint8_t {
  done,
  failed,  // the write has no effect, the read returns garbage, a catastrophic error is reported
};

// The state, as plain data.
struct MemoryTypeState {
  static constexpr unsigned kEntries = 8;
  std::array<uint8_t, kEntries> pat{};
  // Settings of registers whose addresses the manual does not give.
  bool atomics_ignore_type = true;        // false: atomics outside write-back memory fail
  bool page_updates_ignore_type = false;  // "A/D Bit Update on non-WB Space", default 0: a catastrophic error
  bool operator==(const MemoryTypeState&) const = default;
};

class MemoryTypes {
 public:
  explicit MemoryTypes(const spec::DeviceModel& model) : model_(&model) {}

  bool owns(spec::RegisterId id) const;
  // Handles a write of a dword. `index`: the copy of the register. `value`: the stored value after the write.
  void write(spec::RegisterId id, unsigned index, unsigned dword, uint32_t value);
  void reset() { state_ = {}; }

  // Returns the type of a page. `type_index`: PAT:PCD:PWT of the entry that maps it.
  PatEntry pat(uint8_t type_index) const;
  MemoryType page_type(uint8_t type_index) const { return pat(type_index).type; }

  // Returns the outcome of an atomic operation. The chip owns the cache line meanwhile; it cannot lock the bus. Outside
  // write-back memory it ignores the type, or the operation fails and the caller reports a catastrophic error.
  AtomicOutcome atomic(MemoryType type) const {
    return state_.atomics_ignore_type || type == MemoryType::wb ? AtomicOutcome::done : AtomicOutcome::failed;
  }

  MemoryTypeState& state() { return state_; }
  const MemoryTypeState& state() const { return state_; }

 private:
  const spec::DeviceModel* model_;
  MemoryTypeState state_;
};

}  // namespace halogen::memory
