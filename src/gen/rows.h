// Tables with one row for each generation. A row has a member `gens`: the generations it holds for.
// A table that lacks a row, or has two for one generation, does not compile: `static_assert(one_row_each<kRows>)`. The
// error names the generation as the first argument of the template RowCount. Rules of instructions have a row for every
// generation. Rules of chips have a row for every generation that has a device in spec/devices.toml: they are checked
// with `one_row_each<kRows, spec::kGensWithDevice>`.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "spec/descriptors.h"
#include "spec/gens_with_device.h"

namespace halogen {

constexpr spec::GenMask from_to(spec::GenId first, spec::GenId last) {
  spec::GenMask mask = 0;
  for (auto gen = static_cast<unsigned>(first); gen <= static_cast<unsigned>(last); ++gen) {
    mask = static_cast<spec::GenMask>(mask | spec::mask_of(static_cast<spec::GenId>(gen)));
  }
  return mask;
}

constexpr spec::GenMask kAllGens = static_cast<spec::GenMask>((1u << spec::kGenCount) - 1);

template <typename Rows>
constexpr unsigned count_rows(const Rows& rows, spec::GenId gen) {
  unsigned count = 0;
  for (const auto& row : rows) {
    count += (row.gens & spec::mask_of(gen)) != 0 ? 1u : 0u;
  }
  return count;
}

// Returns the generations at fault: those of `asked` without a row, and all that have more than one.
template <typename Rows>
constexpr spec::GenMask gens_at_fault(const Rows& rows, spec::GenMask asked) {
  spec::GenMask faults = 0;
  for (unsigned i = 0; i < spec::kGenCount; ++i) {
    const auto gen = static_cast<spec::GenId>(i);
    const unsigned count = count_rows(rows, gen);
    const bool missing = count == 0 && (asked & spec::mask_of(gen)) != 0;
    faults = static_cast<spec::GenMask>(faults | (missing || count > 1 ? spec::mask_of(gen) : 0));
  }
  return faults;
}

// Turns a fault of a table into a compile error whose text has the generation's name.
template <spec::GenId gen, unsigned rows, bool asked>
struct RowCount {
  static_assert(rows != 0 || !asked, "this generation has no row in the table: add one");
  static_assert(rows < 2, "this generation has more than one row in the table");
  static constexpr bool valid = true;
};

template <const auto& rows, spec::GenMask asked, size_t... gen>
constexpr bool check_rows(std::index_sequence<gen...>) {
  return (RowCount<static_cast<spec::GenId>(gen), count_rows(rows, static_cast<spec::GenId>(gen)),
                   ((asked >> gen) & 1) != 0>::valid &&
          ...);
}

template <const auto& rows, spec::GenMask asked = kAllGens>
inline constexpr bool one_row_each = check_rows<rows, asked>(std::make_index_sequence<spec::kGenCount>{});

// Stops the program and names the table and the generation: the caller asked for a rule of a chip that is not modelled.
[[noreturn]] void no_row(std::string_view table, spec::GenId gen);

// Returns the row of a generation. `table` is the name to report when there is none.
template <typename Rows>
const auto& row_of(const Rows& rows, spec::GenId gen, std::string_view table) {
  for (const auto& row : rows) {
    if ((row.gens & spec::mask_of(gen)) != 0) {
      return row;
    }
  }
  no_row(table, gen);
}

}  // namespace halogen
