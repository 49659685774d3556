// Formats that only vertices have: doubles and fixed-point numbers, which are converted to floats, and 64-bit words
// that are passed unchanged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hw/enums.h"

namespace halogen::surface {

struct VertexFormat {
  enum class Kind : uint8_t { doubles, fixed16_16, words };

  hw::SurfaceFormat format;
  Kind kind;
  uint8_t components;
  uint32_t bytes() const { return components * (kind == Kind::doubles ? 8u : 4u); }
};

// Returns the format's row. Null: the format is not one of these.
const VertexFormat* vertex_format(hw::SurfaceFormat format);
// Unpacks an element. Missing components are 0, 0, 0, 1; for words they are 0.
std::array<uint32_t, 4> unpack_vertex(const VertexFormat& format, const std::byte* bytes);

}  // namespace halogen::surface
