#include "memory/memory_type.h"

#include "base/bits.h"
#include "memory/has_register.h"
#include "spec/item_ids.h"

namespace halogen::memory {

using spec::RegisterId;

std::string_view name_of(MemoryType type) {
  switch (type) {
    case MemoryType::uc:
      return "UC";
    case MemoryType::wc:
      return "WC";
    case MemoryType::wt:
      return "WT";
    case MemoryType::wb:
      return "WB";
  }
  return "invalid";
}

bool MemoryTypes::owns(RegisterId id) const {
  return (id == RegisterId::PRIVATE_PAT || id == RegisterId::PAT_INDEX) && has_register(*model_, id);
}

void MemoryTypes::write(RegisterId id, unsigned index, unsigned dword, uint32_t value) {
  if (id == RegisterId::PRIVATE_PAT) {  // one byte per entry
    for (unsigned i = 0; i < 4 && dword < 2; ++i) {
      state_.pat[4 * dword + i] = static_cast<uint8_t>(value >> (8 * i));
    }
  } else if (id == RegisterId::PAT_INDEX) {  // one dword per entry
    if (index < MemoryTypeState::kEntries) {
      state_.pat[index] = static_cast<uint8_t>(value);
    }
  }
}

PatEntry MemoryTypes::pat(uint8_t type_index) const {
  const uint8_t entry = state_.pat[type_index % MemoryTypeState::kEntries];
  return {static_cast<MemoryType>(bits(entry, 1, 0)), static_cast<uint8_t>(bits(entry, 3, 2)),
          static_cast<uint8_t>(bits(entry, 5, 4))};
}

}  // namespace halogen::memory
