#include "pipe3d/geometry/tessellator.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kOne = 1 << 16;
constexpr uint32_t kHalf = kOne / 2;
constexpr uint32_t kThird = kOne / 3;
constexpr uint32_t kTwoThirds = kOne * 2 / 3;
constexpr uint32_t kNoSplit = ~0u;
constexpr float kLeastFrame = 1.0f + 1.0f / 65536;  // the smallest inner factor above one
constexpr float kAlmostOne = 1.0f + 0.5f / 65536;
constexpr unsigned kHalfLog2 = 5;  // at most 64 segments

uint32_t fixed(float value) {
  return static_cast<uint32_t>(std::nearbyint(double{value} * kOne));
}
uint32_t floor_of(uint32_t value) {
  return value / kOne;
}
uint32_t ceil_of(uint32_t value) {
  return (value + kOne - 1) / kOne;
}
uint32_t reciprocal(uint32_t value) {
  return (kOne + value / 2) / std::max(value, 1u);
}
uint32_t without_highest_bit(uint32_t value) {
  return value == 0 ? 0 : value & ~std::bit_floor(value);
}

// Returns the order in which the segment after point `i` of a half appears as factors grow. Halves are split in the
// middle repeatedly, starting from the end of the edge.
uint32_t comes_in(uint32_t i) {
  if (i == 0) {
    return 0;
  }
  const uint32_t k = i - 1;
  if (k == 0) {
    return 1u << kHalfLog2;
  }
  const auto level = static_cast<unsigned>(std::countr_zero(k));
  return (1u << (kHalfLog2 - 1 - level)) + (k >> (level + 1));
}

}  // namespace

Tessellator::Spacing::Spacing(uint32_t factor, bool odd) : odd_(odd) {
  uint32_t half = (factor + 1) / 2;
  if (odd || half == kHalf) {  // one segment counts as two if an even number is required
    half += kHalf;
  }
  const uint32_t fewer = floor_of(half);
  const uint32_t more = ceil_of(half);
  fraction_ = half % kOne;
  half_ = more;
  if (fewer == more) {
    split_ = kNoSplit;
  } else if (odd) {
    split_ = fewer == 1 ? 0 : without_highest_bit(fewer - 1) * 2 + 1;
  } else {
    split_ = without_highest_bit(fewer) * 2 + 1;
  }
  coarse_ = reciprocal(fewer * 2 - (odd ? 1 : 0));
  fine_ = reciprocal(more * 2 - (odd ? 1 : 0));
}

uint32_t Tessellator::Spacing::place(uint32_t point) const {
  const bool mirrored = point >= half_;
  if (mirrored) {
    point = half_ * 2 - point - (odd_ ? 1 : 0);
  }
  if (point == half_) {
    return kHalf;
  }
  const uint64_t coarse = uint64_t{split_ != kNoSplit && point > split_ ? point - 1 : point} * coarse_;
  const uint64_t fine = uint64_t{point} * fine_;
  const auto position = static_cast<uint32_t>((coarse * (kOne - fraction_) + fine * fraction_ + kHalf) >> 16);
  return mirrored ? kOne - position : position;
}

float Tessellator::clamped(float factor, float least) const {
  const bool odd = state_->partitioning == TessellationPartitioning::odd;
  const float limit = odd ? state_->most_odd : state_->most_even;
  const float cap = odd ? 63.0f : 64.0f;
  const float most = limit >= 1 && limit < cap ? limit : cap;
  const float low = factor > least ? factor : least;  // NaN becomes the minimum
  return low < most ? low : std::max(most, least);
}

Tessellator::Spacing Tessellator::outer_spacing(float factor) const {
  switch (state_->partitioning) {
    case TessellationPartitioning::odd:
      return {fixed(clamped(factor, 1)), true};
    case TessellationPartitioning::even:
      return {fixed(clamped(factor, 2)), false};
    case TessellationPartitioning::integer:
      break;
  }
  const float whole = std::ceil(clamped(factor, 1));
  return {fixed(whole), static_cast<uint32_t>(whole) % 2 == 1};
}

// `framed`: the patch has an edge with more than one segment, so it always has an inner ring.
Tessellator::Spacing Tessellator::inner_spacing(float factor, bool framed) const {
  if (state_->partitioning == TessellationPartitioning::odd) {
    return {fixed(clamped(factor, framed ? kLeastFrame : 1)), true};
  }
  if (state_->partitioning == TessellationPartitioning::even) {
    return {fixed(clamped(factor, 2)), false};
  }
  const float whole = std::ceil(clamped(factor, 1));
  return {fixed(whole), whole != 1 && static_cast<uint32_t>(whole) % 2 == 1};
}

