// The tessellation engine of Gen8 and later: converts the factors of a patch to points of its domain and primitives
// between them. Positions, their order and the diagonals follow Direct3D 11's fixed-point rules, which also satisfy
// OpenGL: an edge is split the same way from both sides, so neighbours match. Not modelled: half-float factors, and
// software tessellation.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// A point in units of 1/65536 of the domain. In a triangle the three coordinates add up to one.
struct DomainPoint {
  uint32_t u = 0;
  uint32_t v = 0;

  bool operator==(const DomainPoint&) const = default;
};

// Outer factors: edges u=0, v=0, u=1 (of a triangle w=0), v=1. For lines: their number, then their segments.
struct TessellationFactors {
  std::array<float, 4> outer{};
  std::array<float, 2> inner{};
};

class Tessellator {
 public:
  // Tessellates a patch. An outer factor that is not above zero discards the patch.
  void run(const Tessellation& state, const TessellationFactors& factors);

  std::span<const DomainPoint> points() const { return points_; }
  // Returns the points of the primitives, vertices() for each.
  std::span<const uint16_t> indices() const { return indices_; }
  uint32_t vertices() const { return vertices_; }

 private:
  // The split of one edge, or of the inside along one axis.
  class Spacing {
   public:
    Spacing() = default;
    Spacing(uint32_t factor, bool odd);
    uint32_t points() const { return odd_ ? half_ * 2 : half_ * 2 + 1; }
    uint32_t place(uint32_t point) const;
    bool odd() const { return odd_; }
    // Returns the number of segments that begin in the first half, without one in the middle.
    uint32_t steps() const { return odd_ ? half_ - 1 : half_; }

   private:
    bool odd_ = false;
    uint32_t half_ = 1;   // points of a half without one in the middle, rounded up
    uint32_t split_ = 0;  // a half that is rounded down lacks the point after this one
    uint32_t fraction_ = 0;
    uint32_t coarse_ = 0;  // length of a segment if rounded down; fine_: if rounded up
    uint32_t fine_ = 0;
  };
  using Row = std::vector<uint16_t>;
  using Ring = std::array<Row, 4>;  // one per edge; adjacent edges share their ends
  enum class Diagonals : uint8_t { forward, forward_but_middle, mirrored };

  Spacing outer_spacing(float factor) const;
  Spacing inner_spacing(float factor, bool framed) const;
  float clamped(float factor, float least) const;

  void triangle(const TessellationFactors& factors);
  void quad(const TessellationFactors& factors);
  void lines(const TessellationFactors& factors);

  uint16_t add(uint32_t u, uint32_t v);
  void add_triangle(uint16_t a, uint16_t b, uint16_t c);  // clockwise
  bool connect_points();  // as points or one line through them; false: triangles are requested
  static void close(Ring& ring, size_t edges);
  void stitch_outer(const Row& outer, const Spacing& outer_split, const Row& inner, const Spacing& inner_split);
  void stitch(const Row& outer, const Row& inner, bool trapezoid, Diagonals diagonals);

  const Tessellation* state_ = nullptr;
  std::vector<DomainPoint> points_;
  std::vector<uint16_t> indices_;
  uint32_t vertices_ = 3;
};

}  // namespace halogen::pipe3d
