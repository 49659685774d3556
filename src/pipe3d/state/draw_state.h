// Everything of the 3D pipeline that lasts between commands and between the parts of a long draw: plain data, so that a
// snapshot is a copy. What belongs to a context is Settings; a context image holds it as commands.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pipe3d/geometry/assembly.h"
#include "pipe3d/geometry/entry_store.h"
#include "pipe3d/state/draw_call.h"
#include "pipe3d/state/settings.h"

namespace halogen::pipe3d {

// A draw that has begun and not ended; plain data, so that a snapshot may be taken between two parts.
struct Progress {
  std::array<uint64_t, 2> id{};  // of the command, so that equal draws differ
  DrawCall call;
  uint32_t instance = 0;
  uint32_t vertex = 0;
  uint32_t primitive = 0;  // of this instance
  Assembler assembler;
  std::vector<Slot> kept;   // entries that the assembler may still need, one behind the other
  uint32_t line_steps = 0;  // of the line pattern, in the strip so far
  uint32_t band = 0;        // of a clear that is no draw

  bool operator==(const Progress&) const = default;
};

struct DrawState {
  Settings settings;
  Progress progress;

  bool operator==(const DrawState&) const = default;
};

}  // namespace halogen::pipe3d
