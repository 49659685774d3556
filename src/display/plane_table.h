// The display planes of a device: their registers, the number that a flip command and a wait name them by, and the pipe
// that they are on. A plane of the 965 to GM45 names its pipe in its control register. The numbers follow the plane
// select of MI_DISPLAY_FLIP (seed 003 1.6; Linux i915, intel_gpu_commands.h): from Gen9 on planes count first through
// the pipes A to C. Beyond the fourth plane of a pipe, and on pipe D, no public source was found: there the count goes
// on, pipe D last.
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

// Register values that one picture of a plane is made of: what the surface write arms and the vertical blank takes.
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

// Null: the device does not have it.
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
  unsigned pipe;      // where the control register does not say it
  unsigned place;     // on the pipe: 0 is its primary plane
  bool selects_pipe;  // the control register says it
  bool windowed;      // position and size mean something; else the plane fills its pipe
  PlaneSlots slots;
};

// What the control register of any kind of plane says.
struct PlaneControl {
  bool enabled = false;
  bool async_flip = false;
  bool rotated_180 = false;
  bool mirrored = false;  // left and right exchanged
  bool turned = false;    // by 90 or 270 degrees
  uint8_t tiling = 0;     // 0 linear, 1 X; universal planes also 4 Y, 5 Yf
  unsigned pipe = 0;
};

std::vector<PlaneModel> find_planes(const mmio::RegisterMap& map, unsigned pipes);

PlaneControl unpack_control(const PlaneModel& plane, spec::GenId gen, uint32_t value);
uint32_t with_tiling(const PlaneModel& plane, spec::GenId gen, uint32_t control, uint8_t tiling);

// Registers of universal planes count lines' distance in these.
uint32_t stride_unit_B(const PlaneModel& plane);

PlaneImage read_image(const mmio::RegisterBank& bank, const PlaneSlots& slots);

}  // namespace halogen::display
