// The debugger's command language: one command per line, words separated by spaces, numbers in decimal or with 0x.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "debugger/region.h"

namespace halogen::debugger {

enum class Verb : uint8_t {
  none,  // an empty line or a comment (#)
  step,
  go_on,
  break_at,
  delete_at,
  watch,
  regs,
  reg,
  arf,
  payload,
  masks,
  list,
  memory,
  where,
  quit,
  help
};

struct Command {
  Verb verb = Verb::none;
  std::optional<uint64_t> address{};
  std::optional<uint64_t> count{};  // instructions, bytes, registers, elements
  std::optional<RegisterRegion> region{};
};

inline constexpr uint64_t kMaxMemory = 65536;  // bytes printed by one command
inline constexpr uint64_t kMaxWatched = 4096;  // bytes of a watch
inline constexpr uint64_t kMaxListed = 1000;   // instructions

Result<Command> parse_command(std::string_view line);

// Returns one line per command.
std::string help_text();

}  // namespace halogen::debugger
