// Decodes commands of the 2D client into jobs: G45 PRM vol. 1b 8.8 and 8.9 (seed 003), the 64-bit forms of Gen8, and
// the copies and fills that Gen9 and Gen12 added (wide_commands.cpp). Setup commands change the state and give no job.
// Decoding a command twice gives the same job.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "blit/blit_job.h"
#include "blit/blit_state.h"
#include "spec/descriptors.h"

namespace halogen::blit {

// Register settings that affect decoding: BCS_SWCTRL.
struct Modes {
  bool tile_y_source = false;  // "tiled" means tile Y
  bool tile_y_destination = false;
};

struct BlitCommand {
  spec::GenId gen;
  const spec::CommandDesc& desc;
  std::span<const uint32_t> dwords;
};

// Decodes a command. No value: the command only changed the state.
std::optional<BlitJob> decode(const BlitCommand& command, const Modes& modes, BlitState& state);
// Decodes the commands of Gen9 and Gen12. No value: another command.
std::optional<BlitJob> decode_wide(const BlitCommand& command);

// Returns the mask of the graphics address bits that the engine uses (BR09).
uint64_t address_mask(spec::GenId gen);
// Returns lines 0 to 7 of a fixed pattern of XY_MONO_PAT_FIXED_BLT. No value: the number is reserved.
std::optional<std::array<uint8_t, 8>> fixed_pattern(hw::BltFixedPattern number);

}  // namespace halogen::blit
