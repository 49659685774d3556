#include "surface/state_layout.h"

namespace halogen::surface {

Tiling tiling_of(const hw::RENDER_SURFACE_STATE& state) {
  if (state.tiled_surface) {
    return state.tile_walk == hw::TileWalk::YMAJOR ? Tiling::y : Tiling::x;
  }
  switch (state.tile_mode) {
    case hw::TileMode::LINEAR:
      return Tiling::linear;
    case hw::TileMode::WMAJOR:
      return Tiling::w;
    case hw::TileMode::XMAJOR:
      return Tiling::x;
    case hw::TileMode::YMAJOR:
      break;
  }
  switch (state.tiled_resource_mode) {
    case hw::TiledResourceMode::TILEYF:
      return Tiling::yf;
    case hw::TiledResourceMode::TILEYS:
      return Tiling::ys;
    case hw::TiledResourceMode::NONE:
      break;
  }
  return Tiling::y;
}

SurfaceLayout layout_of(const hw::RENDER_SURFACE_STATE& state, uint32_t element_bits) {
  using State = hw::RENDER_SURFACE_STATE;
  TileShape shape{.tiling = tiling_of(state), .element_bits = element_bits};
  if (state.multisampled_surface_storage_format == State::MultisampledSurfaceStorageFormat::mss) {
    shape.samples = 1u << static_cast<unsigned>(state.number_of_multisamples);
  }
  shape.volume = state.surface_type == hw::SurfaceType::SURFTYPE_3D;
  shape.mapping = state.tile_address_mapping_mode == State::TileAddressMappingMode::gfx10 ? TileAddressMapping::gfx10
                                                                                          : TileAddressMapping::gfx9;
  return {.pattern = find_pattern(shape),
          .pitch_B = uint64_t{state.surface_pitch} + 1,
          .layer_rows = uint64_t{state.surface_qpitch} * 4};
}

}  // namespace halogen::surface
