// A picture in memory: eight bits per channel, rows from top to bottom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halogen::picture {

struct Rgba {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  uint8_t alpha = 255;
  constexpr bool operator==(const Rgba&) const = default;
};

struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<Rgba> pixels;  // width * height

  Image() = default;
  Image(uint32_t w, uint32_t h, Rgba fill = {}) : width(w), height(h), pixels(size_t{w} * h, fill) {}

  std::span<Rgba> row(uint32_t y) { return std::span(pixels).subspan(size_t{y} * width, width); }
  std::span<const Rgba> row(uint32_t y) const { return std::span(pixels).subspan(size_t{y} * width, width); }
  Rgba& at(uint32_t x, uint32_t y) { return pixels[size_t{y} * width + x]; }
  const Rgba& at(uint32_t x, uint32_t y) const { return pixels[size_t{y} * width + x]; }
  bool operator==(const Image&) const = default;
};

}  // namespace halogen::picture
