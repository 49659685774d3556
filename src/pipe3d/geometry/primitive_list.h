// Primitives that are on the screen and not yet drawn, in their order. While a list is filled, vertex entries may lie
// where their stage left them; a settled list has all of them itself and does not change any more, so that it can be
// kept between two parts of a draw.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipe3d/geometry/clipper.h"
#include "pipe3d/geometry/screen_setup.h"

namespace halogen::pipe3d {

class PrimitiveList {
 public:
  // Empty; `slots`: of a vertex entry.
  void begin(uint32_t slots);
  uint32_t slots() const { return slots_; }
  bool empty() const { return primitives_.empty(); }
  // What is in it should be drawn before more comes.
  bool full() const { return primitives_.size() >= kMax; }
  std::span<const ScreenPrimitive> primitives() const { return primitives_; }

  // Where set_up() puts them.
  std::vector<ScreenPrimitive>& target() { return primitives_; }
  // A copy of an entry whose place will be used again.
  const Slot* keep(std::span<const Slot> entry);
  // The same list with entries of its own.
  PrimitiveList settled() const;

 private:
  static constexpr size_t kMax = 1 << 14;

  uint32_t slots_ = 0;
  std::vector<ScreenPrimitive> primitives_;
  EntryPool pool_;
};

}  // namespace halogen::pipe3d
