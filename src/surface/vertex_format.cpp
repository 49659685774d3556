#include "surface/vertex_format.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace halogen::surface {
namespace {

using Format = hw::SurfaceFormat;
using Kind = VertexFormat::Kind;

// R64_PASSTHRU formats have two words per component, and an element takes at most four words.
constexpr std::array kFormats{
    VertexFormat{Format::R64_FLOAT, Kind::doubles, 1},
    VertexFormat{Format::R64G64_FLOAT, Kind::doubles, 2},
    VertexFormat{Format::R64G64B64_FLOAT, Kind::doubles, 3},
    VertexFormat{Format::R64G64B64A64_FLOAT, Kind::doubles, 4},
    VertexFormat{Format::R32_SFIXED, Kind::fixed16_16, 1},
    VertexFormat{Format::R32G32_SFIXED, Kind::fixed16_16, 2},
    VertexFormat{Format::R32G32B32_SFIXED, Kind::fixed16_16, 3},
    VertexFormat{Format::R32G32B32A32_SFIXED, Kind::fixed16_16, 4},
    VertexFormat{Format::R64_PASSTHRU, Kind::words, 2},
    VertexFormat{Format::R64G64_PASSTHRU, Kind::words, 4},
};

template <class T>
T read(const std::byte* bytes, size_t number) {
  T value{};
  std::memcpy(&value, bytes + number * sizeof(T), sizeof(T));
  return value;
}

uint32_t component(Kind kind, const std::byte* bytes, size_t number) {
  switch (kind) {
    case Kind::doubles:
      return std::bit_cast<uint32_t>(static_cast<float>(read<double>(bytes, number)));
    case Kind::fixed16_16:
      return std::bit_cast<uint32_t>(static_cast<float>(read<int32_t>(bytes, number)) / 65536.0f);
    case Kind::words:
      break;
  }
  return read<uint32_t>(bytes, number);
}

}  // namespace

const VertexFormat* vertex_format(hw::SurfaceFormat format) {
  const auto* const found = std::ranges::find(kFormats, format, &VertexFormat::format);
  return found == kFormats.end() ? nullptr : found;
}

std::array<uint32_t, 4> unpack_vertex(const VertexFormat& format, const std::byte* bytes) {
  std::array<uint32_t, 4> out{0, 0, 0, format.kind == Kind::words ? 0 : std::bit_cast<uint32_t>(1.0f)};
  for (size_t i = 0; i < format.components; ++i) {
    out[i] = component(format.kind, bytes, i);
  }
  return out;
}

}  // namespace halogen::surface
