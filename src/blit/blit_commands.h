// Commands of the 2D client to jobs: seed 003 8.8 and 8.9, the 64-bit forms of Gen8, and the copies and fills that came
// with Gen9 and Gen12 (wide_commands.cpp). Setup commands change the state and give no job. Decoding a command again
// gives the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "blit/blit_job.h"
#include "blit/blit_state.h"
#include "spec/descriptors.h"

namespace halogen::blit {

// What registers say about the commands: BCS_SWCTRL.
struct Modes {
  bool tile_y_source = false;  // "tiled" means tile Y
  bool tile_y_destination = false;
};

struct BlitCommand {
  spec::GenId gen;
  const spec::CommandDesc& desc;
  std::span<const uint32_t> dwords;
};

// Nothing: it only changed the state.
std::optional<BlitJob> decode(const BlitCommand& command, const Modes& modes, BlitState& state);
// The commands after the classic ones. Nothing: it is none of them.
std::optional<BlitJob> decode_wide(const BlitCommand& command);

// Bits of a graphics address that the engine keeps (BR09).
uint64_t address_mask(spec::GenId gen);
// The built-in patterns of XY_MONO_PAT_FIXED_BLT, lines 0 to 7; reserved numbers have none.
std::optional<std::array<uint8_t, 8>> fixed_pattern(hw::BltFixedPattern number);

}  // namespace halogen::blit
