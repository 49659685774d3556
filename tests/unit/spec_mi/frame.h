// Helpers of the MI framing tests: how a header is decoded on one engine, and which bits must be zero. The tests
// assemble expected headers and masks by hand from the manuals.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "spec/command_table.h"
#include "spec/device_model.h"
#include "spec/field_visitor.h"

namespace halogen::spec_mi {

using spec::DeviceId;
using spec::EngineClass;
using spec::GenId;
using Dwords = std::vector<uint32_t>;

// Returns the header of an MI command: client 0, opcode in 28:23.
constexpr uint32_t mi(uint32_t opcode, uint32_t rest = 0) {
  return opcode << 23 | rest;
}

// Returns a mask of bits hi to lo of a dword.
constexpr uint32_t ones(unsigned hi, unsigned lo) {
  return (hi == 31 ? ~0u : (1u << (hi + 1)) - 1) & ~((1u << lo) - 1);
}

struct Frame {
  std::string_view name;  // empty: the engine has no command with this header
  uint32_t dwords = 0;
  bool operator==(const Frame&) const = default;
};

inline Frame frame(DeviceId device, EngineClass engine, uint32_t header) {
  const spec::CommandTable& table = spec::CommandTable::get(device, engine);
  const spec::CommandDesc* desc = table.find(header);
  return desc == nullptr ? Frame{} : Frame{desc->name, table.length(*desc, header)};
}

inline void PrintTo(const Frame& f, std::ostream* out) {
  *out << (f.name.empty() ? "nothing" : f.name) << " x " << f.dwords;
}

// Returns the bits of one dword that must be zero, found by setting each alone in an otherwise legal command.
inline uint32_t must_be_zero(const spec::ItemDesc& desc, GenId gen, Dwords legal, size_t dword) {
  uint32_t mask = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    Dwords probe = legal;
    probe[dword] ^= 1u << bit;
    if ((legal[dword] >> bit & 1) == 0 && spec::has_reserved_set(desc, gen, probe)) mask |= 1u << bit;
  }
  return mask;
}

// Returns the name of a coded value of a field.
inline std::string_view value_name(const spec::ItemDesc& desc, GenId gen, std::string_view field, uint64_t value) {
  const spec::FieldDesc* found = spec::find_field(desc, gen, field);
  return found == nullptr || found->enumeration == nullptr ? "" : found->enumeration->name_of(value, gen);
}

}  // namespace halogen::spec_mi
