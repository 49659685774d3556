// Fields of commands and states that the model does not look at (spec/unread.toml): which of them a guest has set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/fidelity.h"
#include "spec/descriptors.h"

namespace halogen::spec {

class UnreadFields {
 public:
  // Keeps those that are not at rest. The first one of them, or null.
  const UnreadDesc* note(const ItemDesc& item, GenId gen, std::span<const uint32_t> dwords);
  void merge(const UnreadFields& other);
  // Each with the number of those that have met it.
  void report(FidelityReport& report) const;

 private:
  void keep(const UnreadDesc& field);
  const UnreadDesc* note(std::span<const UnreadDesc> fields, std::span<const uint32_t> dwords, unsigned base);

  std::vector<const UnreadDesc*> seen_;
};

}  // namespace halogen::spec
