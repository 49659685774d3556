// Fast clears. Hardware marks blocks as clear in a compression surface. The model's memory always holds the resolved
// values, so the whole level is filled, in the layer of each rectangle. The rectangles count blocks, not pixels, and
// drivers clear whole levels only. A large level is filled in bands, each a part of the draw.
#include "hw/struct_sizes.h"
#include "hw/surface.h"
#include "message/sample_map.h"
#include "message/surface_table.h"
#include "pipe3d/output/clear_band.h"
#include "pipe3d/pixel/pixel_stage.h"

namespace halogen::pipe3d {
bool PixelStage::fast_clear(uint32_t layer, uint32_t band) {
  uint32_t entry = 0;
  std::array<uint32_t, hw::kMaxDwords<hw::RENDER_SURFACE_STATE>> words{};
  const spec::GenId gen = generation_->id();
  end_ = ThreadEnd::fault;
  if (!ok(space_->read(message::place(state_->pixel.shader.binding_table),
                       std::as_writable_bytes(std::span(&entry, 1))))) {
    return true;
  }
  const uint64_t at =
      state_->bases.surface + hw::BINDING_TABLE_STATE::unpack(gen, std::span(&entry, 1)).surface_state_pointer;
  if (!ok(space_->read(message::place(at), std::as_writable_bytes(std::span(words))))) {
    return true;
  }
  surfaces_.unread().note(hw::RENDER_SURFACE_STATE::kDesc, gen, words);
  const auto state = hw::RENDER_SURFACE_STATE::unpack(gen, words);
  const message::Surface surface = message::decode_surface(*generation_, state);
  Colour colour{};
  if (!message::clear_colour(state, surface.format->integer, *space_, colour)) {
    return true;
  }
  end_ = ThreadEnd::done;
  if (surface.kind != message::Surface::Kind::image || layer >= surface.render_layers) {
    return true;
  }
  BlendTarget plain;
  TargetWriter writer;
  writer.begin(surface, plain, state_->output.blend, *target_space_);
  const Rectangle whole{.x_min = 0,
                        .y_min = 0,
                        .x_max = static_cast<int32_t>(surface.level_width(surface.render_level)) - 1,
                        .y_max = static_cast<int32_t>(surface.level_height(surface.render_level)) - 1};
  const ClearBand part(whole, surface.samples, band);
  writer.fill(part.area, layer, colour);
  if (writer.stopped()) {
    end_ = ThreadEnd::fault;
  }
  return part.last;
}

}  // namespace halogen::pipe3d
