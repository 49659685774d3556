// The fast path of a sampler: 2D images of bytes (8-bit normalised or sRGB channels) in linear memory, X or Y tiles;
// nearest and linear filters without anisotropy, borders or comparison. It is chosen once per surface and sampler. It
// gives the results of Texture::sample by the same operations in the same order, and falls back to it for pages that
// are not directly accessible.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "memory/address_space.h"
#include "message/clear_blocks.h"
#include "message/sampler_state.h"
#include "message/surface.h"
#include "message/texture.h"

namespace halogen::message {

class QuickTexture {
 public:
  // Prepares for a surface and a sampler. False: the fast path does not support them.
  bool begin(const Surface& surface, const Sampler& sampler);

  // Samples one point. `lod`: as in PixelSize. No value: the caller must use Texture.
  std::optional<surface::Texel> sample(memory::AddressSpace& space, float u, float v, double lod,
                                       const TexelOffset& offset);
  // Samples the pixels in `live` of a square, by channel. False: sample the pixels one by one.
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
    uint32_t wrap_mask = 0;  // for power-of-two sizes; otherwise zero
  };
  struct Level {
    std::array<Axis, 2> axis;
    uint64_t first_x_B = 0;
    uint64_t first_row = 0;
  };
  // Levels and filters for the last level of detail.
  struct Choice {
    double lod = 0.0;
    bool known = false;
    bool linear = false;
    std::array<bool, 2> rounds{};
    uint32_t near = 0;  // index into levels_
    bool both = false;  // also uses the next level
    double part = 0.0;
  };

  static constexpr uint32_t kMaxLevels = 15;

  void choose(double lod);
  uint64_t column_of(const Level& level, uint32_t x) const;
  uint64_t row_of(const Level& level, uint32_t y) const;
  // Offsets and weights of the four texels of a linear filter.
  struct Corners {
    std::array<std::array<uint64_t, 2>, 2> offsets;  // of columns and of rows, near and far
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
  bool is_clear(uint64_t address) const { return clear_blocks_ != nullptr && clear_blocks_->at(address - base_); }
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
  bool load_clear_corners(memory::AddressSpace& space, const SquareCorners& corners, unsigned pixel, LastPage& last,
                          std::array<uint32_t, 4>& words) const;
  bool load_corners(memory::AddressSpace& space, const SquareCorners& corners, unsigned pixel, LastPage& last,
                    std::array<uint32_t, 4>& words) const;
  bool filter_square(memory::AddressSpace& space, const float* u, const float* v, const TexelOffset& offset,
                     uint32_t live, SquareTexels& out) const;

  Sampler sampler_;
  bool squares_ = false;
  bool of_bytes_ = false;  // texels are four normalised bytes, and the host has vectors for them
  // For each channel of the result its index in a Color, or one of these constants.
  static constexpr uint8_t kZero = 4;
  static constexpr uint8_t kOne = 5;
  std::array<uint8_t, 4> from_{};
  uint64_t base_ = 0;
  const ClearBlocks* clear_blocks_ = nullptr;
  std::array<std::byte, 16> clear_{};  // a clear texel
  Tiles tiles_ = Tiles::none;
  uint64_t pitch_ = 0;  // in tiles if tiled, otherwise in bytes
  uint32_t bytes_ = 4;  // size of a texel
  double resource_min_lod_ = 0.0;
  uint32_t levels_count_ = 1;
  std::array<Level, kMaxLevels> levels_;
  std::array<uint8_t, 4> shift_{};
  std::array<uint32_t, 4> mask_{};  // zero: the format lacks the channel
  std::array<const Values*, 4> values_{};
  Choice choice_;
};

// Fast paths of one draw or dispatch. Combinations that are not supported are remembered too.
class QuickTextures {
 public:
  // Returns the fast path. `age` changes when tables drop surfaces or samplers. Null: not supported.
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
