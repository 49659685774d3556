// The display planes of a device: their registers, their number in flip and wait commands, and their pipe. A plane of
// 965 to GM45 selects its pipe in its control register. The numbers follow the plane select of MI_DISPLAY_FLIP (G45 PRM
// vol. 1b 1.6, seed 003; Linux i915, intel_gpu_commands.h): from Gen9 on the first planes of pipes A to C come first.
// For planes beyond the fourth of a pipe, and for pipe D, no public source was found: their numbers follow, pipe D
// last.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mmio/register_bank.h"

namespace halogen::display {

enum class PlaneKind : uint8_t {
  display,        // DSP*
  video_sprite,   // DVS*, GM45 to Sandy Bridge
  sprite,         // SPR* of Broadwell
  paired_sprite,  // SP* of Cherryview
  universal,      // PLANE_*
};

// Register values of one image of a plane: armed by the surface write, applied by the vertical blank.
struct PlaneImage {
  uint32_t control = 0;
  uint32_t linear_offset = 0;
  uint32_t stride = 0;
  uint32_t position = 0;
  uint32_t size = 0;
  uint32_t tile_offset = 0;
  uint32_t surface = 0;
  uint32_t color_control = 0;
  bool operator==(const PlaneImage&) const = default;
};

// Null: the device does not have the register.
struct PlaneSlots {
  const mmio::RegisterSlot* control = nullptr;
  const mmio::RegisterSlot* linear_offset = nullptr;
  const mmio::RegisterSlot* stride = nullptr;
  const mmio::RegisterSlot* position = nullptr;
  const mmio::RegisterSlot* size = nullptr;
  const mmio::RegisterSlot* tile_offset = nullptr;
  const mmio::RegisterSlot* surface = nullptr;
  const mmio::RegisterSlot* color_control = nullptr;
  const mmio::RegisterSlot* live = nullptr;
};

struct PlaneModel {
  unsigned number;  // in flip commands
  PlaneKind kind;
  unsigned pipe;      // if the control register does not select it
  unsigned place;     // index on the pipe: 0 is its primary plane
  bool selects_pipe;  // the control register selects the pipe
  bool windowed;      // position and size are valid; else the plane fills its pipe
  PlaneSlots slots;
};

// The fields of any kind of plane's control register.
struct PlaneControl {
  bool enabled = false;
  bool async_flip = false;
  bool rotated_180 = false;
  bool mirrored = false;  // left and right exchanged
  bool turned = false;    // by 90 or 270 degrees
  uint8_t tiling = 0;     // 0 linear, 1 X; universal planes also 4 Y, 5 Yf
  unsigned pipe = 0;
};

std::vector<PlaneModel> find_planes(mmio::RegisterBank& bank, unsigned pipes);

PlaneControl unpack_control(const PlaneModel& plane, spec::GenId gen, uint32_t value);
uint32_t with_tiling(const PlaneModel& plane, spec::GenId gen, uint32_t control, uint8_t tiling);

// Returns the unit of the plane's stride register in bytes.
uint32_t stride_unit_B(const PlaneModel& plane);

PlaneImage read_image(const mmio::RegisterBank& bank, const PlaneSlots& slots);

}  // namespace halogen::display
