// Compression state beside surfaces, by generation: the form of control surfaces (CCS) and of hierarchical depth
// buffers (HiZ). A block of a control surface is a pair of cache lines: 32 bytes by 4 rows in Y tiles, 64 bytes by 2
// rows in X tiles.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

// Bits of a block in a control surface. `mapped`: four bits, at an address that the auxiliary table gives.
enum class ControlForm : uint8_t { none, one_bit, two_bits, mapped };

// When a fast clear stores the clear colour in the format of the target, behind the four components at the clear
// address.
enum class ClearConversion : uint8_t { never, if_enabled, always };

struct CompressionRules {
  spec::GenMask gens;
  ControlForm control;  // of colours with one sample
  // Pixels that levels are padded to in the control surface (Broadwell PRM vol. 7, Skylake PRM vol. 7, "MCS Buffer for
  // Render Target(s)"; Mesa isl).
  uint16_t control_pad_x;
  uint16_t control_pad_y;
  ClearConversion conversion;
  bool hierarchical_depth;
  // The address of hierarchical depth is that of the level, and layers are as far apart as in level 0.
  bool hierarchical_level_base;
  bool hierarchical_by_sample;      // a block has 8x4 samples instead of 8x4 pixels
  uint8_t hierarchical_pad_blocks;  // blocks that levels of hierarchical depth are padded to, horizontally
  uint8_t hierarchical_pad_rows;    // and vertically
};

const CompressionRules& compression_rules(spec::GenId gen);

}  // namespace halogen
