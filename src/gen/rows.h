// Tables with one row for some generations: each row has a member `gens`.
#pragma once

#include "spec/descriptors.h"

namespace halogen {

constexpr spec::GenMask from_to(spec::GenId first, spec::GenId last) {
  spec::GenMask mask = 0;
  for (auto gen = static_cast<unsigned>(first); gen <= static_cast<unsigned>(last); ++gen) {
    mask = static_cast<spec::GenMask>(mask | spec::mask_of(static_cast<spec::GenId>(gen)));
  }
  return mask;
}

template <typename Rows>
constexpr bool one_row_each(const Rows& rows) {
  for (unsigned gen = 0; gen < spec::kGenCount; ++gen) {
    unsigned found = 0;
    for (const auto& row : rows) {
      found += ((row.gens >> gen) & 1) != 0 ? 1u : 0u;
    }
    if (found != 1) {
      return false;
    }
  }
  return true;
}

// The row of a generation, of rows that are one each.
template <typename Rows>
const auto& row_of(const Rows& rows, spec::GenId gen) {
  const auto* found = &rows[0];
  for (const auto& row : rows) {
    if ((row.gens & spec::mask_of(gen)) != 0) {
      found = &row;
    }
  }
  return *found;
}

}  // namespace halogen
