// Finds the description of a command by its first dword, for one engine class of one device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <vector>

#include "spec/descriptors.h"

namespace halogen::spec {

class CommandTable {
 public:
  // Returns the table, which is built at the first use and then shared. Thread-safe.
  static const CommandTable& get(DeviceId device, EngineClass engine);

  // Returns whether an engine class of a device has the command.
  static bool has(const CommandDesc& desc, DeviceId device, EngineClass engine);

  // Returns the command with this header. Null: no command of this engine has such a header. If two commands match by
  // an exception, the one that tests more bits wins.
  const CommandDesc* find(uint32_t header) const {
    for (const Entry* e = &entries_[slots_[header >> 16].first]; e->desc != nullptr; ++e) {
      if (e->match.matches(header)) return e->desc;
    }
    return nullptr;
  }

  // Returns the total number of dwords from the header; at least one.
  uint32_t length(const CommandDesc& desc, uint32_t header) const {
    return std::max(1u, desc.length_of_gen[static_cast<size_t>(gen_)].total(header));
  }

  // Returns both in one step, for a walker that needs the next command. Without a description the length is zero. The
  // length comes from the slot if possible, so that a walker need not wait for the match.
  struct Frame {
    const CommandDesc* desc;
    uint32_t dwords;
  };
  Frame frame(uint32_t header) const {
    const Slot& slot = slots_[header >> 16];
    for (const Entry* e = &entries_[slot.first]; e->desc != nullptr; ++e) {
      if (!e->match.matches(header)) continue;
      if (slot.length.mask == kMixed) [[unlikely]] {
        return {e->desc, e->length.total(header)};
      }
      return {e->desc, slot.length.total(header)};
    }
    return {nullptr, 0};
  }

  GenId gen() const { return gen_; }
  DeviceId device() const { return device_; }
  EngineClass engine() const { return engine_; }

  CommandTable(DeviceId device, EngineClass engine);

 private:
  static constexpr uint16_t kMixed = 0xffff;  // as a mask: the candidates of the slot have different rules

  // A length rule without cases: fixed lengths have no mask.
  struct Length {
    uint16_t mask = 0;
    uint16_t bias = 0;
    uint16_t shift = 0;
    constexpr bool operator==(const Length&) const = default;
    constexpr uint32_t total(uint32_t header) const { return std::max(1u, ((header >> shift) & mask) + bias); }
  };
  struct Entry {
    MatchRule match{};
    const CommandDesc* desc = nullptr;  // null ends a list
    Length length;
  };
  struct Slot {
    uint16_t first = 0;  // of its candidates in entries_
    Length length;
  };
  Length length_of(const CommandDesc& desc) const;

  GenId gen_;
  DeviceId device_;
  EngineClass engine_;
  // Indexed by header bits 31:16. Most slots are empty, so the memory is zero pages that the host allocates when
  // touched; a table costs only the pages that hold commands.
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };
  static_assert(std::is_trivially_copyable_v<Slot>);
  std::unique_ptr<Slot[], Free> slots_;
  std::vector<Entry> entries_;
};

}  // namespace halogen::spec
