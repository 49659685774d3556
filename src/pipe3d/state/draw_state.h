// The state of the 3D pipeline between commands and between the parts of a long draw. It is plain data, so a snapshot
// is a copy. Settings belong to a context; a context image holds them as commands.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pipe3d/geometry/assembly.h"
#include "pipe3d/geometry/entry_store.h"
#include "pipe3d/state/draw_call.h"
#include "pipe3d/state/settings.h"

namespace halogen::pipe3d {

// The objects of a chunk that has been shaded, if the stages between vertices and clipping have not processed all of
// them. One object may become thousands of primitives, so a part may end between two objects, and inside a patch.
struct OpenObjects {
  std::vector<Object> list;
  uint32_t next = 0;         // first object, or first patch of a group, that is not done
  bool hull_done = false;    // the hull shader has run for the group that starts at `next`
  uint32_t patch = 0;        // first patch of the group that is not done
  bool points_done = false;  // the domain shader has run for this patch
  uint32_t primitive = 0;    // first primitive of this patch that is not processed
  SavedEntries vertices;
  SavedEntries patches;
  SavedEntries points;

  bool done() const { return next >= list.size(); }
  bool operator==(const OpenObjects&) const = default;
};

// A draw that has begun and not ended. It is plain data, so a snapshot may be taken between two parts.
struct Progress {
  std::array<uint64_t, 2> id{};  // identifies the command, so that equal draws differ
  DrawCall call;
  uint32_t instance = 0;
  uint32_t vertex = 0;
  uint32_t primitive = 0;  // in this instance
  Assembler assembler;
  std::vector<Slot> kept;   // entries that the assembler may still need, consecutive
  OpenObjects open;         // of the last chunk
  uint32_t line_steps = 0;  // of the line pattern, in the current strip
  uint32_t band = 0;        // of a clear that is not a draw

  bool operator==(const Progress&) const = default;
};

struct DrawState {
  Settings settings;
  Progress progress;

  bool operator==(const DrawState&) const = default;
};

}  // namespace halogen::pipe3d
