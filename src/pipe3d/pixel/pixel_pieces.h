// The pixels of a list of primitives, divided into pieces without common pixels: windows on the screen, each with the
// primitives that may touch it, in order. The division depends on the list alone. A list with little work is one piece.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipe3d/raster/rasteriser.h"

namespace halogen::pipe3d {

class PixelPieces {
 public:
  void cut(std::span<const Rasteriser> primitives);
  size_t size() const { return pieces_.size(); }

  struct Piece {
    Rectangle window;
    std::span<const uint32_t> primitives;  // indices in the list
  };
  Piece operator[](size_t number) const {
    const Range& range = pieces_[number];
    return {range.window, std::span(order_).subspan(range.first, range.count)};
  }
  // Returns the approximate number of threads of all pieces.
  uint64_t threads() const { return threads_; }

 private:
  struct Range {
    Rectangle window;
    size_t first = 0;
    size_t count = 0;
  };
  void cut_into(std::span<const Rasteriser> primitives, int32_t edge);

  std::vector<Range> pieces_;
  std::vector<uint32_t> order_;
  std::vector<uint64_t> pairs_;  // piece and primitive
  uint64_t threads_ = 0;
};

}  // namespace halogen::pipe3d
