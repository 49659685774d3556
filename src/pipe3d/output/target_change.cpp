// Fast clears, resolves and ambiguates of render targets: rectangles that change the compression state of blocks. Their
// pixels count parts of blocks.
#include "message/block_states.h"
#include "message/sample_map.h"
#include "message/surface_table.h"
#include "pipe3d/output/clear_band.h"
#include "pipe3d/pixel/pixel_stage.h"

namespace halogen::pipe3d {
namespace {

using Change = PixelPlane::BlockChange;

Change change_of(TargetOperation operation) {
  switch (operation) {
    case TargetOperation::partial_resolve:
      return Change::partial_resolve;
    case TargetOperation::full_resolve:
      return Change::full_resolve;
    case TargetOperation::ambiguate:
      return Change::ambiguate;
    case TargetOperation::draw:
    case TargetOperation::clear:
      break;
  }
  return Change::clear;
}

struct Scale {
  int32_t x = 1;
  int32_t y = 1;
};

// Returns the pixels of the target that a pixel of the rectangle stands for (Ivy Bridge PRM vol. 2 part 1, "MCS Buffer
// for Render Target(s)"; Skylake PRM vol. 7).
Scale scale_of(const message::Surface& surface) {
  if (surface.samples > 1) {
    return {.x = surface.samples <= 4 ? 8 : surface.samples == 8 ? 2 : 1, .y = 2};
  }
  const int32_t bits = surface.states.form == surface::StateForm::one_bit    ? 1
                       : surface.states.form == surface::StateForm::two_bits ? 2
                                                                             : 4;
  return {.x = static_cast<int32_t>(surface.states.block_width) * 8,
          .y = static_cast<int32_t>(surface.states.block_height) * 16 / bits};
}

}  // namespace

bool PixelStage::change_target(uint32_t layer, const Rectangle& scaled, uint32_t band) {
  surfaces_.keep_maps(true);
  const message::Surface* const surface = surfaces_.find(
      *generation_, {.space = space_, .bases = state_->bases, .binding_table = state_->pixel.shader.binding_table}, 0,
      0);
  surfaces_.keep_maps(false);
  end_ = surface != nullptr ? ThreadEnd::done : ThreadEnd::fault;
  if (surface == nullptr || surface->kind != message::Surface::Kind::image || layer >= surface->render_layers) {
    return true;
  }
  const bool has_blocks = surface->states.form != surface::StateForm::none;
  if (!has_blocks && !surface->sample_map.present) {
    missing_ = "a fast clear or resolve of a target without compression state; nothing is changed";
    return true;
  }
  const Scale scale = scale_of(*surface);
  const Rectangle whole{.x_min = 0,
                        .y_min = 0,
                        .x_max = static_cast<int32_t>(surface->level_width(surface->render_level)) - 1,
                        .y_max = static_cast<int32_t>(surface->level_height(surface->render_level)) - 1};
  const Rectangle limit{.x_min = 0, .y_min = 0, .x_max = 0xffff, .y_max = 0xffff};
  const Rectangle box = intersect(scaled, limit);
  const Rectangle area = intersect({.x_min = box.x_min * scale.x,
                                    .y_min = box.y_min * scale.y,
                                    .x_max = (box.x_max + 1) * scale.x - 1,
                                    .y_max = (box.y_max + 1) * scale.y - 1},
                                   whole);
  const ClearBand part(area, surface->samples, band);
  if (state_->pixel.operation == TargetOperation::clear && band == 0 &&
      !message::store_converted_clear(*surface, *target_space_)) {
    end_ = ThreadEnd::fault;
    return true;
  }
  if (has_blocks) {
    TargetWriter writer;
    writer.begin(*surface, BlendTarget{}, state_->output.blend, *target_space_);
    writer.change_blocks(part.area, layer, change_of(state_->pixel.operation));
    end_ = writer.stopped() ? ThreadEnd::fault : end_;
  } else if (state_->pixel.operation == TargetOperation::clear &&
             !message::clear_samples(*surface,
                                     {.x_first = static_cast<uint32_t>(part.area.x_min),
                                      .y_first = static_cast<uint32_t>(part.area.y_min),
                                      .x_end = static_cast<uint32_t>(part.area.x_max + 1),
                                      .y_end = static_cast<uint32_t>(part.area.y_max + 1),
                                      .layer = layer},
                                     *target_space_)) {
    end_ = ThreadEnd::fault;
  }
  return part.last || end_ != ThreadEnd::done;
}

}  // namespace halogen::pipe3d
