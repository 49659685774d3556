// Primitives on the screen that are still to be drawn, in order. While a list is filled, vertex entries may belong to
// their stage. A settled list owns all its entries and does not change, so it can be kept between two parts of a draw.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipe3d/geometry/clipper.h"
#include "pipe3d/geometry/screen_setup.h"

namespace halogen::pipe3d {

class PrimitiveList {
 public:
  // Clears the list. `slots`: size of a vertex entry.
  void begin(uint32_t slots);
  uint32_t slots() const { return slots_; }
  bool empty() const { return primitives_.empty(); }
  // Returns whether the list should be drawn before more is added.
  bool full() const { return primitives_.size() >= kMax; }
  // Returns whether the list must be drawn before more is added, even in the middle of an object.
  bool overfull() const { return primitives_.size() >= kMaxInObject; }
  std::span<const ScreenPrimitive> primitives() const { return primitives_; }

  // Returns the vector that set_up() appends to.
  std::vector<ScreenPrimitive>& target() { return primitives_; }
  // Returns a copy of an entry whose memory will be reused.
  const Slot* keep(std::span<const Slot> entry);
  // Returns a copy of the list that owns its entries.
  PrimitiveList settled() const;

 private:
  static constexpr size_t kMax = 1 << 14;
  static constexpr size_t kMaxInObject = 1 << 17;

  uint32_t slots_ = 0;
  std::vector<ScreenPrimitive> primitives_;
  EntryPool pool_;
};

}  // namespace halogen::pipe3d
