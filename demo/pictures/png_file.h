// Writes 32-bit pixels, red in the lowest byte, as a PNG file.
#pragma once

#include <png.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void write_png(const char* path, uint32_t width, uint32_t height, const std::vector<uint32_t>& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGBA;
  if (png_image_write_to_file(&image, path, 0, pixels.data(), 0, nullptr) == 0) {
    std::fprintf(stderr, "%s: %s\n", path, image.message);
    std::exit(1);
  }
}
