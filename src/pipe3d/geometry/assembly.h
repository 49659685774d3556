// Assembles vertices to primitives, one vertex at a time: the primitives of a topology, their order, and the vertex
// that provides values that are not interpolated. The caller identifies vertices by numbers. The state between two
// vertices is plain data, so a draw may stop after any vertex.
#pragma once

#include <array>
#include <cstdint>

#include "hw/enums.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// A primitive has 1, 2 or 3 vertices, 4 or 6 with adjacency, and up to 32 as a patch.
struct Assembled {
  std::array<uint32_t, 32> vertex{};
  uint8_t count = 0;
  uint8_t provoking = 0;
  hw::PrimitiveTopology topology{};  // of this primitive, as threads see it
  std::array<bool, 3> edge{true, true, true};
  bool first = true;     // the first primitive of its strip, fan or polygon
  bool begins = true;    // starts an object; false for further triangles of one quad or polygon
  bool swapped = false;  // a triangle of a strip whose first two vertices are exchanged

  bool operator==(const Assembled&) const = default;
};

// A primitive with its number in the instance.
struct Object {
  Assembled made;
  uint32_t id = 0;

  bool operator==(const Object&) const = default;
};

class Assembler {
 public:
  Assembler() = default;
  Assembler(hw::PrimitiveTopology topology, const Provoking& provoking) : topology_(topology), provoking_(provoking) {}

  // Calls `emit(const Assembled&)` for each primitive that the vertex completes. `edge`: the vertex's edge flag.
  template <class Emit>
  void add(uint32_t vertex, bool edge, Emit&& emit) {
    push(vertex, edge);
    Assembled made;
    while (next(made)) {
      emit(made);
    }
  }
  template <class Emit>
  void add(uint32_t vertex, Emit&& emit) {
    add(vertex, true, emit);
  }
  // Handles a cut index or the end of an instance. Line loops are closed here.
  template <class Emit>
  void cut(Emit&& emit) {
    Assembled made;
    if (close(made)) {
      emit(made);
    }
    count_ = 0;
    done_ = 0;
  }

  // Renumbers the vertices that later primitives may need: calls `name(old)` once for each.
  template <class Name>
  void rename(Name&& name) {
    if (count_ == 0) {
      return;
    }
    first_ = name(first_);
    const uint32_t kept = count_ < kKept ? count_ : kKept;
    for (uint32_t n = count_ - kept; n < count_; ++n) {
      ring_[n % ring_.size()] = n == 0 ? first_ : name(ring_[n % ring_.size()]);
    }
  }
  static constexpr uint32_t kKept = 32;  // vertices kept besides the first

  static uint32_t patch_size(hw::PrimitiveTopology topology) {
    const auto code = static_cast<uint32_t>(topology);
    return code >= 0x20 ? code - 0x1f : 0;
  }
  bool operator==(const Assembler&) const = default;

 private:
  void push(uint32_t vertex, bool edge);
  void look_at_flags(Assembled& made, const std::array<uint32_t, 3>& numbers) const;
  bool next(Assembled& made);
  bool close(Assembled& made);
  uint32_t at(uint32_t n) const { return n == 0 ? first_ : ring_[n % ring_.size()]; }

  hw::PrimitiveTopology topology_{};
  Provoking provoking_{};
  bool edge_at(uint32_t n) const { return n == 0 ? first_edge_ : (edges_ >> n % ring_.size() & 1) != 0; }

  std::array<uint32_t, 32> ring_{};  // the last vertices, by number
  uint32_t edges_ = 0;               // their edge flags
  uint32_t first_ = 0;
  bool first_edge_ = true;
  uint32_t count_ = 0;  // vertices since the last cut
  uint32_t done_ = 0;   // primitives since the last cut
};

}  // namespace halogen::pipe3d
