// The result of pack(): success, or the refused field and the reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halogen::spec {

enum class PackFault : uint8_t {
  none,
  no_such_item,  // the generation does not have the item
  wrong_length,  // the buffer's size is not a length of the item
  too_wide,      // the value does not fit the field, or has bits below an in-place field
  absent,        // nonzero, but the generation does not have the field
  beyond_end,    // nonzero, but the buffer ends before the field
};

struct [[nodiscard]] PackResult {
  PackFault fault = PackFault::none;
  std::string_view field;  // the first refused field

  bool ok() const { return fault == PackFault::none; }
  explicit operator bool() const { return ok(); }
};

// Returns one sentence: "field address: the value does not fit".
std::string describe(const PackResult& result);

}  // namespace halogen::spec
