#include "device/surface_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <vector>

#include "base/graphics_address.h"
#include "surface/tiling.h"

namespace halogen::device {

namespace {

constexpr uint32_t kLargestEdge = 16384;
constexpr uint64_t kLargestPitch = uint64_t{1} << 24;

class Reader {
 public:
  explicit Reader(memory::AddressSpace& space) : space_(space) {}

  void read(uint64_t address, std::span<std::byte> into) {
    while (!into.empty()) {
      const uint64_t offset = address % memory::kFrameBytes;
      const size_t bytes = std::min<size_t>(into.size(), memory::kFrameBytes - offset);
      const uint64_t page = address - offset;
      if (page != page_) {
        page_ = page;
        const bool known = missing.contains(page);
        bytes_ = known ? std::span<std::byte>{} : space_.view(canonical(GpuVa{page}), {}).bytes;
        if (bytes_.size() < memory::kFrameBytes) {
          bytes_ = {};
          missing.insert(page);
        }
      }
      if (bytes_.empty()) {
        std::memset(into.data(), 0, bytes);
      } else {
        std::memcpy(into.data(), bytes_.data() + offset, bytes);
      }
      into = into.subspan(bytes);
      address += bytes;
    }
  }

  std::unordered_set<uint64_t> missing;

 private:
  memory::AddressSpace& space_;
  uint64_t page_ = ~uint64_t{0};
  std::span<std::byte> bytes_;
};

}  // namespace

Result<SurfacePicture> picture_of(memory::AddressSpace& space, const SurfaceView& view) {
  const unsigned pixel_B = picture::pixel_bytes(view.format);
  if (view.width == 0 || view.height == 0 || view.width > kLargestEdge || view.height > kLargestEdge) {
    return Error{fmt::format("width and height of a picture must be 1 to {} pixels", kLargestEdge)};
  }
  const surface::TilePattern* const pattern =
      surface::find_pattern({.tiling = view.tiling, .element_bits = pixel_B * 8});
  if (pattern == nullptr && view.tiling != Tiling::linear) {
    return Error{fmt::format("tiling {} does not support pixels of {} bytes", name_of(view.tiling), pixel_B)};
  }
  const surface::SurfaceLayout layout{.pattern = pattern, .pitch_B = view.pitch_B};
  if (pattern != nullptr && view.pitch_B % pattern->pitch_width_B != 0) {
    return Error{fmt::format("the pitch is not a multiple of the tile width, {} bytes", pattern->pitch_width_B)};
  }
  const uint64_t row_B = uint64_t{view.width} * pixel_B;
  if (view.pitch_B == 0 || view.pitch_B > kLargestPitch || layout.row_B() < row_B) {
    return Error{fmt::format("a row of {} bytes exceeds the pitch of {} bytes", row_B, view.pitch_B)};
  }
  SurfacePicture result{picture::Image(view.width, view.height), 0};
  Reader reader(space);
  std::vector<std::byte> row(row_B);
  const uint64_t run_B = pattern == nullptr ? row_B : pattern->run_B;
  for (uint32_t y = 0; y < view.height; ++y) {
    for (uint64_t x_B = 0; x_B < row_B; x_B += run_B) {
      const uint64_t offset = pattern == nullptr ? y * view.pitch_B : surface::offset_of(layout, {x_B, y});
      reader.read(view.address + offset, std::span(row).subspan(x_B, std::min(run_B, row_B - x_B)));
    }
    picture::convert_row({.format = view.format}, row, result.image.row(y));
  }
  result.missing_pages = reader.missing.size();
  return result;
}

}  // namespace halogen::device