uint16_t Tessellator::add(uint32_t u, uint32_t v) {
  points_.push_back({u, v});
  return static_cast<uint16_t>(points_.size() - 1);
}

void Tessellator::add_triangle(uint16_t a, uint16_t b, uint16_t c) {
  indices_.push_back(a);
  const bool clockwise = state_->output == TessellationOutput::clockwise;
  indices_.push_back(clockwise ? b : c);
  indices_.push_back(clockwise ? c : b);
}

bool Tessellator::connect_points() {
  const auto count = static_cast<uint16_t>(points_.size());
  if (state_->output == TessellationOutput::point) {
    vertices_ = 1;
    for (uint16_t i = 0; i < count; ++i) {
      indices_.push_back(i);
    }
    return true;
  }
  if (state_->output == TessellationOutput::line) {
    vertices_ = 2;
    for (uint16_t i = 1; i < count; ++i) {
      indices_.push_back(static_cast<uint16_t>(i - 1));
      indices_.push_back(i);
    }
    return true;
  }
  return false;
}

// Appends the first point of each edge's successor to the edge.
void Tessellator::close(Ring& ring, size_t edges) {
  const uint16_t first = ring[0].front();
  for (size_t edge = 0; edge < edges; ++edge) {
    ring[edge].push_back(edge + 1 < edges ? ring[edge + 1].front() : first);
  }
}

// Connects two rows with the same spacing. The outer row of a trapezoid has one more point at each end.
void Tessellator::stitch(const Row& outer, const Row& inner, bool trapezoid, Diagonals diagonals) {
  size_t o = 0;
  size_t i = 0;
  if (trapezoid) {
    add_triangle(outer[0], outer[1], inner[0]);
    ++o;
  }
  const size_t quads = inner.size() - 1;
  for (size_t q = 0; q < quads; ++q, ++o, ++i) {
    const bool middle = q == inner.size() / 2 - 1;
    if (diagonals == Diagonals::mirrored ? q < inner.size() / 2
                                         : diagonals == Diagonals::forward_but_middle && middle) {
      add_triangle(outer[o], inner[i + 1], inner[i]);
      add_triangle(outer[o], outer[o + 1], inner[i + 1]);
    } else {
      if (diagonals == Diagonals::forward_but_middle) {
        add_triangle(outer[o], outer[o + 1], inner[i]);
      } else {
        add_triangle(inner[i], outer[o], outer[o + 1]);
      }
      add_triangle(inner[i], outer[o + 1], inner[i + 1]);
    }
  }
  if (trapezoid) {
    add_triangle(outer[o], outer[o + 1], inner[i]);
  }
}

// Connects the outermost ring, whose rows have different spacings. Points of both rows are visited in the order in
// which they would appear with growing factors.
void Tessellator::stitch_outer(const Row& outer, const Spacing& outer_split, const Row& inner,
                               const Spacing& inner_split) {
  const uint32_t outer_steps = outer_split.steps();
  const uint32_t inner_steps = inner_split.steps();
  size_t o = 0;
  size_t i = 0;
  const auto step_outer = [&] {
    add_triangle(outer[o], outer[o + 1], inner[i]);
    ++o;
  };
  const auto step_inner = [&] {
    add_triangle(inner[i], outer[o], inner[i + 1]);
    ++i;
  };
  constexpr uint32_t kLast = 1u << kHalfLog2;
  if (outer_steps > 0) {
    step_outer();
  }
  for (uint32_t at = 1; at <= kLast; ++at) {
    if (comes_in(at) < inner_steps) {
      step_inner();
    }
    if (comes_in(at) < outer_steps) {
      step_outer();
    }
  }
  if (inner_split.odd() && outer_split.odd()) {
    add_triangle(inner[i], outer[o], inner[i + 1]);
    add_triangle(inner[i + 1], outer[o], outer[o + 1]);
    ++i;
    ++o;
  } else if (outer_split.odd()) {
    add_triangle(inner[i], outer[o], outer[o + 1]);
    ++o;
  } else if (inner_split.odd()) {
    step_inner();
  }
  for (uint32_t at = kLast; at >= 1; --at) {
    if (comes_in(at) < outer_steps) {
      step_outer();
    }
    if (comes_in(at) < inner_steps) {
      step_inner();
    }
  }
  if (outer_steps > 0) {
    step_outer();
  }
}

