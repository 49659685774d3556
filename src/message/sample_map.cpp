#include "message/sample_map.h"

#include <algorithm>
#include <cstring>

#include "message/block_states.h"
#include "message/environment.h"
#include "surface/texel_format.h"

namespace halogen::message {
namespace {

constexpr std::byte kClear{0xff};  // value of all bytes of a clear pixel; no byte of an identity map has it
constexpr uint64_t kPage_B = 4096;
constexpr uint64_t kMaxPages = 1u << 16;  // larger maps are not handled
constexpr uint64_t kRowsOfPitch = 4;

size_t pixel_bytes(uint32_t samples) {
  return samples <= 4 ? 1 : samples == 8 ? 4 : 8;
}

// The pages of a map. Each page is a Y tile.
class MapPages {
 public:
  MapPages(const Surface& surface, const surface::SurfaceLayout& layout, std::span<const std::byte> colour,
           memory::AddressSpace& space)
      : surface_(surface), layout_(layout), colour_(colour), space_(space), pixel_B_(pixel_bytes(surface.samples)) {}

  // Resolves the page at `offset` of the map at `base`. Layer `layer` begins at row `first_row`; the page may begin
  // above the layer and end below it.
  bool settle(uint64_t base, uint64_t offset, uint64_t first_row, uint32_t layer) {
    std::array<std::byte, kPage_B> page;
    if (!ok(space_.read(wrapped_address(base + offset), page))) {
      return false;
    }
    if (std::ranges::find(page, kClear) == page.end()) {
      return true;
    }
    const surface::Texel identity = identity_map(surface_.samples);
    for (uint64_t at = 0; at < kPage_B; at += pixel_B_) {
      const auto pixel = std::span(page).subspan(at, pixel_B_);
      if (std::ranges::any_of(pixel, [](std::byte byte) { return byte != kClear; })) {
        continue;
      }
      const surface::SurfacePoint point = surface::point_at(layout_, offset + at);
      const uint64_t x = point.x_B / pixel_B_;
      const uint64_t y = point.y - first_row;  // very large for rows above the layer
      if (x >= surface_.width || y >= surface_.height) {
        continue;
      }
      for (uint32_t sample = 0; sample < surface_.samples; ++sample) {
        const uint64_t to =
            texel_address(surface_, static_cast<uint32_t>(x), static_cast<uint32_t>(y), layer, 0, sample);
        if (!ok(space_.write(wrapped_address(to), colour_))) {
          return false;
        }
      }
      std::memcpy(pixel.data(), identity.data(), pixel_B_);
    }
    return ok(space_.write(wrapped_address(base + offset), page));
  }

