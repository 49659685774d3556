// Items and fields that the rows of decoder tables name.
#pragma once

#include <string_view>

#include "spec/field_visitor.h"

namespace halogen::decode {

// Returns the command or structure of this name. Null: there is no such item.
inline const spec::ItemDesc* find_item(std::string_view name) {
  if (const spec::ItemDesc* command = spec::find_command(name)) return command;
  return spec::find_struct(name);
}

// Returns whether the item has a field of this name on any generation.
inline bool has_field(const spec::ItemDesc& item, std::string_view name) {
  for (size_t gen = 0; gen < spec::kGenCount; ++gen) {
    if (spec::find_field(item, static_cast<spec::GenId>(gen), name) != nullptr) return true;
  }
  return false;
}

}  // namespace halogen::decode
