// Threads that need not run, because the replay of another thread of the primitive (pixel_replay.h) provides their
// messages. Their messages are sent without them, and completely covered areas are filled at once. The counts are the
// same as if the threads had run.
#include <bit>

#include "pipe3d/pixel/pixel_stage.h"

namespace halogen::pipe3d {

void PixelStage::forget_replays() {
  for (PixelReplay& each : replays_) {
    each.forget();
  }
}

// Returns the replay of the kernel in use. Null: threads have to run.
const PixelReplay* PixelStage::replay(const PixelShader::Kernel& kernel, bool narrow) {
  PixelReplay& known = replays_[narrow ? 1 : 0];
  if (!known.asked()) {
    if (!worth_replay_ || unit_.kernel() == nullptr) {
      return nullptr;
    }
    known.refuse();
    PixelGroup all;
    all.primitive = primitive_;
    all.raster = raster_;
    all.width = narrow ? 8 : state_->pixel.simd16.enabled ? 16 : 32;
    for (unsigned i = 0; i < all.width; ++i) {
      all.lanes[i] = {.x = static_cast<int32_t>(i & 1), .y = static_cast<int32_t>(i >> 1 & 1), .coverage = 1};
    }
    all.find_covered();
    const FilledRegisters filled = make_ready(kernel, all);
    const spec::GenId gen = generation_->id();
    // The first square of a thread has a covered pixel. If helper channels run, all channels of that square are
    // enabled.
    const std::vector<eu::SentBytes>* const sent =
        followed_.find(*unit_.kernel(), {.kernel = unit_.kernel()->number(),
                                         .payload_end = filled.payload_end,
                                         .mask_first = state_->pixel_payload == PayloadForm::start_vertex,
                                         .enabled = state_->pixel.shader.vector_mask ? 0xfu : 0u});
    if (sent != nullptr) {
      known.rehearse(*state_, all, gen, *sent, unit_, *thread_);
    }
  }
  return known.stands() ? &known : nullptr;
}

// Sends the messages of a thread of the group without running it.
void PixelStage::play(const PixelReplay& known) {
  const uint32_t channels = state_->pixel.shader.vector_mask ? group_.helped() : group_.live();
  ++counts_.replayed;
  for (const PixelReplay::Write& write : known.writes()) {
    if (!write.always && (channels >> write.message.first_lane & write.sent_channels) == 0) {
      continue;
    }
    unit_.count(write.control, 1);
    if (put(write.message) != eu::SendOutcome::done) {
      unit_.count(1, write.instructions);
      end_ = ThreadEnd::fault;
      return;
    }
  }
  unit_.count(1, known.instructions());
}

// Fills all pixels of the area at once. False: nothing was drawn.
bool PixelStage::fill(const Rectangle& area) {
  const PixelShader& pixel = state_->pixel;
  const Blend& blend = state_->output.blend;
  const PixelShader::Kernel& kernel = width_ == 8 ? pixel.simd8 : wide_kernel();
  if (!worth_replay_ || !test_early_ || !depth_.idle() || !pixel.dispatch || !kernel.enabled ||
      end_ != ThreadEnd::done || state_->raster.samples_log2 != 0 || blend.alpha_test || blend.alpha_to_coverage ||
      raster_->smooth() || !raster_->covers_all(area) || !set_up()) {
    return false;
  }
  // The last thread may be narrow.
  const Rectangle squares{
      .x_min = area.x_min >> 1, .y_min = area.y_min >> 1, .x_max = area.x_max >> 1, .y_max = area.y_max >> 1};
  const uint64_t of_thread = width_ / 4;
  const uint64_t rest = pixels_of(squares) % of_thread;
  const bool narrow = width_ != 8 && rest != 0 && rest <= 2 && pixel.simd8.enabled;
  const uint64_t threads = pixels_of(squares) / of_thread + (rest != 0 && !narrow ? 1 : 0);
  unit_.use_kernel(kernel.start);
  const PixelReplay* const known = replay(kernel, width_ == 8);
  if (known == nullptr || !known->fills()) {
    return false;
  }
  const PixelReplay* last = nullptr;
  if (narrow) {
    unit_.use_kernel(pixel.simd8.start);
    last = replay(pixel.simd8, true);
    if (last == nullptr || !last->fills() || !known->same_colours(*last)) {
      return false;
    }
  }
  for (const PixelReplay::Write& write : known->writes()) {
    TargetWriter* const writer = target(write.message.index, write.message.blend);
    // A fill would raise faults in another order, so it must not fault. A helper may: its work is then rolled back as a
    // whole.
    if (writer == nullptr || !writer->takes_fills() ||
        (!unit_.is_helper() && !writer->reaches(area, primitive_->layer))) {
      return false;
    }
  }
  if (!pixels_apart()) {
    return false;  // the order of two writes to a byte matters
  }
  for (const PixelReplay::Write& write : known->writes()) {
    Colour colour{};
    for (unsigned c = 0; c < 4; ++c) {
      colour[c] = std::bit_cast<uint32_t>(write.colours.component[c][0]);
    }
    TargetWriter* const writer = target(write.message.index, write.message.blend);
    writer->fill_plain(area, primitive_->layer, colour);
    end_ = writer->stopped() ? ThreadEnd::fault : end_;
    if (counts_blocks_) {
      count_written(writer->blocks_in(area, primitive_->layer), *writer);
    }
  }
  const auto count = [&](const PixelReplay& replay, uint64_t times) {
    for (const PixelReplay::Write& write : replay.writes()) {
      unit_.count(write.control, times);
    }
    unit_.count(times, replay.instructions());
    counts_.threads += times;
    counts_.replayed += times;
  };
  if (last != nullptr) {
    count(*last, 1);
    unit_.use_kernel(kernel.start);
  }
  count(*known, threads);
  counts_.blocks.rasterised += counts_blocks_ ? pixels_of(squares) : 0;
  counts_.invocations += pixels_of(area);
  counts_.passed += pixels_of(area);
  return true;
}

}  // namespace halogen::pipe3d
