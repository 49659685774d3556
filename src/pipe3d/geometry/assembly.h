// Vertices to primitives, one vertex at a time: what a topology makes of them, in which order, and which vertex gives
// values that are not interpolated. A vertex is known by a number of the caller's. What a primitive of the middle of a
// strip needs is kept in plain data, so a draw may stop between any two vertices.
#pragma once

#include <array>
#include <cstdint>

#include "hw/enums.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// 1, 2 or 3 vertices; with adjacency 4 or 6; of a patch up to 32.
struct Assembled {
  std::array<uint32_t, 32> vertex{};
  uint8_t count = 0;
  uint8_t provoking = 0;
  hw::PrimitiveTopology topology{};  // of this primitive, as threads are told
  std::array<bool, 3> edge{true, true, true};
  bool first = true;     // of its strip, fan or polygon
  bool begins = true;    // an object; else a further triangle of the same quad or polygon
  bool swapped = false;  // a triangle of a strip whose first two vertices stand the other way round
};

class Assembler {
 public:
  Assembler() = default;
  Assembler(hw::PrimitiveTopology topology, const Provoking& provoking) : topology_(topology), provoking_(provoking) {}

  // Calls `emit(const Assembled&)` for every primitive that the vertex completes. `edge`: the vertex's edge flag.
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
  // A cut index, or the end of an instance. Line loops close here.
  template <class Emit>
  void cut(Emit&& emit) {
    Assembled made;
    if (close(made)) {
      emit(made);
    }
    count_ = 0;
    done_ = 0;
  }

  // Gives new numbers to the vertices that later primitives may still need: `name(old)`, once for each.
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
  static constexpr uint32_t kKept = 32;  // besides the first

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

  std::array<uint32_t, 32> ring_{};  // the last ones, by number
  uint32_t edges_ = 0;               // their edge flags
  uint32_t first_ = 0;
  bool first_edge_ = true;
  uint32_t count_ = 0;  // vertices since the last cut
  uint32_t done_ = 0;   // primitives since the last cut
};

}  // namespace halogen::pipe3d
