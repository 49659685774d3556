// Display state that a frame buffer compressor reads.
#include <algorithm>

#include "display/display.h"
#include "hw/display_plane.h"
#include "spec/packing.h"

namespace halogen::display {

namespace {

constexpr uint32_t kPageMask = 0xfff;

}  // namespace

CompressionSource Display::source(unsigned number) const {
  CompressionSource source;
  source.plane = number;
  const PlaneModel* plane = find_plane(number);
  if (plane == nullptr || plane->kind != PlaneKind::display) {
    return source;
  }
  const PlaneImage& image = state_.planes[index_of(*plane)].active;
  const auto control = spec::unpack_register<hw::DSPCNTR>(model_.gen, image.control);
  const auto offset = spec::unpack_register<hw::DSPTILEOFF>(model_.gen, image.tile_offset);
  source.pipe = unpack_control(*plane, model_.gen, image.control).pipe;
  source.on = control.plane_enable && pipe_running(source.pipe);
  source.format = static_cast<uint8_t>(control.source_pixel_format);
  source.surface = image.surface & ~kPageMask;
  source.stride_B = image.stride;
  source.x = offset.x_position;
  source.y = offset.y_position;
  source.tiled = control.tiled;
  source.line_double = control.line_double;
  source.rotated_180 = control.rotate_180;
  if (pipe_running(source.pipe)) {
    const ModeTiming& timing = state_.pipes[source.pipe].raster.timing;
    source.width = timing.h_active;
    source.lines = timing.v_active;
    source.interlaced = timing.interlaced;
  }
  const auto is_sprite = [&](const PlaneModel& other) {
    return other.kind == PlaneKind::video_sprite && other.pipe == source.pipe &&
           unpack_control(other, model_.gen, state_.planes[index_of(other)].active.control).enabled;
  };
  source.sprite = std::ranges::any_of(planes_, is_sprite);
  return source;
}

unsigned Display::scanned_lines(unsigned pipe, uint64_t nanoseconds) const {
  if (!pipe_running(pipe) || nanoseconds < state_.pipes[pipe].start_ns) {
    return 0;
  }
  const PipeState& state = state_.pipes[pipe];
  const Pixels at = state.raster.pixels(nanoseconds - state.start_ns);
  return state.raster.in_vblank(at) ? 0 : std::min(state.raster.line(at), state.raster.timing.v_active);
}

void Display::run_compressor(uint64_t until) {
  if (compressor_ != nullptr) {
    compressor_->run_until(until);
  }
}

}  // namespace halogen::display
