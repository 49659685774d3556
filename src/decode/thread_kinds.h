// A table of the commands and states that decide what threads start with. The layout of their registers is in
// spec/payloads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "spec/payload.h"

namespace halogen::decode {

struct ThreadRow {
  std::string_view owner;  // command or structure
  spec::ThreadKind kind;
  std::string_view only_if{};  // fields of the owner, separated by '|': one must be non-zero
  std::string_view mode{};     // a field of the owner
  std::string_view word{};     // the name of its value, or "true"; empty: the field is absent, clear or has no name
};

std::span<const ThreadRow> thread_rows();

// Returns the kind of threads that a command or structure starts. No value: it starts none, or the kind has no
// description.
std::optional<spec::ThreadKind> thread_kind(const spec::ItemDesc& item, spec::GenId gen,
                                            std::span<const uint32_t> dwords);

}  // namespace halogen::decode
