#include "pipe3d/output/target_extent.h"

#include <algorithm>

namespace halogen::pipe3d {
namespace {

// Returns the horizontal factor of an interleaved picture: 2, 4, 8 and 16 samples are 2x1, 2x2, 4x2 and 4x4.
uint64_t wider(uint32_t samples) {
  return samples >= 8 ? 4 : samples >= 2 ? 2 : 1;
}
uint64_t higher(uint32_t samples) {
  return samples >= 16 ? 4 : samples >= 4 ? 2 : 1;
}

// Returns the rows from the top of a layer to the end of a level.
uint64_t rows_to(uint64_t height, uint32_t level) {
  return level == 0 ? height : height + height / 2;
}

}  // namespace

TargetExtent extent_of(const message::Surface& surface) {
  if (surface.kind == message::Surface::Kind::none || surface.format == nullptr) {
    return {};
  }
  const uint64_t element_B = surface.format->bytes();
  if (surface.kind == message::Surface::Kind::buffer) {
    return {surface.base, surface.base + surface.elements * surface.element_B, surface.element_B >= element_B};
  }
  const surface::SurfaceLayout& layout = surface.layout;
  const uint32_t beside = surface.samples_beside ? surface.samples : 1;
  const uint64_t slices =
      std::max<uint64_t>(surface.render_layers, 1) * (surface.samples_beside ? 1 : std::max(surface.samples, 1u));
  const uint64_t width = surface.x_offset + surface.level_width(surface.render_level) * wider(beside);
  const uint64_t height = surface.y_offset + rows_to(surface.height, surface.render_level) * higher(beside);
  const uint64_t rows = layout.layer_rows * (surface.first_layer + slices - 1) + height;
  // A block of 32 one-byte elements may lie in two windows (PixelPieces), because levels begin at multiples of 16.
  const bool blocks_apart =
      surface.states.form != surface::StateForm::four_bits || element_B > 1 || surface.render_level == 0;
  return {surface.base, surface.base + layout.row_B() * rows,
          blocks_apart && width * element_B <= layout.row_B() &&
              (slices == 1 || surface.volume() || layout.layer_rows >= height)};
}

TargetExtent extent_of(const PlaneBuffer& buffer, uint32_t element_B, uint32_t samples) {
  if (!buffer.present) {
    return {};
  }
  const uint32_t level = std::min(buffer.level, 31u);
  const uint64_t layers = std::max<uint64_t>(buffer.layers, 1);
  const uint64_t width = std::max(buffer.width >> level, 1u) * wider(samples);
  const uint64_t height = rows_to(buffer.height, level) * higher(samples);
  const uint64_t rows = buffer.layer_rows * (buffer.first_layer + layers - 1) + height;
  return {buffer.address, buffer.address + buffer.pitch_B * rows,
          width * element_B <= buffer.pitch_B && (layers == 1 || buffer.volume || buffer.layer_rows >= height)};
}

bool are_apart(std::vector<TargetExtent> extents) {
  std::ranges::sort(extents, {}, &TargetExtent::first);
  uint64_t end = 0;
  for (const TargetExtent& extent : extents) {
    if (!extent.pixels_apart || (extent.end != 0 && extent.first < end)) {
      return false;
    }
    end = std::max(end, extent.end);
  }
  return true;
}

}  // namespace halogen::pipe3d
