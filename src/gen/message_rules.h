// Rules of messages to the shared functions by generation, beyond the bits of their descriptors (spec/eu). src/message
// reads them. Sources: Mesa's compiler and surface library (docs/sources.md).
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

// The order of parameters in a sampler message.
enum class SamplerOrder : uint8_t {
  coordinates_and_level,      // Gen4: u v r, then level or bias, then reference
  coordinates_reference,      // Gen5 and 6: u v r ai, then reference, then level or bias
  reference_level_first,      // Gen7 and 8: reference, level or bias, then coordinates; ld: u lod v r
  reference_level_first_ld_v  // Gen9 on: the same, but ld: u v lod r
};

// The distance between layers of a surface.
enum class LayerDistance : uint8_t {
  eleven_rows,  // height of level 0 and 1 and eleven vertical alignments
  stated        // QPitch
};

struct MessageRules {
  spec::GenMask gens;
  bool block_offset_bytes;    // offsets of OWord blocks count bytes, else OWords
  uint8_t bindless_index;     // of binding tables; 0: the chip has no such index
  uint8_t noncoherent_index;  // stateless, as index 255
  uint8_t local_index;        // shared local memory
  SamplerOrder order;
  LayerDistance layers;
  bool cube_as_volume;               // faces lie as slices of a volume do
  bool alignment_in_elements;        // alignments and QPitch count blocks of compressed formats, else texels
  uint8_t y_offset_unit;             // rows
  uint8_t buffer_depth_shift;        // lowest bit that the depth field supplies to a buffer's size
  bool array_bit;                    // the surface state has an array bit; else surfaces with layers are arrays
  bool channel_selects;              // the surface state maps channels to components
  bool typed_borders;                // border colours in every number format, consecutive
  bool target_control;               // the surface state selects the written channels and enables blending
  bool sample_position_interleaved;  // multisampled surfaces always have interleaved samples
  bool gateway;                      // a public source describes how threads open registers and write to others
  uint16_t spawner_rows;             // rows of 32 bytes of the URB for threads that start others; 0: not described
};

const MessageRules& message_rules(spec::GenId gen);

}  // namespace halogen
