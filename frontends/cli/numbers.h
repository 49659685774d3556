// Numbers on the command line: decimal, or hexadecimal with 0x.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "base/bits.h"
#include "base/result.h"
#include "base/strong.h"

namespace halogen::cli {

// Parses a 48-bit graphics address, also in canonical form with copies of bit 47 above.
inline Result<GpuVa> parse_address(std::string_view option, std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (status == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    return Error{fmt::format("{} \"{}\" is not an address; write 0x and hexadecimal digits.", option, text)};
  }
  constexpr unsigned kAddressBits = 48;
  const bool canonical = static_cast<uint64_t>(sign_extend(value, kAddressBits)) == value;
  if (status != std::errc{} || ((value >> kAddressBits) != 0 && !canonical)) {
    return Error{fmt::format("{} {} is out of range; graphics addresses have {} bits.", option, text, kAddressBits)};
  }
  return GpuVa{value & low_mask(kAddressBits)};
}

}  // namespace halogen::cli
