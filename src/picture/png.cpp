#include "picture/png.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace halogen::picture {

namespace {

constexpr int kCompression = 6;  // explicit, so that another default of the library changes nothing

// The C library reports errors by longjmp: no object with a destructor may live where it is called.
struct Writing {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string problem;
  std::vector<std::byte> bytes;

  ~Writing() { png_destroy_write_struct(&png, &info); }
};

void on_error(png_structp png, png_const_charp message) {
  static_cast<Writing*>(png_get_error_ptr(png))->problem = message;
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_bytes(png_structp png, png_bytep data, size_t size) {
  auto& bytes = static_cast<Writing*>(png_get_io_ptr(png))->bytes;
  const auto* const first = reinterpret_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), first, first + size);
}

void on_flush(png_structp) {}

bool write_all(Writing& writing, const Image& image, bool alpha, uint8_t* row) {
  if (setjmp(png_jmpbuf(writing.png)) != 0) {
    return false;
  }
  png_set_write_fn(writing.png, &writing, on_bytes, on_flush);
  png_set_compression_level(writing.png, kCompression);
  png_set_filter(writing.png, PNG_FILTER_TYPE_BASE, PNG_ALL_FILTERS);
  png_set_IHDR(writing.png, writing.info, image.width, image.height, 8,
               alpha ? PNG_COLOR_TYPE_RGBA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writing.png, writing.info);
  for (uint32_t y = 0; y < image.height; ++y) {
    uint8_t* out = row;
    for (const Rgba& pixel : image.row(y)) {
      *out++ = pixel.red;
      *out++ = pixel.green;
      *out++ = pixel.blue;
      if (alpha) {
        *out++ = pixel.alpha;
      }
    }
    png_write_row(writing.png, row);
  }
  png_write_end(writing.png, nullptr);
  return true;
}

}  // namespace

Result<std::vector<std::byte>> to_png(const Image& image) {
  if (image.width == 0 || image.height == 0 || image.pixels.size() != size_t{image.width} * image.height) {
    return Error{"cannot write a PNG file for a picture without pixels"};
  }
  Writing writing;
  writing.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writing, on_error, on_warning);
  writing.info = writing.png == nullptr ? nullptr : png_create_info_struct(writing.png);
  if (writing.info == nullptr) {
    return Error{"the PNG library ran out of memory"};
  }
  const bool alpha = std::ranges::any_of(image.pixels, [](const Rgba& pixel) { return pixel.alpha != 255; });
  std::vector<uint8_t> row(size_t{image.width} * 4);
  if (!write_all(writing, image, alpha, row.data())) {
    return Error{fmt::format("the PNG library refuses the picture: {}", writing.problem)};
  }
  return std::move(writing.bytes);
}

Result<void> write_png(const std::string& path, const Image& image) {
  const auto bytes = to_png(image);
  if (!bytes) {
    return bytes.error();
  }
  const auto close = [](std::FILE* file) { std::fclose(file); };
  std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "wb"), close);
  const auto problem = [&] { return Error{fmt::format("cannot write {}: {}", path, std::strerror(errno))}; };
  if (file == nullptr) {
    return problem();
  }
  if (std::fwrite(bytes->data(), 1, bytes->size(), file.get()) != bytes->size() || std::fflush(file.get()) != 0) {
    return problem();
  }
  return {};
}

}  // namespace halogen::picture
