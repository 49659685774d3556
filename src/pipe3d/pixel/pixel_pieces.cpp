#include "pipe3d/pixel/pixel_pieces.h"

#include <algorithm>

namespace halogen::pipe3d {
namespace {

constexpr int32_t kSmall = 32;                 // edge of a piece in pixels, for large primitives
constexpr int32_t kLarge = 64;                 // edge of a piece for others, most of which then lie in one piece
constexpr uint64_t kLargePrimitive = 1 << 14;  // pixels
constexpr uint64_t kLittle = 128;              // estimated threads; a list with at most this many is one piece
constexpr uint64_t kPixelsOfThread = 32;       // pixels of a bounding box per thread; a triangle covers half of its box
constexpr uint64_t kMaxPairs = 1 << 18;
constexpr Rectangle kEverywhere{.x_min = 0, .y_min = 0, .x_max = 0xffff, .y_max = 0xffff};

// Returns the pieces of this size that a box touches.
Rectangle pieces_of(const Rectangle& box, int32_t edge) {
  return {.x_min = box.x_min / edge, .y_min = box.y_min / edge, .x_max = box.x_max / edge, .y_max = box.y_max / edge};
}

}  // namespace

void PixelPieces::cut(std::span<const Rasteriser> primitives) {
  pieces_.clear();
  order_.clear();
  threads_ = 0;
  uint64_t pixels = 0;
  for (const Rasteriser& each : primitives) {
    const uint64_t of_box = pixels_of(intersect(each.box(), kEverywhere));
    pixels += of_box;
    threads_ += 1 + of_box / kPixelsOfThread;
  }
  if (primitives.empty()) {
    return;
  }
  if (threads_ <= kLittle) {
    for (uint32_t i = 0; i < primitives.size(); ++i) {
      order_.push_back(i);
    }
    pieces_.push_back({kEverywhere, 0, order_.size()});
    return;
  }
  int32_t edge = pixels / primitives.size() >= kLargePrimitive ? kSmall : kLarge;
  const auto pairs = [&] {
    uint64_t sum = 0;
    for (const Rasteriser& each : primitives) {
      sum += pixels_of(pieces_of(intersect(each.box(), kEverywhere), edge));
    }
    return sum;
  };
  while (pairs() > kMaxPairs) {
    edge *= 2;
  }
  cut_into(primitives, edge);
}

void PixelPieces::cut_into(std::span<const Rasteriser> primitives, int32_t edge) {
  pairs_.clear();
  for (size_t i = 0; i < primitives.size(); ++i) {
    const Rectangle box = intersect(primitives[i].box(), kEverywhere);
    if (empty(box)) {
      continue;
    }
    const Rectangle touched = pieces_of(box, edge);
    for (int32_t y = touched.y_min; y <= touched.y_max; ++y) {
      for (int32_t x = touched.x_min; x <= touched.x_max; ++x) {
        pairs_.push_back(static_cast<uint64_t>(y) << 48 | static_cast<uint64_t>(x) << 32 | i);
      }
    }
  }
  if (!std::ranges::is_sorted(pairs_)) {
    std::ranges::sort(pairs_);
  }
  for (const uint64_t pair : pairs_) {
    const auto x = static_cast<int32_t>(pair >> 32 & 0xffff) * edge;
    const auto y = static_cast<int32_t>(pair >> 48) * edge;
    if (pieces_.empty() || pieces_.back().window.x_min != x || pieces_.back().window.y_min != y) {
      pieces_.push_back({{.x_min = x, .y_min = y, .x_max = x + edge - 1, .y_max = y + edge - 1}, order_.size(), 0});
    }
    order_.push_back(static_cast<uint32_t>(pair));
    ++pieces_.back().count;
  }
}

}  // namespace halogen::pipe3d
