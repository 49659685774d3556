// The common way through a sampler: 2D images of bytes (8-bit normalised or sRGB channels) in linear memory, X or Y
// tiles, nearest and linear filters without anisotropy, borders or comparison. Chosen once for a surface and a sampler;
// it gives the texels that Texture::sample gives, by the same operations in the same order, and leaves to it what is
// not plainly there in memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "memory/address_space.h"
#include "message/sampler_state.h"
#include "message/surface.h"
#include "message/texture.h"

namespace halogen::message {

class QuickTexture {
 public:
  // False: this surface and this sampler have no such way.
  bool begin(const Surface& surface, const Sampler& sampler);

  // `lod` as PixelSize has it. Nothing: Texture must do it.
  std::optional<surface::Texel> sample(memory::AddressSpace& space, float u, float v, double lod,
                                       const TexelOffset& offset);
  // The same for the pixels `live` of a square, by channel. False: one after the other.
  using SquareTexels = std::array<std::array<float, 4>, 4>;
  bool sample_square(memory::AddressSpace& space, const float* u, const float* v, double lod, const TexelOffset& offset,
                     uint32_t live, SquareTexels& out);

 private:
  using Color = std::array<double, 4>;
  using Values = std::array<double, 256>;

  enum class Tiles : uint8_t { none, x, y };
  struct Axis {
    uint32_t size = 1;
    hw::TextureCoordinateMode wrap{};
    uint32_t wrap_mask = 0;  // for sizes that are powers of two; else zero
  };
  struct Level {
    std::array<Axis, 2> axis;
    uint64_t first_x_B = 0;
    uint64_t first_row = 0;
  };
  // What a level of detail means, for the last one that was asked for.
  struct Choice {
    double lod = 0.0;
    bool known = false;
    bool linear = false;
    std::array<bool, 2> rounds{};
    uint32_t near = 0;  // of levels_
    bool both = false;  // the next level too
    double part = 0.0;
  };

  static constexpr uint32_t kMaxLevels = 15;

  void choose(double lod);
  uint64_t column_of(const Level& level, uint32_t x) const;
  uint64_t row_of(const Level& level, uint32_t y) const;
  // Where the four texels of a linear filter lie, and how much of each there is.
  struct Corners {
    std::array<std::array<uint64_t, 2>, 2> offsets;  // of columns, of rows: near and far
    std::array<double, 2> weight;
  };
  Corners corners(const Level& level, float u, float v, const TexelOffset& offset) const;
  bool linear(memory::AddressSpace& space, const Level& level, float u, float v, const TexelOffset& offset,
              Color& out) const;
  bool nearest(memory::AddressSpace& space, const Level& level, float u, float v, const TexelOffset& offset,
               Color& out) const;
  bool filtered(memory::AddressSpace& space, const Level& level, float u, float v, const TexelOffset& offset,
                Color& out) const {
    return choice_.linear ? linear(space, level, u, v, offset, out) : nearest(space, level, u, v, offset, out);
  }
  [[gnu::always_inline]] void add(const std::byte* texel, double share, Color& sum) const;
  [[gnu::always_inline]] uint32_t load(const std::byte* texel) const;

  // quick_square.cpp
  struct SquareCorners;
  struct LastPage {
    uint64_t page = ~uint64_t{0};
    const std::byte* frame = nullptr;
  };
  void plan_squares();
  bool find_corners(const Level& level, const float* u, const float* v, const TexelOffset& offset, uint32_t live,
                    SquareCorners& out) const;
  bool load_corners(memory::AddressSpace& space, const SquareCorners& corners, unsigned pixel, LastPage& last,
                    std::array<uint32_t, 4>& words) const;
  bool filter_square(memory::AddressSpace& space, const float* u, const float* v, const TexelOffset& offset,
                     uint32_t live, SquareTexels& out) const;

  Sampler sampler_;
  bool squares_ = false;
  bool of_bytes_ = false;  // texels are four normalised bytes, and the host has vectors for them
  // For each channel of the answer the place in a Color, or one of these.
  static constexpr uint8_t kZero = 4;
  static constexpr uint8_t kOne = 5;
  std::array<uint8_t, 4> from_{};
  uint64_t base_ = 0;
  Tiles tiles_ = Tiles::none;
  uint64_t pitch_ = 0;  // in tiles, or in bytes
  uint32_t bytes_ = 4;  // of a texel
  double resource_min_lod_ = 0.0;
  uint32_t levels_count_ = 1;
  std::array<Level, kMaxLevels> levels_;
  std::array<uint8_t, 4> shift_{};
  std::array<uint32_t, 4> mask_{};  // zero: the format does not have the channel
  std::array<const Values*, 4> values_{};
  Choice choice_;
};

// Those of one piece of work. What does not fit is remembered too.
class QuickTextures {
 public:
  // `age`: changes whenever tables forget what pointers point to. Null: there is no quick way.
  QuickTexture* find(const Surface& surface, const Sampler& sampler, uint64_t age);

 private:
  struct Entry {
    const Surface* surface = nullptr;
    const Sampler* sampler = nullptr;
    uint64_t age = 0;
    bool fits = false;
    QuickTexture texture;
  };
  std::array<Entry, 8> entries_{};
  size_t next_ = 0;
};

}  // namespace halogen::message
