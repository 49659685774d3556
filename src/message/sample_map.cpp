#include "message/sample_map.h"

#include <algorithm>
#include <cstring>

#include "message/environment.h"

namespace halogen::message {
namespace {

constexpr uint32_t kOneFloat = 0x3f80'0000;
constexpr std::byte kClear{0xff};  // every byte of a pixel that is clear; no byte of an identity has this value
constexpr uint64_t kPage_B = 4096;
constexpr uint64_t kTileRows = 32;
constexpr uint64_t kTile_B = 128;          // a row of it
constexpr uint64_t kMostPages = 1u << 16;  // a map that is larger is left alone
constexpr uint64_t kRowsOfPitch = 4;

bool has_map(const Surface& surface, const hw::RENDER_SURFACE_STATE& state) {
  using Mode = hw::AuxiliarySurfaceMode;
  // The first two are one value, of different generations.
  return surface.kind == Surface::Kind::image && surface.samples > 1 && !surface.samples_beside &&
         surface.format->known() && surface.format->bytes() <= 16 &&
         (state.auxiliary_surface_mode == Mode::AUX_MCS || state.auxiliary_surface_mode == Mode::AUX_CCS_D ||
          state.auxiliary_surface_mode == Mode::AUX_MCS_LCE);
}

size_t pixel_bytes(uint32_t samples) {
  return samples <= 4 ? 1 : samples == 8 ? 4 : 8;
}

// A page of the map: a tile of Y order.
class MapPage {
 public:
  MapPage(const Surface& surface, std::span<const std::byte> colour, AddressSpace& space)
      : surface_(surface), colour_(colour), space_(space), pixel_B_(pixel_bytes(surface.samples)) {}

  // `x`, `y`: of its first pixel; it may begin above the layer and end below it.
  bool settle(uint64_t address, uint64_t x, int64_t y, uint32_t layer) {
    std::array<std::byte, kPage_B> page;
    if (!space_.read(place(address), page)) {
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
      // Columns of 16 bytes and 32 rows.
      const uint64_t px = x + (at / (16 * kTileRows) * 16 + at % 16) / pixel_B_;
      const int64_t py = y + static_cast<int64_t>(at / 16 % kTileRows);
      if (py < 0 || py >= static_cast<int64_t>(surface_.height) || px >= surface_.width) {
        continue;
      }
      for (uint32_t sample = 0; sample < surface_.samples; ++sample) {
        const uint64_t to =
            texel_address(surface_, static_cast<uint32_t>(px), static_cast<uint32_t>(py), layer, 0, sample);
        if (!space_.write(place(to), colour_)) {
          return false;
        }
      }
      std::memcpy(pixel.data(), identity.data(), pixel_B_);
    }
    return space_.write(place(address), page);
  }

 private:
  const Surface& surface_;
  std::span<const std::byte> colour_;
  AddressSpace& space_;
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

bool clear_colour(const hw::RENDER_SURFACE_STATE& state, bool integer, AddressSpace& space, surface::Texel& colour) {
  if (state.clear_value_address_enable) {
    return space.read(place(state.clear_value_address.value), std::as_writable_bytes(std::span(colour)));
  }
  const uint32_t one = integer ? 1 : kOneFloat;
  colour = {state.red_clear_color | (state.red_clear_color_one ? one : 0),
            state.green_clear_color | (state.green_clear_color_one ? one : 0),
            state.blue_clear_color | (state.blue_clear_color_one ? one : 0),
            state.alpha_clear_color | (state.alpha_clear_color_one ? one : 0)};
  return true;
}

bool settle_samples(const Surface& surface, const hw::RENDER_SURFACE_STATE& state, AddressSpace& space) {
  if (!has_map(surface, state)) {
    return true;
  }
  const uint64_t base = state.auxiliary_surface_base_address.value;
  const uint64_t pitch_tiles = state.auxiliary_surface_pitch + 1u;
  const uint64_t layer_rows = uint64_t{state.auxiliary_surface_qpitch} * kRowsOfPitch;
  const uint64_t across = std::min((surface.width * pixel_bytes(surface.samples) + kTile_B - 1) / kTile_B, pitch_tiles);
  const uint32_t layers = std::max({surface.depth, surface.render_layers, 1u});
  const uint64_t down = (surface.height + 2 * kTileRows - 2) / kTileRows;
  if (across * down * layers > kMostPages) {
    return true;
  }
  surface::Texel colour{};
  if (!clear_colour(state, surface.integer(), space, colour)) {
    return false;
  }
  std::array<std::byte, 16> packed{};
  surface::pack_texel(*surface.format, colour, packed.data());
  MapPage page(surface, std::span(packed).first(surface.format->bytes()), space);
  for (uint32_t layer = 0; layer < layers; ++layer) {
    const uint64_t first_row = (surface.first_layer + layer) * layer_rows;
    for (uint64_t row = first_row / kTileRows; row * kTileRows < first_row + surface.height; ++row) {
      const auto y = static_cast<int64_t>(row * kTileRows) - static_cast<int64_t>(first_row);
      for (uint64_t column = 0; column < across; ++column) {
        if (!page.settle(base + (row * pitch_tiles + column) * kPage_B, column * kTile_B / pixel_bytes(surface.samples),
                         y, layer)) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace halogen::message
