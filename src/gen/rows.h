// Tables with one row for each generation or device. A row's member `gens` or `devices` says what it holds for.
// A table that lacks a row, or has two for one generation, does not compile. The error names the generation as the
// first argument of the template RowCount. There are three kinds:
//   one_row_each<kRows>                         rules of instructions: every generation
//   one_row_each<kRows, spec::kGensWithDevice>  rules of chips: every generation with a device in spec/devices.toml,
//   and
//                                               no other, so that a new device does not take another chip's row
//   one_row_each_device<kRows>                  rules that differ between chips of a generation: every device
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

template <typename... Ids>
constexpr spec::GenMask gens_of(Ids... ids) {
  return static_cast<spec::GenMask>((spec::mask_of(ids) | ...));
}

template <typename... Ids>
constexpr spec::DeviceMask devices_of(Ids... ids) {
  return (spec::mask_of(ids) | ...);
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

template <typename Rows>
constexpr unsigned count_rows(const Rows& rows, spec::DeviceId device) {
  unsigned count = 0;
  for (const auto& row : rows) {
    count += (row.devices & spec::mask_of(device)) != 0 ? 1u : 0u;
  }
  return count;
}

// Turns a fault of a table into a compile error whose text has the name of the generation or device.
template <auto id, unsigned rows, bool asked>
struct RowCount {
  static_assert(rows != 0 || !asked, "this generation or device has no row in the table: add one");
  static_assert(rows == 0 || asked, "rules of chips have a row for a generation without a device: leave it out");
  static_assert(rows < 2, "this generation or device has more than one row in the table");
  static constexpr bool valid = true;
};

template <const auto& rows, typename Id, unsigned long asked, size_t... id>
constexpr bool check_rows(std::index_sequence<id...>) {
  return (RowCount<static_cast<Id>(id), count_rows(rows, static_cast<Id>(id)), ((asked >> id) & 1) != 0>::valid && ...);
}

template <const auto& rows, spec::GenMask asked = kAllGens>
inline constexpr bool one_row_each = check_rows<rows, spec::GenId, asked>(std::make_index_sequence<spec::kGenCount>{});
template <const auto& rows>
inline constexpr bool one_row_each_device =
    check_rows<rows, spec::DeviceId, ~0ul>(std::make_index_sequence<spec::kDeviceCount>{});

// Stops the program and names the table and the generation. The caller asked for a rule of a chip that is not modelled.
[[noreturn]] void no_row(std::string_view table, spec::GenId gen);
[[noreturn]] void no_row(std::string_view table, spec::DeviceId device);

// Returns the row of a generation. If the generation has no row, the report names `table`.
template <typename Rows>
const auto& row_of(const Rows& rows, spec::GenId gen, std::string_view table) {
  for (const auto& row : rows) {
    if ((row.gens & spec::mask_of(gen)) != 0) {
      return row;
    }
  }
  no_row(table, gen);
}

template <typename Rows>
const auto& row_of(const Rows& rows, spec::DeviceId device, std::string_view table) {
  for (const auto& row : rows) {
    if ((row.devices & spec::mask_of(device)) != 0) {
      return row;
    }
  }
  no_row(table, device);
}

}  // namespace halogen
