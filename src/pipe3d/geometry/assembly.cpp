#include "pipe3d/geometry/assembly.h"

#include <algorithm>
#include <initializer_list>

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;

// Returns whether the vertices of a topology have edge flags.
bool has_edge_flags(Topology topology) {
  return topology == Topology::TRILIST || topology == Topology::QUADLIST || topology == Topology::POLYGON;
}

}  // namespace

void Assembler::push(uint32_t vertex, bool edge) {
  if (count_ == 0) {
    first_ = vertex;
    first_edge_ = edge;
  }
  ring_[count_ % ring_.size()] = vertex;
  const uint32_t flag = 1u << count_ % ring_.size();
  edges_ = edge ? edges_ | flag : edges_ & ~flag;
  ++count_;
}

// Applies the edge flags. The flag of an edge is that of its first vertex.
void Assembler::look_at_flags(Assembled& made, const std::array<uint32_t, 3>& numbers) const {
  for (size_t i = 0; i < numbers.size() && has_edge_flags(topology_); ++i) {
    made.edge[i] = made.edge[i] && edge_at(numbers[i]);
  }
}

bool Assembler::next(Assembled& made) {
  const uint32_t i = done_;
  const auto take = [&](uint32_t needed, std::initializer_list<uint32_t> vertices, uint8_t provoking) {
    if (count_ < needed) {
      return false;
    }
    made = {};
    made.topology = topology_;
    made.first = done_ == 0;
    for (const uint32_t n : vertices) {
      made.vertex[made.count++] = at(n);
    }
    made.provoking = provoking < made.count ? provoking : static_cast<uint8_t>(made.count - 1);
    ++done_;
    return true;
  };
  // Makes a triangle of an outline. `edge` selects which of its edges belong to the outline.
  const auto part = [&](uint32_t needed, const std::array<uint32_t, 3>& numbers, const std::array<bool, 3>& edge,
                        bool first) {
    if (!take(needed, {numbers[0], numbers[1], numbers[2]}, 0)) {
      return false;
    }
    made.edge = edge;
    made.first = made.begins = first;
    look_at_flags(made, numbers);
    return true;
  };
  // The first two vertices of every second triangle are swapped.
  const auto swapped = [&]() -> uint8_t {
    return provoking_.triangle == 0 ? 1 : provoking_.triangle == 1 ? 0 : provoking_.triangle;
  };
  switch (topology_) {
    case Topology::POINTLIST:
    case Topology::POINTLIST_BF:
      return take(i + 1, {i}, 0);
    case Topology::LINELIST:
      return take(2 * i + 2, {2 * i, 2 * i + 1}, provoking_.line);
    case Topology::LINESTRIP:
    case Topology::LINELOOP:
    case Topology::LINESTRIP_CONT:
    case Topology::LINESTRIP_BF:
    case Topology::LINESTRIP_CONT_BF:
      return take(i + 2, {i, i + 1}, provoking_.line);
    case Topology::TRILIST:
      if (!take(3 * i + 3, {3 * i, 3 * i + 1, 3 * i + 2}, provoking_.triangle)) {
        return false;
      }
      look_at_flags(made, {3 * i, 3 * i + 1, 3 * i + 2});
      return true;
    case Topology::RECTLIST:
      return take(3 * i + 3, {3 * i, 3 * i + 1, 3 * i + 2}, 0);
    case Topology::TRISTRIP:
    case Topology::TRISTRIP_REVERSE:
      if ((i % 2 == 1) != (topology_ == Topology::TRISTRIP)) {
        return take(i + 3, {i, i + 1, i + 2}, provoking_.triangle);
      }
      if (!take(i + 3, {i + 1, i, i + 2}, swapped())) {
        return false;
      }
      made.swapped = true;
      return true;
    case Topology::TRIFAN:
    case Topology::TRIFAN_NOSTIPPLE:
      return take(i + 3, {0, i + 1, i + 2}, provoking_.fan);
    case Topology::POLYGON:
      // Needs one more vertex: close() makes the last triangle, with the edge that closes the outline.
      return part(i + 4, {0, i + 1, i + 2}, {i == 0, true, false}, i == 0);
    // A quad is a polygon that begins with its provoking vertex, which is the last one regardless of the state for
    // triangles.
    case Topology::QUADLIST:
    case Topology::QUADSTRIP: {
      const bool strip = topology_ == Topology::QUADSTRIP;
      const uint32_t q = i / 2 * (strip ? 2 : 4);
      std::array<uint32_t, 4> around{q, q + 1, q + (strip ? 3 : 2), q + (strip ? 2 : 3)};
      std::rotate(around.begin(), around.begin() + (strip ? 2 : 3), around.end());
      return i % 2 == 0 ? part(q + 4, {around[0], around[1], around[2]}, {true, true, false}, true)
                        : part(q + 4, {around[0], around[2], around[3]}, {false, true, true}, false);
    }
    case Topology::LINELIST_ADJ:
      return take(4 * i + 4, {4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3}, provoking_.line);
    case Topology::LINESTRIP_ADJ:
      return take(i + 4, {i, i + 1, i + 2, i + 3}, provoking_.line);
    case Topology::TRILIST_ADJ:
      return take(6 * i + 6, {6 * i, 6 * i + 1, 6 * i + 2, 6 * i + 3, 6 * i + 4, 6 * i + 5}, provoking_.triangle);
    case Topology::TRISTRIP_ADJ: {
      // Needs one more vertex: close() makes the last triangle.
      if (i == 0) {
        return take(7, {0, 1, 2, 6, 4, 3}, provoking_.triangle);
      }
      const uint32_t v = 2 * i;
      return i % 2 == 0 ? take(v + 7, {v, v - 2, v + 2, v + 6, v + 4, v + 3}, provoking_.triangle)
                        : take(v + 7, {v + 2, v - 2, v, v + 3, v + 4, v + 6}, swapped());
    }
    default:
      break;
  }
  const uint32_t patch = patch_size(topology_);
  if (patch == 0 || count_ < (i + 1) * patch) {
    return false;
  }
  made = {};
  made.topology = topology_;
  for (uint32_t n = 0; n < patch; ++n) {
    made.vertex[made.count++] = at(i * patch + n);
  }
  ++done_;
  return true;
}

