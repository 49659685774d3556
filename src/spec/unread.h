// Fields of commands and states that the model ignores (spec/unread.toml): records which of them a guest has set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/fidelity.h"
#include "spec/descriptors.h"

namespace halogen::spec {

class UnreadFields {
 public:
  // Records fields with a non-default value. Returns the first of them, or null.
  const UnreadDesc* note(const ItemDesc& item, GenId gen, std::span<const uint32_t> dwords);
  void merge(const UnreadFields& other);
  // Adds each recorded field once.
  void report(FidelityReport& report) const;

 private:
  void keep(const UnreadDesc& field);
  const UnreadDesc* note(std::span<const UnreadDesc> fields, std::span<const uint32_t> dwords, unsigned base);

  std::vector<const UnreadDesc*> seen_;
};

}  // namespace halogen::spec
