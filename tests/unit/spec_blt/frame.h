// Shared by the BLT encoding tests: builds a header from the manual's bit positions and checks how a command is framed.
// The tests assemble every dword by hand from the tables of G45 PRM vol. 1b chapter 8 (seed 003), never with the
// generated packer.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>

#include "spec/command_table.h"
#include "spec/device_model.h"
#include "spec/field_visitor.h"

namespace halogen::blt_test {

// Returns a header: client 2 in bits 31:29, opcode in 28:22, length in the low bits. `rest` holds the other fields.
constexpr uint32_t header(uint32_t opcode, uint32_t length, uint32_t rest = 0) {
  return (2u << 29) | (opcode << 22) | rest | length;
}

constexpr uint32_t yx(uint32_t y, uint32_t x) {
  return (y << 16) | x;
}

struct Ring {
  spec::DeviceId device;
  spec::EngineClass engine;
};

// Rings that execute the 32-bit forms.
inline constexpr std::array kRings32 = {
    Ring{spec::DeviceId::i965, spec::EngineClass::render}, Ring{spec::DeviceId::gm965, spec::EngineClass::render},
    Ring{spec::DeviceId::g45, spec::EngineClass::render},  Ring{spec::DeviceId::gm45, spec::EngineClass::render},
    Ring{spec::DeviceId::snb, spec::EngineClass::blit},
};

// Rings that execute the 64-bit forms.
inline constexpr std::array kRings64 = {
    Ring{spec::DeviceId::bdw, spec::EngineClass::blit}, Ring{spec::DeviceId::chv, spec::EngineClass::blit},
    Ring{spec::DeviceId::skl, spec::EngineClass::blit}, Ring{spec::DeviceId::icl, spec::EngineClass::blit},
    Ring{spec::DeviceId::tgl, spec::EngineClass::blit}, Ring{spec::DeviceId::dg1, spec::EngineClass::blit},
};

// Checks on each ring that the header identifies this command, that its length is the whole of `dwords` and allowed,
// and that no reserved bit is set.
template <typename Command, size_t N>
void expect_framed(std::span<const uint32_t> dwords, const std::array<Ring, N>& rings) {
  for (const Ring& ring : rings) {
    SCOPED_TRACE(spec::model(ring.device).name);
    const spec::CommandTable& table = spec::CommandTable::get(ring.device, ring.engine);
    ASSERT_EQ(table.find(dwords[0]), &Command::kDesc);
    EXPECT_EQ(table.length(Command::kDesc, dwords[0]), dwords.size());
    const spec::LengthRule& rule = Command::kDesc.length_of_gen[static_cast<size_t>(table.gen())];
    EXPECT_GE(dwords.size(), rule.min);
    EXPECT_LE(dwords.size(), rule.max);
    EXPECT_FALSE(spec::has_reserved_set(Command::kDesc, table.gen(), dwords));
  }
}

// Checks that this bit of this dword is reserved on Gen4.
template <typename Command>
bool is_reserved(std::span<const uint32_t> dwords, size_t dword, unsigned bit) {
  std::array<uint32_t, 80> copy{};
  for (size_t i = 0; i < dwords.size(); ++i) copy[i] = dwords[i];
  copy[dword] |= 1u << bit;
  return spec::has_reserved_set(Command::kDesc, spec::GenId::gen4, std::span(copy).first(dwords.size()));
}

}  // namespace halogen::blt_test
