// Commands written from their fields.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/descriptors.h"

namespace halogen::spec {

// Appends the command in its longest form. False: the generation does not have the command.
template <class T>
bool append_command(GenId gen, std::vector<uint32_t>& out, const T& command) {
  const LengthRule& rule = T::kDesc.length_of_gen[static_cast<size_t>(gen)];
  std::vector<uint32_t> words(rule.fixed != 0 ? rule.fixed : rule.max);
  if (!command.pack(gen, words)) {
    return false;
  }
  out.insert(out.end(), words.begin(), words.end());
  return true;
}

}  // namespace halogen::spec
