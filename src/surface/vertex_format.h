// Formats that only vertices have: doubles and fixed-point numbers, which become floats, and 64-bit words that pass as
// they are.
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

// Null: it is none of them.
const VertexFormat* vertex_format(hw::SurfaceFormat format);
// As unpack_texel() does it: components that are not there are 0, 0, 0, 1.
std::array<uint32_t, 4> unpack_vertex(const VertexFormat& format, const std::byte* bytes);

}  // namespace halogen::surface
