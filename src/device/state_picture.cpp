#include "device/state_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "message/state_watch.h"

namespace halogen::device {
namespace {

using message::StateWatch;

constexpr uint64_t kLargestEdge = 16384;
constexpr uint64_t kMaxPixels = uint64_t{1} << 26;

picture::Rgba color_of(surface::BlockState state) {
  switch (state) {
    case surface::BlockState::clear:
      return kClearColor;
    case surface::BlockState::compressed:
      return kCompressedColor;
    case surface::BlockState::resolved:
      break;
  }
  return kResolvedColor;
}

struct Slice {
  uint32_t layer = 0;
  uint32_t level = 0;
  message::ImagePlace place;
  uint64_t column = 0;
  uint64_t row = 0;
  uint32_t columns = 0;
  uint32_t rows = 0;
};

std::vector<Slice> slices_of(const StateWatch::Known& known) {
  std::vector<Slice> slices;
  const message::Surface& surface = known.surface;
  for (uint32_t level = 0; level < surface.levels; ++level) {
    if (!message::has_states_of(known, level)) {
      continue;
    }
    const uint32_t layers = surface.volume() ? surface.level_depth(level) : known.layers;
    for (uint32_t layer = 0; layer < layers; ++layer) {
      const message::ImagePlace place = message::image_place(surface, layer, level);
      slices.push_back({.layer = layer,
                        .level = level,
                        .place = place,
                        .column = place.x,
                        .row = place.y + place.z * surface.layout.layer_rows,
                        .columns = message::level_columns(known, level),
                        .rows = message::level_rows(known, level)});
    }
  }
  return slices;
}

void draw(const StateWatch::Known& known, const Slice& slice, message::StateReader& reader, picture::Image& image) {
  const uint32_t wide = known.surface.states.block_width;
  const uint32_t high = known.surface.states.block_height;
  for (uint32_t y = 0; y < slice.rows && slice.row + y < image.height; ++y) {
    picture::Rgba color = kResolvedColor;
    for (uint32_t x = 0; x < slice.columns && slice.column + x < image.width; ++x) {
      if (x % wide == 0) {
        color = color_of(
            reader.read({.x = x / wide, .y = y / high, .layer = slice.layer, .level = slice.level}, slice.place));
      }
      image.at(static_cast<uint32_t>(slice.column + x), static_cast<uint32_t>(slice.row + y)) = color;
    }
  }
}

}  // namespace

Result<picture::Image> picture_of_states(Device& device, memory::AddressSpace& space, uint64_t address) {
  StateWatch* const watch = device.engines().state_watch();
  const StateWatch::Known* const known = watch != nullptr ? watch->find(address, space) : nullptr;
  if (known == nullptr) {
    return Error{fmt::format("no surface at {:#x} was used with compression state", address)};
  }
  uint64_t width = 0;
  uint64_t height = 0;
  const std::vector<Slice> slices = slices_of(*known);
  for (const Slice& slice : slices) {
    width = std::max(width, slice.column + slice.columns);
    height = std::max(height, slice.row + slice.rows);
  }
  if (width > kLargestEdge || width * height > kMaxPixels) {
    return Error{
        fmt::format("the surface at {:#x} has {} x {} elements, too many for a picture", address, width, height)};
  }
  picture::Image image(static_cast<uint32_t>(width), static_cast<uint32_t>(height));
  message::StateReader reader(*known, space.memory());
  for (const Slice& slice : slices) {
    draw(*known, slice, reader, image);
  }
  return image;
}

}  // namespace halogen::device
