// Compression passes of GM965: when a pass starts, and how it processes each pair of lines (G45 PRM vol. 1b 6.3, 6.4,
// 6.8.2, seed 003).
#include <algorithm>
#include <utility>

#include "display/fbc/fbc.h"

namespace halogen::display::fbc {

namespace {

constexpr uint32_t kMinPitch_B = 2048;
constexpr uint32_t kMaxPitch_B = 16384;
constexpr uint32_t kPitchStep_B = 512;
constexpr uint32_t kStrideUnit_B = 64;
constexpr uint64_t kLengthMask = 63;

std::string_view text_of(Refusal reason) {
  switch (reason) {
    case Refusal::none:
      break;
    case Refusal::pixel_format:
      return "not compressed: pixels are not 15-, 16- or 32-bit RGB";
    case Refusal::line_duplication:
      return "not compressed: lines are doubled";
    case Refusal::not_tiled:
      return "not compressed: the surface is not tiled";
    case Refusal::pitch:
      return "not compressed: the pitch is not 2 to 16 KB in steps of 512 bytes";
    case Refusal::width:
      return "not compressed: the width is not a multiple of 8 from 640 to 2048";
    case Refusal::height:
      return "not compressed: the height is not a multiple of 2 from 480 to 1536";
    case Refusal::interlaced:
      return "not compressed: the pipe is interlaced";
    case Refusal::rotated:
      return "not compressed: the plane is rotated";
    case Refusal::compressed_stride:
      return "not compressed: compressed lines are longer than the lines of the surface";
    case Refusal::outside_stolen:
      return "compressed buffers invalid: not in stolen memory";
  }
  return {};
}

constexpr bool is_step(uint32_t value, uint32_t step, uint32_t least, uint32_t most) {
  return value >= least && value <= most && value % step == 0;
}

}  // namespace

Refusal Fbc::refusal(const CompressionSource& source) const {
  if (!run_pixel_kind(source.format)) {
    return Refusal::pixel_format;
  }
  if (source.line_double) {
    return Refusal::line_duplication;
  }
  if (!source.tiled) {
    return Refusal::not_tiled;
  }
  if (!is_step(source.stride_B, kPitchStep_B, kMinPitch_B, kMaxPitch_B)) {
    return Refusal::pitch;
  }
  if (!is_step(source.width, 8, 640, kMaxPixels)) {
    return Refusal::width;
  }
  if (!is_step(source.lines, 2, 480, 1536)) {
    return Refusal::height;
  }
  if (source.interlaced) {
    return Refusal::interlaced;
  }
  if (source.rotated_180) {
    return Refusal::rotated;
  }
  if ((control().stride + 1u) * kStrideUnit_B > source.stride_B) {
    return Refusal::compressed_stride;
  }
  return Refusal::none;
}

// Each reason is reported once until compression is enabled again.
void Fbc::refuse(Refusal reason) {
  if (std::exchange(state_.told, reason) != reason) {
    raise(EventKind::undefined_behaviour, registers_.control.slot(), text_of(reason));
  }
}

// Decrements the interval by the vertical blanks since the last call.
bool Fbc::pass_is_due(uint64_t vblanks) {
  const auto mode = control();
  bool expired = false;
  if (mode.mode_select == hw::FBC_CONTROL::ModeSelect::periodic) {
    expired = vblanks >= state_.interval_left;
    state_.interval_left = expired ? mode.interval : state_.interval_left - static_cast<uint32_t>(vblanks);
    const auto counter = registers_.modifications.get();
    expired = expired && (!counter.valid || state_.tags.modified() >= counter.modification_count);
  }
  return expired || state_.requested;
}

// Reports a new display mode: software must wait until the function is off (G45 PRM vol. 1b 6.3.1, seed 003).
void Fbc::check_mode(const CompressionSource& source) {
  const auto same_mode = [](const CompressionSource& a, const CompressionSource& b) {
    return a.format == b.format && a.width == b.width && a.lines == b.lines && a.stride_B == b.stride_B;
  };
  if (state_.mode && !same_mode(*state_.mode, source)) {
    raise(EventKind::undefined_behaviour, registers_.control.slot(),
          "display mode changed while compression is enabled");
  }
  state_.mode = source;
}

void Fbc::on_vblank(unsigned pipe) {
  if (!state_.on) {
    return;
  }
  const CompressionSource source = parts_.host.source(plane());
  if (!source.on || source.pipe != pipe) {
    return;
  }
  check_mode(source);
  const uint64_t vblanks = parts_.host.vblanks(pipe);
  const uint64_t before = std::exchange(state_.vblanks, vblanks);
  const uint64_t passed = vblanks > before ? vblanks - before : 1;  // the count of another pipe is unrelated
  if (!enabled() || state_.compressing) {
    return;
  }
  if (!pass_is_due(passed) || state_.tags.modified() == 0 || state_.processor_idle) {
    return;
  }
  if (const Refusal reason = refusal(source); reason != Refusal::none) {
    refuse(reason);
    return;
  }
  begin_pass(source);
}

void Fbc::begin_pass(const CompressionSource& source) {
  const auto mode = control();
  state_.sample = Sample{.source = source,
                         .pixel = *run_pixel_kind(source.format),
                         .buffer = registers_.buffer.get().address.value,
                         .lengths = registers_.lengths.get().address.value,
                         .stride_B = (mode.stride + 1u) * kStrideUnit_B,
                         .uncompressible_enable = mode.uncompressible_enable};
  state_.tags.start_pass();
  state_.compressing = true;
  state_.compressed = false;
  state_.any_modified = false;
  state_.requested = false;
  next_pair(0, parts_.host.time_ns());
}

// Marks the next pair before it is compressed. If no pair is left, the pass ends.
void Fbc::next_pair(unsigned from, uint64_t now) {
  const CompressionSource& source = state_.sample->source;
  const unsigned tags = tags_of(source.lines, source.odd_start());
  for (unsigned tag = from; tag < tags; ++tag) {
    if (state_.tags.get(tag) == Tag::uncompressed) {
      state_.tags.set(tag, Tag::compressed);
      state_.tag = tag;
      state_.current_line = static_cast<uint16_t>(lines_of(tag, source.lines, source.odd_start()).first);
      state_.pair_done_ns = now + kPairNs;
      return;
    }
  }
  end_pass();
}

void Fbc::run_until(uint64_t nanoseconds) {
  while (state_.compressing && state_.pair_done_ns <= nanoseconds && !blocked()) {
    finish_pair();
  }
}

void Fbc::finish_pair() {
  const Sample sample = *state_.sample;
  const TagLines lines = lines_of(state_.tag, sample.source.lines, sample.source.odd_start());
  unsigned failed = 0;
  for (unsigned i = 0; i < lines.count; ++i) {
    const LineResult result = compress_line(sample, lines.first + i);
    if (result == LineResult::no_memory) {
      abort_pass();
      leave_stolen();
      return;
    }
    failed += result == LineResult::too_long ? 1 : 0;
    if (failed != 0 && !sample.uncompressible_enable) {
      break;
    }
  }
  if (failed != 0 && state_.tags.get(state_.tag) == Tag::compressed) {
    const bool hopeless = sample.uncompressible_enable && failed == lines.count;
    state_.tags.set(state_.tag, hopeless ? Tag::uncompressible : Tag::uncompressed);
  }
  if (state_.processor_idle && control2().cx_mode == hw::FBC_CONTROL2::CxMode::scanline) {
    end_pass();
  } else {
    next_pair(state_.tag + 1, state_.pair_done_ns);
  }
}

Fbc::LineResult Fbc::compress_line(const Sample& sample, unsigned line) {
  const unsigned pixel_B = bytes_of(sample.pixel);
  line_.resize(size_t{sample.source.width} * pixel_B);
  runs_.assign(sample.stride_B / sizeof(uint32_t), 0);
  const uint64_t line_address = sample.buffer + uint64_t{line} * sample.stride_B;
  const uint64_t length_place = sample.lengths + (sample.source.y & kLengthMask) + line;
  if (memory_ == nullptr || !in_stolen(length_place, 1)) {
    return LineResult::no_memory;
  }
  read_source_line(*memory_, sample.source, pixel_B, line, line_);
  const std::optional<size_t> runs = encode(line_, sample.pixel, runs_);
  if (!runs) {
    return LineResult::too_long;
  }
  const unsigned sets = sets_of(*runs);
  const auto length = static_cast<std::byte>(sets - 1);
  const std::span<const uint32_t> whole = std::span(runs_).first(size_t{sets} * kRunsPerSet);
  const bool written = in_stolen(line_address, whole.size_bytes()) &&
                       memory_->write(PhysAddr(line_address), std::as_bytes(whole)) &&
                       memory_->write(PhysAddr(length_place), {&length, 1});
  return written ? LineResult::done : LineResult::no_memory;
}

void Fbc::leave_stolen() {
  state_.compressed = false;
  modify_all();
  refuse(Refusal::outside_stolen);
}

void Fbc::end_pass() {
  state_.compressing = false;
  state_.compressed = true;
  state_.interval_left = control().interval;
  if (!enabled()) {
    turn_off();
  }
}

// Also called when a line is written while stop_on_modification is set.
void Fbc::abort_pass() {
  state_.tags.set(state_.tag, Tag::modified);
  state_.any_modified = true;
  state_.compressing = false;
  state_.interval_left = control().interval;
  if (!enabled()) {
    turn_off();
  }
}

// Scan-out.

bool Fbc::read_line(unsigned shown, unsigned line, std::span<std::byte> into) {
  const bool usable = state_.on && enabled() && !state_.compressing && state_.compressed && shown == plane() &&
                      state_.sample.has_value() && state_.sample->source == parts_.host.source(shown);
  if (!usable) {
    return false;
  }
  const Sample& sample = *state_.sample;
  if (line >= sample.source.lines || into.size() != size_t{sample.source.width} * bytes_of(sample.pixel) ||
      state_.tags.get(std::min(kTags - 1, tag_of(line, sample.source.odd_start()))) != Tag::compressed) {
    return false;
  }
  const uint64_t line_address = sample.buffer + uint64_t{line} * sample.stride_B;
  const uint64_t length_place = sample.lengths + (sample.source.y & kLengthMask) + line;
  std::byte length{};
  bool found = in_stolen(length_place, 1) && memory_->read(PhysAddr(length_place), {&length, 1});
  const uint64_t sets = std::to_integer<uint64_t>(length) + 1;
  runs_.resize(sets * kRunsPerSet);
  found = found && in_stolen(line_address, sets * kSetBytes) &&
          memory_->read(PhysAddr(line_address), std::as_writable_bytes(std::span(runs_)));
  if (!found) {
    leave_stolen();
    return false;
  }
  decode(runs_, sample.pixel, into);
  return true;
}

}  // namespace halogen::display::fbc
