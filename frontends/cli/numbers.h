// Numbers on the command line: decimal, or hexadecimal with 0x.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "base/graphics_address.h"
#include "base/result.h"
#include "base/strong.h"

namespace halogen::cli {

// Parses a graphics address in either form. Returns it without copies of bit 47.
inline Result<GpuVa> parse_address(std::string_view option, std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (status == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    return Error{fmt::format("{} \"{}\" is not an address; write 0x and hexadecimal digits.", option, text)};
  }
  if (status != std::errc{} || !is_graphics_address(value)) {
    return Error{
        fmt::format("{} {} is out of range; graphics addresses have {} bits.", option, text, kGraphicsAddressBits)};
  }
  return GpuVa{plain_address(value)};
}

}  // namespace halogen::cli
