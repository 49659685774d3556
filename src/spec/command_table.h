// From a command's first dword to its description, for one engine class of one device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "spec/descriptors.h"

namespace halogen::spec {

class CommandTable {
 public:
  // Built on first use, then shared; may be called from any thread.
  static const CommandTable& get(DeviceId device, EngineClass engine);

  // Null when no command of this engine has such a header. Where an exception lets two commands match, the one that
  // tests more bits wins.
  const CommandDesc* find(uint32_t header) const {
    for (const Entry* e = &entries_[first_of_slot_[header >> 16]]; e->desc != nullptr; ++e) {
      if (e->match.matches(header)) return e->desc;
    }
    return nullptr;
  }

  // Total dwords, as the header says; at least one.
  uint32_t length(const CommandDesc& desc, uint32_t header) const {
    return std::max(1u, desc.length_of_gen[static_cast<size_t>(gen_)].total(header));
  }

  GenId gen() const { return gen_; }
  DeviceId device() const { return device_; }
  EngineClass engine() const { return engine_; }

  CommandTable(DeviceId device, EngineClass engine);

 private:
  struct Entry {
    MatchRule match;
    const CommandDesc* desc;  // null ends a list
  };

  GenId gen_;
  DeviceId device_;
  EngineClass engine_;
  std::vector<uint16_t> first_of_slot_;  // by header bits 31:16: where its candidates start
  std::vector<Entry> entries_;
};

}  // namespace halogen::spec