bool Assembler::close(Assembled& made) {
  made = {};
  made.topology = topology_;
  made.first = done_ == 0;
  if (topology_ == Topology::LINELOOP && count_ >= 2) {
    made.vertex[0] = at(count_ - 1);
    made.vertex[1] = first_;
    made.count = 2;
    made.provoking = provoking_.line < 2 ? provoking_.line : 1;
    return true;
  }
  if (topology_ == Topology::POLYGON && count_ >= done_ + 3) {
    for (const uint32_t n : {0u, done_ + 1, done_ + 2}) {
      made.vertex[made.count++] = at(n);
    }
    made.edge = {done_ == 0, true, true};
    made.begins = done_ == 0;
    look_at_flags(made, {0, done_ + 1, done_ + 2});
    return true;
  }
  if (topology_ == Topology::TRISTRIP_ADJ && count_ >= 2 * done_ + 6) {
    const uint32_t v = 2 * done_;
    const std::array<uint32_t, 6> even{v, done_ == 0 ? 1 : v - 2, v + 2, v + 5, v + 4, v + 3};
    const std::array<uint32_t, 6> odd{v + 2, v - 2, v, v + 3, v + 4, v + 5};
    for (const uint32_t n : done_ % 2 == 0 ? even : odd) {
      made.vertex[made.count++] = at(n);
    }
    const bool second = done_ % 2 == 1;
    made.provoking =
        second && provoking_.triangle < 2 ? static_cast<uint8_t>(1 - provoking_.triangle) : provoking_.triangle;
    return true;
  }
  return false;
}

}  // namespace halogen::pipe3d