 private:
  const Surface& surface_;
  const surface::SurfaceLayout& layout_;
  std::span<const std::byte> colour_;
  memory::AddressSpace& space_;
  size_t pixel_B_;
};

}  // namespace

surface::Texel identity_map(uint32_t samples) {
  switch (samples) {
    case 2:
      return {0x2, 0, 0, 0};
    case 4:
      return {0xe4, 0, 0, 0};
    case 8:
      return {0x7654'3210, 0, 0, 0};
    case 16:
      return {0x7654'3210, 0xfedc'ba98, 0, 0};
    default:
      return {};
  }
}

bool clear_colour(const hw::RENDER_SURFACE_STATE& state, bool integer, memory::AddressSpace& space,
                  surface::Texel& colour) {
  if (state.clear_value_address_enable) {
    return ok(space.read(wrapped_address(state.clear_value_address.value), std::as_writable_bytes(std::span(colour))));
  }
  const uint32_t one = integer ? 1 : surface::kFloatOne;
  colour = {state.red_clear_color | (state.red_clear_color_one ? one : 0),
            state.green_clear_color | (state.green_clear_color_one ? one : 0),
            state.blue_clear_color | (state.blue_clear_color_one ? one : 0),
            state.alpha_clear_color | (state.alpha_clear_color_one ? one : 0)};
  return true;
}

bool attach_map(const Generation& generation, const hw::RENDER_SURFACE_STATE& state, memory::AddressSpace& space,
                Surface& surface) {
  using Mode = hw::AuxiliarySurfaceMode;
  // AUX_MCS (Gen8) and AUX_CCS_D (Gen9 on) are names for the same encoding. With several samples AUX_CCS_E means a map.
  const Mode mode = state.auxiliary_surface_mode;
  if (surface.kind != Surface::Kind::image || surface.samples <= 1 || surface.samples_beside ||
      !surface.format->known() || surface.format->bytes() > 16 ||
      (mode != Mode::AUX_MCS && mode != Mode::AUX_CCS_D && mode != Mode::AUX_MCS_LCE && mode != Mode::AUX_CCS_E)) {
    return true;
  }
  surface.sample_map = {.present = true,
                        .base = state.auxiliary_surface_base_address.value,
                        .pitch_tiles = state.auxiliary_surface_pitch + uint64_t{1},
                        .layer_rows = uint64_t{state.auxiliary_surface_qpitch} * kRowsOfPitch};
  return attach_clear(generation, state, space, surface);
}

bool settle_samples(const Surface& surface, bool sampled, memory::AddressSpace& space) {
  const SampleMap& map = surface.sample_map;
  if (!map.present) {
    return true;
  }
  constexpr uint64_t kTile_B = surface::kTileY.width_B;
  constexpr uint64_t kTileRows = surface::kTileY.height;
  const surface::SurfaceLayout layout{.pattern = &surface::kTileY, .pitch_B = map.pitch_tiles * kTile_B};
  const uint64_t across =
      std::min((surface.width * pixel_bytes(surface.samples) + kTile_B - 1) / kTile_B, map.pitch_tiles);
  const uint32_t layers = std::max({surface.depth, surface.render_layers, 1u});
  const uint64_t down = (surface.height + 2 * kTileRows - 2) / kTileRows;
  if (across * down * layers > kMaxPages) {
    return true;
  }
  std::array<std::byte, 16> packed{};
  surface::pack_texel(*surface.format, surface.clear, packed.data());
  if (sampled) {
    packed = surface.sampled_clear;
  }
  MapPages pages(surface, layout, std::span(packed).first(surface.format->bytes()), space);
  for (uint32_t layer = 0; layer < layers; ++layer) {
    const uint64_t first_row = (surface.first_layer + layer) * map.layer_rows;
    for (uint64_t row = first_row / kTileRows; row * kTileRows < first_row + surface.height; ++row) {
      for (uint64_t column = 0; column < across; ++column) {
        const uint64_t offset = (row * map.pitch_tiles + column) * kPage_B;
        if (!pages.settle(map.base, offset, first_row, layer)) {
          return false;
        }
      }
    }
  }
  return true;
}

bool clear_samples(const Surface& surface, const MapArea& area, memory::AddressSpace& space) {
  const SampleMap& map = surface.sample_map;
  const surface::SurfaceLayout layout{.pattern = &surface::kTileY,
                                      .pitch_B = map.pitch_tiles * surface::kTileY.width_B};
  const uint64_t first_row = (uint64_t{surface.first_layer} + area.layer) * map.layer_rows;
  const uint64_t pixel_B = pixel_bytes(surface.samples);
  constexpr uint64_t kRun_B = surface::kTileY.run_B;
  std::array<std::byte, kRun_B> clear;
  clear.fill(kClear);
  for (uint64_t y = area.y_first; y < area.y_end; ++y) {
    for (uint64_t x_B = area.x_first * pixel_B; x_B < area.x_end * pixel_B;) {
      const uint64_t size = std::min(kRun_B - x_B % kRun_B, area.x_end * pixel_B - x_B);
      const uint64_t at = surface::offset_of(layout, {.x_B = x_B, .y = first_row + y, .z = 0});
      if (!ok(space.write(wrapped_address(map.base + at), std::span(clear).first(size)))) {
        return false;
      }
      x_B += size;
    }
  }
  return true;
}

}  // namespace halogen::message