// Tessellates a triangle. Edges run from v to w, w to u, u to v.
void Tessellator::triangle(const TessellationFactors& factors) {
  constexpr size_t kEdges = 3;
  bool framed = false;
  std::array<Spacing, kEdges> outer;
  for (size_t edge = 0; edge < kEdges; ++edge) {
    outer[edge] = outer_spacing(factors.outer[edge]);
    framed = framed || factors.outer[edge] > kAlmostOne;
  }
  const Spacing inner = inner_spacing(factors.inner[0], framed);
  const bool whole = std::ranges::all_of(outer, [](const Spacing& edge) { return edge.points() == 2; }) &&
                     (inner.odd() ? inner.points() == 2 : !(clamped(factors.inner[0], 1) > 1));
  if (whole) {
    add(0, kOne);
    add(0, 0);
    add(kOne, 0);
    if (!connect_points()) {
      add_triangle(0, 1, 2);
    }
    return;
  }
  std::vector<Ring> rings(1);
  for (size_t edge = 0; edge < kEdges; ++edge) {
    const uint32_t end = outer[edge].points() - 1;
    for (uint32_t p = 0; p < end; ++p) {
      const uint32_t at = outer[edge].place(edge == 1 ? p : end - p);
      rings[0][edge].push_back(edge == 0 ? add(0, at) : add(at, edge == 2 ? kOne - at : 0));
    }
  }
  close(rings[0], kEdges);
  const uint32_t count = std::max(inner.points(), inner.odd() ? 4u : 3u);
  for (uint32_t first = 1; first < count / 2; ++first) {
    Ring& ring = rings.emplace_back();
    const uint32_t end = count - 1 - first;
    // Two thirds of the way, because the distance from an edge to the centre is a third of the height.
    const auto across = static_cast<uint32_t>((uint64_t{inner.place(first)} * kTwoThirds + kHalf) >> 16);
    for (size_t edge = 0; edge < kEdges; ++edge) {
      for (uint32_t p = first; p < end; ++p) {
        const uint32_t along = inner.place(edge == 1 ? p : end - (p - first)) - (across + 1) / 2;
        ring[edge].push_back(edge == 0   ? add(across, along)
                             : edge == 1 ? add(along, across)
                                         : add(along, kOne - along - across));
      }
    }
    close(ring, kEdges);
  }
  if (!inner.odd()) {
    const uint16_t middle = add(kThird, kThird);
    rings.push_back({Row{middle}, Row{middle}, Row{middle}, Row{}});
  }
  if (connect_points()) {
    return;
  }
  for (size_t r = 1; r < rings.size(); ++r) {
    for (size_t edge = 0; edge < kEdges; ++edge) {
      if (r == 1) {
        stitch_outer(rings[0][edge], outer[edge], rings[1][edge], inner);
      } else {
        stitch(rings[r - 1][edge], rings[r][edge], true, Diagonals::mirrored);
      }
    }
  }
  if (inner.odd()) {
    const Ring& last = rings.back();
    add_triangle(last[0].front(), last[1].front(), last[2].front());
  }
}

