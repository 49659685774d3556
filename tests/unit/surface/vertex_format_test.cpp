// Formats that only vertex elements have.
#include "surface/vertex_format.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <span>

namespace halogen::surface {
namespace {

using Format = hw::SurfaceFormat;

template <class T, size_t N>
std::array<uint32_t, 4> unpacked(Format format, const std::array<T, N>& values) {
  const VertexFormat* const found = vertex_format(format);
  EXPECT_NE(found, nullptr);
  EXPECT_EQ(found->bytes(), sizeof values);
  return unpack_vertex(*found, std::as_bytes(std::span(values)).data());
}

std::array<uint32_t, 4> floats(float x, float y, float z, float w) {
  return std::bit_cast<std::array<uint32_t, 4>>(std::array{x, y, z, w});
}

TEST(VertexFormats, DoublesBecomeTheNearestFloats) {
  EXPECT_EQ(unpacked(Format::R64_FLOAT, std::array{0.1}), floats(0.1f, 0, 0, 1));
  EXPECT_EQ(unpacked(Format::R64G64_FLOAT, std::array{1.0, -2.5}), floats(1, -2.5f, 0, 1));
  EXPECT_EQ(unpacked(Format::R64G64B64_FLOAT, std::array{1.0, 2.0, 1e300}), floats(1, 2, INFINITY, 1));
  EXPECT_EQ(unpacked(Format::R64G64B64A64_FLOAT, std::array{1.0, 2.0, 3.0, 4.0}), floats(1, 2, 3, 4));
}

TEST(VertexFormats, FixedPointHasSixteenFractionBits) {
  EXPECT_EQ(unpacked(Format::R32_SFIXED, std::array{0x0001'8000}), floats(1.5f, 0, 0, 1));
  EXPECT_EQ(unpacked(Format::R32G32B32A32_SFIXED, std::array<int32_t, 4>{-0x8000, 1, INT32_MIN, 0}),
            floats(-0.5f, 1.0f / 65536, -32768, 0));
}

TEST(VertexFormats, PassthruFormatsKeepTheirDwords) {
  EXPECT_EQ(unpacked(Format::R64G64_PASSTHRU, std::array{1u, 2u, 3u, 4u}), (std::array<uint32_t, 4>{1, 2, 3, 4}));
  EXPECT_EQ(unpacked(Format::R64_PASSTHRU, std::array{5u, 6u}), (std::array<uint32_t, 4>{5, 6, 0, 0}));
  EXPECT_EQ(vertex_format(Format::R32_FLOAT), nullptr);
}

}  // namespace
}  // namespace halogen::surface
