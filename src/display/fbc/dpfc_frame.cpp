// The work of GM45's compressor during scan-out and at the vertical blank (G45 PRM vol. 1b 7.1, 7.2, seed 003).
#include <algorithm>
#include <utility>

#include "display/fbc/dpfc.h"
#include "display/fbc/dpfc_code.h"
#include "spec/packed.h"

namespace halogen::display::dpfc {

namespace {

constexpr uint32_t kUnit_B = 64;
constexpr unsigned kCountMask = 0x7ff;

std::string_view text_of(Refusal reason) {
  switch (reason) {
    case Refusal::none:
      break;
    case Refusal::pixel_format:
      return "not compressed: pixels are not 16 or 32 bits wide";
    case Refusal::pixel_multiply:
      return "not compressed: pixels or lines are doubled";
    case Refusal::not_tiled:
      return "not compressed: the surface is not tiled";
    case Refusal::size:
      return "not compressed: more than 4096 pixels or 2048 lines";
    case Refusal::sprite:
      return "not compressed: a video sprite is on the pipe";
    case Refusal::ratio:
      return "not compressed: compression limit not allowed for these pixels";
    case Refusal::outside_stolen:
      return "not compressed: the compressed buffer is not in stolen memory";
    case Refusal::nuke_disabled:
      return "nuke bits ignored; flips recompress everything in non-persistent mode";
  }
  return {};
}

// Returns the line pitch of the compressed buffer. 16-bit pixels count as 32-bit pixels. No value: the limit is not
// allowed for these pixels.
std::optional<uint64_t> compressed_stride(hw::DPFC_CONTROL::CompressionLimit limit, uint32_t stride_B,
                                          unsigned pixel_bytes) {
  using Limit = hw::DPFC_CONTROL::CompressionLimit;
  const uint64_t expanded = uint64_t{stride_B} * (4 / pixel_bytes);
  switch (limit) {
    case Limit::ratio_1_1:
      return pixel_bytes == 4 ? std::optional(expanded) : std::nullopt;
    case Limit::ratio_2_1:
      return expanded / 2;
    case Limit::ratio_4_1:
      return expanded / 4;
  }
  return std::nullopt;
}

}  // namespace

Refusal Dpfc::refusal(const CompressionSource& source) const {
  const std::optional<unsigned> pixel = pixel_bytes(source.format);
  if (!pixel) {
    return Refusal::pixel_format;
  }
  if (source.line_double) {
    return Refusal::pixel_multiply;
  }
  if (!source.tiled) {
    return Refusal::not_tiled;
  }
  if (source.lines > kMaxLines || source.width > kMaxPixels) {
    return Refusal::size;
  }
  if (source.sprite) {
    return Refusal::sprite;
  }
  const std::optional<uint64_t> stride = compressed_stride(control().compression_limit, source.stride_B, *pixel);
  if (!stride || *stride < kUnit_B) {
    return Refusal::ratio;
  }
  const uint64_t offset = base_.get().offset_address;
  if (memory_ == nullptr || !in_stolen(memory_->stolen_base().value + offset, *stride * source.lines)) {
    return Refusal::outside_stolen;
  }
  return Refusal::none;
}

// Each reason is reported once until compression is enabled again.
void Dpfc::refuse(Refusal reason) {
  if (std::exchange(state_.told, reason) != reason) {
    raise(EventKind::undefined_behaviour, control_.slot(), text_of(reason));
  }
}

void Dpfc::turn_on() {
  const bool flush = !control().slb_initialization_flush_disable || state_.lines.empty();
  std::vector<uint16_t> lines = flush ? std::vector<uint16_t>(kMaxLines) : std::move(state_.lines);
  const unsigned slb_line = state_.slb_line;
  const bool in_progress = state_.host_in_progress;
  state_ = {};
  state_.on = true;
  state_.lines = std::move(lines);
  state_.slb_line = slb_line;
  state_.host_in_progress = in_progress;
}

// Line data stays readable; a control bit selects whether the next start clears it.
void Dpfc::turn_off() {
  state_.on = false;
  state_.sample.reset();
  state_.status = 0;
  forget_back_buffers();
}

void Dpfc::take_sample() {
  const CompressionSource source = parts_.host.source(plane());
  const Refusal reason = refusal(source);
  if (reason != Refusal::none) {
    state_.sample.reset();
    std::ranges::fill(state_.lines, uint16_t{0});
    refuse(reason);
    return;
  }
  const auto mode = control();
  const unsigned pixel = *pixel_bytes(source.format);
  const uint64_t offset = base_.get().offset_address;
  Sample sample{.source = source,
                .pixel_bytes = pixel,
                .buffer = memory_->stolen_base().value + offset,
                .stride_B = static_cast<uint32_t>(*compressed_stride(mode.compression_limit, source.stride_B, pixel)),
                .disabled = mode.compression_control,
                .persistent = mode.persistent_mode};
  if (state_.sample && *state_.sample != sample) {  // the mode changed meanwhile
    const bool same_place = state_.sample->source == sample.source;
    if (!same_place || state_.sample->buffer != sample.buffer || state_.sample->stride_B != sample.stride_B) {
      std::ranges::fill(state_.lines, uint16_t{0});
      state_.failed.reset();
    }
  }
  state_.sample = sample;
}

void Dpfc::on_vblank(unsigned pipe) {
  const CompressionSource source = parts_.host.source(plane());
  if (source.pipe != pipe || !source.on) {
    return;
  }
  if (state_.on) {
    if (state_.sample) {
      scan_to(state_.sample->source.lines);
    }
    publish();
  }
  const bool wanted = control().enable;
  if (wanted && !state_.on) {
    turn_on();
  } else if (!wanted && state_.on) {
    turn_off();
  }
  if (state_.on) {
    take_sample();
  }
}

void Dpfc::publish() {
  const auto modifications = static_cast<unsigned>(state_.modified.count()) / kSegmentLines;
  hw::DPFC_STATUS status;
  status.invalidated_segment_count = static_cast<uint16_t>(std::min(modifications, kCountMask));
  status.compressed_segment_count = static_cast<uint16_t>(std::min(state_.fetched / kSegmentLines, kCountMask));
  state_.status = spec::packed32(status, parts_.model.gen);
  consider_stall(modifications);
  state_.modified.reset();
  state_.scanned = 0;
  state_.fetched = 0;
}

void Dpfc::consider_stall(unsigned modifications) {
  const auto mode = recompression_.get();
  if (!mode.enable_recomp_stall) {
    state_.stalled = false;
    state_.frames_left.reset();
    return;
  }
  if (modifications >= mode.recomp_stall_invalidation_watermark) {
    state_.stalled = true;
    state_.frames_left.reset();
    hw::DPFC_DEBUG_STATUS trip;
    trip.recompression_stall_watermark_trip = true;
    set_debug_status(trip);
    return;
  }
  if (!state_.stalled) {
    return;
  }
  if (!state_.frames_left) {
    state_.frames_left = mode.recompression_timer_count;
  } else if (*state_.frames_left > 0) {
    --*state_.frames_left;
  }
  if (*state_.frames_left == 0) {
    state_.stalled = false;
    state_.frames_left.reset();
  }
}

void Dpfc::run_until(uint64_t nanoseconds) {
  if (state_.on && state_.sample) {
    scan_to(parts_.host.scanned_lines(state_.sample->source.pipe, nanoseconds));
  }
}

void Dpfc::scan_to(unsigned end) {
  const Sample& sample = *state_.sample;
  end = std::min(end, sample.source.lines);
  for (; state_.scanned < end; ++state_.scanned) {
    const unsigned line = state_.scanned;
    if (state_.lines[line] != 0) {
      ++state_.fetched;
    } else if (!state_.stalled && !state_.failed[line]) {
      state_.failed[line] = !compress_line(sample, line);
    }
  }
}

bool Dpfc::compress_line(const Sample& sample, unsigned line) {
  line_.resize(size_t{sample.source.width} * sample.pixel_bytes);
  code_.assign(sample.stride_B, std::byte{});
  read_source_line(*memory_, sample.source, sample.pixel_bytes, line, line_);
  const std::optional<size_t> bytes = encode(line_, sample.pixel_bytes, sample.disabled, code_);
  if (!bytes) {
    return false;
  }
  const auto units = static_cast<uint16_t>((*bytes + kUnit_B - 1) / kUnit_B);
  const size_t whole = std::min<size_t>(size_t{units} * kUnit_B, code_.size());
  if (!memory_->write(PhysAddr(sample.buffer + uint64_t{line} * sample.stride_B), std::span(code_).first(whole))) {
    return false;
  }
  state_.lines[line] = units;
  return true;
}

// Scan-out.

bool Dpfc::read_line(unsigned shown, unsigned line, std::span<std::byte> into) {
  if (!state_.on || !state_.sample || shown != plane() || state_.sample->source != parts_.host.source(shown)) {
    return false;
  }
  const Sample& sample = *state_.sample;
  if (line >= sample.source.lines || state_.lines[line] == 0 ||
      into.size() != size_t{sample.source.width} * sample.pixel_bytes) {
    return false;
  }
  code_.resize(std::min<size_t>(size_t{state_.lines[line]} * kUnit_B, sample.stride_B));
  if (!memory_->read(PhysAddr(sample.buffer + uint64_t{line} * sample.stride_B), code_)) {
    return false;
  }
  decode(code_, sample.pixel_bytes, into);
  return true;
}

}  // namespace halogen::display::dpfc