// Tessellates a quad. Edges: u=0 downwards, v=0, u=1 upwards, v=1 backwards.
void Tessellator::quad(const TessellationFactors& factors) {
  constexpr size_t kEdges = 4;
  bool framed = factors.inner[0] > kAlmostOne || factors.inner[1] > kAlmostOne;
  std::array<Spacing, kEdges> outer;
  for (size_t edge = 0; edge < kEdges; ++edge) {
    outer[edge] = outer_spacing(factors.outer[edge]);
    framed = framed || factors.outer[edge] > kAlmostOne;
  }
  const std::array<Spacing, 2> inner{inner_spacing(factors.inner[0], framed), inner_spacing(factors.inner[1], framed)};
  const auto one = [&](size_t axis) {
    return inner[axis].odd() ? inner[axis].points() == 2 : !(clamped(factors.inner[axis], 1) > 1);
  };
  if (std::ranges::all_of(outer, [](const Spacing& edge) { return edge.points() == 2; }) && one(0) && one(1)) {
    add(0, 0);
    add(kOne, 0);
    add(kOne, kOne);
    add(0, kOne);
    if (!connect_points()) {
      add_triangle(0, 1, 3);
      add_triangle(1, 2, 3);
    }
    return;
  }
  const auto add_at = [&](size_t edge, uint32_t along, uint32_t across) {
    return edge % 2 == 0 ? add(across, along) : add(along, across);
  };
  std::vector<Ring> rings(1);
  for (size_t edge = 0; edge < kEdges; ++edge) {
    const uint32_t end = outer[edge].points() - 1;
    for (uint32_t p = 0; p < end; ++p) {
      const uint32_t at = outer[edge].place(edge == 1 || edge == 2 ? p : end - p);
      rings[0][edge].push_back(add_at(edge, at, edge < 2 ? 0 : kOne));
    }
  }
  close(rings[0], kEdges);
  const std::array<uint32_t, 2> count{std::max(inner[0].points(), inner[0].odd() ? 4u : 3u),
                                      std::max(inner[1].points(), inner[1].odd() ? 4u : 3u)};
  const uint32_t most = std::min(count[0], count[1]) / 2;
  for (uint32_t first = 1; first < most; ++first) {
    Ring& ring = rings.emplace_back();
    const std::array<uint32_t, 2> end{count[0] - 1 - first, count[1] - 1 - first};
    for (size_t edge = 0; edge < kEdges; ++edge) {
      const size_t across = edge % 2;
      const size_t along = 1 - across;
      const uint32_t fixed_at = inner[across].place(edge < 2 ? first : end[across]);
      for (uint32_t p = first; p < end[along]; ++p) {
        const uint32_t at = inner[along].place(edge == 1 || edge == 2 ? p : end[along] - (p - first));
        ring[edge].push_back(add_at(edge, at, fixed_at));
      }
    }
    close(ring, kEdges);
  }
  // The remaining middle along the longer axis is a row of points, or of quads.
  const size_t shorter = count[0] > count[1] ? 1 : 0;
  const size_t longer = 1 - shorter;
  if (!inner[shorter].odd()) {
    Row row;
    for (uint32_t p = most; p <= count[longer] - 1 - most; ++p) {
      const uint32_t at = inner[longer].place(longer == 0 ? p : count[longer] - 1 - p);
      row.push_back(longer == 0 ? add(at, kHalf) : add(kHalf, at));
    }
    const Row back(row.rbegin(), row.rend());
    const Row front_end{row.front()};
    const Row back_end{row.back()};
    rings.push_back(longer == 0 ? Ring{front_end, row, back_end, back} : Ring{row, back_end, back, front_end});
  }
  if (connect_points()) {
    return;
  }
  for (size_t r = 1; r < rings.size(); ++r) {
    for (size_t edge = 0; edge < kEdges; ++edge) {
      if (r == 1) {
        stitch_outer(rings[0][edge], outer[edge], rings[1][edge], inner[1 - edge % 2]);
      } else {
        stitch(rings[r - 1][edge], rings[r][edge], true, Diagonals::mirrored);
      }
    }
  }
  if (inner[shorter].odd()) {
    const Ring& last = rings.back();
    const Row& far = last[longer == 0 ? 3 : 2];
    stitch(last[longer == 0 ? 1 : 0], Row(far.rbegin(), far.rend()), false,
           longer == 0 || !inner[1].odd() ? Diagonals::forward : Diagonals::forward_but_middle);
  }
}

void Tessellator::lines(const TessellationFactors& factors) {
  const float most = 64;
  const float number = std::ceil(factors.outer[0] > 1 ? std::min(factors.outer[0], most) : 1.0f);
  const Spacing across(fixed(number), static_cast<uint32_t>(number) % 2 == 1);
  const Spacing along = outer_spacing(factors.outer[1]);
  vertices_ = state_->output == TessellationOutput::point ? 1 : 2;
  for (uint32_t line = 0; line + 1 < across.points(); ++line) {
    for (uint32_t p = 0; p < along.points(); ++p) {
      const uint16_t made = add(along.place(p), across.place(line));
      if (vertices_ == 1) {
        indices_.push_back(made);
      } else if (p != 0) {
        indices_.push_back(static_cast<uint16_t>(made - 1));
        indices_.push_back(made);
      }
    }
  }
}

void Tessellator::run(const Tessellation& state, const TessellationFactors& factors) {
  state_ = &state;
  points_.clear();
  indices_.clear();
  vertices_ = 3;
  const size_t edges = state.domain == TessellationDomain::quad       ? 4
                       : state.domain == TessellationDomain::triangle ? 3
                                                                      : 2;
  for (size_t edge = 0; edge < edges; ++edge) {
    if (!(factors.outer[edge] > 0)) {
      return;
    }
  }
  switch (state.domain) {
    case TessellationDomain::quad:
      quad(factors);
      break;
    case TessellationDomain::triangle:
      triangle(factors);
      break;
    case TessellationDomain::line:
      lines(factors);
      break;
  }
}

}  // namespace halogen::pipe3d
