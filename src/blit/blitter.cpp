#include "blit/blitter.h"

#include <algorithm>
#include <cstring>

#include "blit/chroma_key.h"
#include "blit/fast_lines.h"
#include "blit/mono_expand.h"
#include "blit/mono_source.h"

namespace halogen::blit {
namespace {

constexpr unsigned kPatternSide = 8;
constexpr uint32_t kRgbMask = 0x00ff'ffff;

void repeat_bytes(std::byte* out, size_t bytes, size_t period) {
  for (size_t done = period; done < bytes; done *= 2) {
    std::memcpy(out + done, out, std::min(done, bytes - done));
  }
}

}  // namespace

struct Blitter::Work {
  Work(memory::AddressSpace& in, const BlitJob& what, const Placement& where)
      : space(in),
        job(what),
        place(where),
        destination(in, what.destination, what.address_mask, memory::Direction::write),
        source(in, what.source_surface, what.address_mask, memory::Direction::read),
        unit_B(what.linear_command ? 1 : what.pixel_B) {
    uses_source = rop_uses_source(job.rop);
    uses_pattern = rop_uses_pattern(job.rop);
    uses_destination = rop_uses_destination(job.rop);
    x_B = static_cast<uint64_t>(place.rect.x1) * unit_B;
    source_x_B = static_cast<uint64_t>(place.source_x) * unit_B;
    line_B = place.width() * unit_B;
    pattern_transparent = job.pattern.kind == PatternKind::mono && job.pattern.transparent;
    mono_source = job.source == SourceKind::mono;
    reads_bits = mono_source && (uses_source || job.mono.transparent);
    reads_source = job.source == SourceKind::color && (uses_source || keys_source(job.key_mode));
    partial_mask = job.pixel_B == 4 && !job.is_wide_command && job.byte_mask != hw::BltByteMask::RGBA;
    masked = pattern_transparent || (mono_source && job.mono.transparent) || keys_destination(job.key_mode) ||
             (keys_source(job.key_mode) && job.source == SourceKind::color) || partial_mask;
    mono_bits = mono_source ? mono_line_bits(job.mono, static_cast<uint64_t>(job.rect.x2 - job.rect.x1)) : 0;
    only_bits_mask =
        mono_source && job.mono.transparent && !pattern_transparent && !partial_mask && !keys_destination(job.key_mode);
    kernel = rop_kernel(job.rop);
  }

  memory::AddressSpace& space;
  const BlitJob& job;
  const Placement& place;
  SurfaceRows destination;
  SurfaceRows source;
  RopKernel kernel;
  unsigned unit_B;  // bytes per x coordinate
  uint64_t x_B;
  uint64_t source_x_B;
  uint64_t line_B;
  uint64_t mono_bits;
  bool uses_source;
  bool uses_pattern;
  bool uses_destination;
  bool pattern_transparent;
  bool mono_source;
  bool reads_bits;
  bool reads_source;
  bool partial_mask;
  bool masked;
  bool only_bits_mask;  // only the monochrome source masks pixels
  bool stopped = false;
  const std::byte* color_pattern = nullptr;
  uint64_t left_B = kPart_B;  // bytes left in the part
  std::array<bool, kPatternSide> built{};

  void use_up(uint64_t bytes, uint64_t steps) { left_B -= std::min(left_B, bytes + steps * kStep_B); }
};

Blitter::Blitter() : scratch_(std::make_unique_for_overwrite<Scratch>()) {
  scratch_->zero.fill(std::byte{0});
}

// Reads a colour pattern, once for all parts.
bool Blitter::load_pattern(Work& work, Progress& progress) {
  const Pattern& pattern = work.job.pattern;
  if (pattern.kind != PatternKind::color || !work.uses_pattern) {
    return true;
  }
  const size_t bytes = size_t{kPatternSide} * kPatternSide * work.job.pixel_B;
  const std::span<std::byte> into = std::as_writable_bytes(std::span(progress.pattern)).first(bytes);
  work.color_pattern = into.data();
  if (progress.has_pattern) {
    return true;
  }
  if (!pattern.is_immediate) {
    progress.has_pattern = ok(work.space.read(wrapped_address(pattern.address & work.job.address_mask), into));
    return progress.has_pattern;
  }
  const std::span<const std::byte> given = std::as_bytes(pattern.immediate);
  const size_t present = std::min(given.size(), bytes);
  std::memcpy(into.data(), given.data(), present);
  std::memset(into.data() + present, 0, bytes - present);
  progress.has_pattern = true;
  return true;
}

// Builds one line of the pattern, aligned to the rectangle's first pixel and repeated over a chunk. All chunks have the
// same phase.
void Blitter::build_pattern_line(const Work& work, unsigned line) {
  const BlitJob& job = work.job;
  const Pattern& pattern = job.pattern;
  std::byte* const out = scratch_->pattern[line].data();
  const auto bytes = static_cast<size_t>(std::min<uint64_t>(work.line_B, kChunk_B));
  const unsigned phase = (static_cast<unsigned>(work.place.rect.x1) + pattern.x_seed) % kPatternSide;
  std::array<std::byte, 64> period;  // eight pixels, or one pixel of a solid pattern
  size_t period_B = size_t{kPatternSide} * job.pixel_B;
  if (pattern.kind == PatternKind::solid || (pattern.kind == PatternKind::mono && pattern.solid_select)) {
    const std::array<uint32_t, 4> color = pattern.kind == PatternKind::solid
                                              ? pattern.solid
                                              : std::array<uint32_t, 4>{pattern.colors.background, 0, 0, 0};
    period_B = job.pixel_B;
    std::memcpy(period.data(), color.data(), period_B);
  } else if (pattern.kind == PatternKind::mono) {
    const unsigned bits = pattern.mono[line];
    const auto turned = static_cast<std::byte>((bits << phase | bits >> (kPatternSide - phase)) & 0xff);
    expand_mono(period.data(), &turned, 0, kPatternSide, job.pixel_B, pattern.colors);
    if (pattern.transparent) {
      std::byte* const mask = scratch_->pattern_mask[line].data();
      std::array<std::byte, 64> eight;
      expand_mono(eight.data(), &turned, 0, kPatternSide, job.pixel_B, {0, ~0u});
      std::memcpy(mask, eight.data(), std::min(period_B, bytes));
      repeat_bytes(mask, bytes, period_B);
    }
  } else if (pattern.kind == PatternKind::color) {
    const std::byte* const row = work.color_pattern + line * period_B;
    for (unsigned pixel = 0; pixel < kPatternSide; ++pixel) {
      std::memcpy(period.data() + size_t{pixel} * job.pixel_B,
                  row + size_t{(pixel + phase) % kPatternSide} * job.pixel_B, job.pixel_B);
    }
  } else {
    period.fill(std::byte{0});  // the operation uses a pattern that the command does not have
  }
  std::memcpy(out, period.data(), std::min(period_B, bytes));
  repeat_bytes(out, bytes, period_B);
}

const std::byte* Blitter::pattern_line(Work& work, unsigned line) {
  if (!work.built[line]) {
    work.built[line] = true;
    build_pattern_line(work, line);
  }
  return scratch_->pattern[line].data();
}

// Returns the source bytes of a chunk. Null: stopped.
const std::byte* Blitter::color_source(Work& work, uint64_t line, uint32_t at, uint32_t bytes) {
  Pieces& pieces = scratch_->source_pieces;
  const uint64_t y = static_cast<uint64_t>(work.place.source_y) + line;
  if (!work.source.find(work.source_x_B + at, y, bytes, pieces)) {
    work.stopped = true;
    return nullptr;
  }
  const Pieces& target = scratch_->destination_pieces;
  if (pieces.whole() && target.whole() && !share_memory(pieces.list[0].bytes, target.list[0].bytes, bytes)) {
    return pieces.list[0].bytes;
  }
  gather(pieces, scratch_->source.data());
  return scratch_->source.data();
}

// Loads the bits of a chunk into the scratch buffer; `first` is the bit position of the first in its byte.
bool Blitter::find_mono_bits(Work& work, uint64_t line, uint32_t at, uint32_t bytes, unsigned& first) {
  const MonoSource& mono = work.job.mono;
  const uint64_t bit =
      (work.place.skip_y + line) * work.mono_bits + mono.start + work.place.skip_x + at / work.job.pixel_B;
  first = bit % 8;
  const size_t count = (first + bytes / work.job.pixel_B + 7) / 8;
  const std::span<std::byte> into = std::span(scratch_->bits).first(count);
  if (!mono.is_immediate) {
    return ok(work.space.read(wrapped_address((mono.address + bit / 8) & work.job.address_mask), into));
  }
  const std::span<const std::byte> given = std::as_bytes(mono.immediate);
  const uint64_t from = std::min<uint64_t>(bit / 8, given.size());
  const size_t present = std::min(given.size() - from, count);
  std::memcpy(into.data(), given.data() + from, present);
  std::memset(into.data() + present, 0, count - present);
  return true;
}

// Computes which bytes of a chunk are written.
void Blitter::build_mask(const Work& work, const std::byte* pattern, uint32_t bytes, const std::byte* source,
                         const std::byte* destination, unsigned first_bit) {
  const BlitJob& job = work.job;
  std::byte* const mask = scratch_->mask.data();
  const size_t pixels = bytes / job.pixel_B;
  if (work.mono_source && job.mono.transparent) {
    expand_mono(mask, scratch_->bits.data(), first_bit, pixels, job.pixel_B, {0, ~0u});
  } else {
    std::memset(mask, 0xff, bytes);
  }
  if (work.pattern_transparent) {
    for (uint32_t i = 0; i < bytes; ++i) {
      mask[i] &= pattern[i];
    }
  }
  if (keys_source(job.key_mode) && source != nullptr) {
    apply_key(job, source, pixels, mask);
  } else if (keys_destination(job.key_mode)) {
    apply_key(job, destination, pixels, mask);
  }
  if (work.partial_mask) {
    const uint32_t written = (job.byte_mask == hw::BltByteMask::RGB ? kRgbMask : ~kRgbMask);
    std::array<std::byte, 4> lanes;
    std::memcpy(lanes.data(), &written, sizeof(written));
    for (uint32_t i = 0; i < bytes; ++i) {
      mask[i] &= lanes[i % 4];
    }
  }
}

bool Blitter::run_chunk(Work& work, uint64_t line, uint32_t at, uint32_t bytes) {
  Scratch& s = *scratch_;
  const BlitJob& job = work.job;
  const uint64_t y = static_cast<uint64_t>(work.place.rect.y1) + line;
  if (!work.destination.find(work.x_B + at, y, bytes, s.destination_pieces)) {
    return false;
  }
  const std::byte* source = s.zero.data();
  const std::byte* key_source = nullptr;
  unsigned first_bit = 0;
  if (work.reads_source) {
    source = key_source = color_source(work, line, at, bytes);
    if (work.stopped) {
      return false;
    }
  } else if (work.reads_bits) {
    if (!find_mono_bits(work, line, at, bytes, first_bit)) {
      return false;
    }
    if (use_fast_paths_ && job.rop == kRopSource && s.destination_pieces.whole()) {
      std::byte* const to = s.destination_pieces.list[0].bytes;
      if (!work.masked) {
        expand_mono(to, s.bits.data(), first_bit, bytes / job.pixel_B, job.pixel_B, job.mono.colors);
        return true;
      }
      if (work.only_bits_mask) {
        expand_mono_over(to, s.bits.data(), first_bit, bytes / job.pixel_B, job.pixel_B, job.mono.colors.foreground);
        return true;
      }
    }
    if (work.uses_source) {
      expand_mono(s.source.data(), s.bits.data(), first_bit, bytes / job.pixel_B, job.pixel_B, job.mono.colors);
      source = s.source.data();
    }
  }
  const auto pattern_row = static_cast<unsigned>((y + job.pattern.y_seed) % kPatternSide);
  const std::byte* const pattern =
      work.uses_pattern || work.pattern_transparent ? pattern_line(work, pattern_row) + at % kChunk_B : nullptr;

  const Pieces& pieces = s.destination_pieces;
  const bool in_place = pieces.whole();
  std::byte* destination = in_place ? pieces.list[0].bytes : s.destination.data();
  if (!in_place && (work.uses_destination || work.masked)) {
    gather(pieces, destination);
  }
  if (!work.masked) {
    std::byte* const out = in_place ? destination : s.out.data();
    work.kernel(out, source, pattern, destination, bytes);
    if (!in_place) {
      scatter(pieces, out);
    }
    return true;
  }
  work.kernel(s.out.data(), source, pattern, destination, bytes);
  build_mask(work, s.pattern_mask[pattern_row].data() + at % kChunk_B, bytes, key_source, destination, first_bit);
  // D xor ((out xor D) and mask): a raster operation with the mask as pattern.
  constexpr uint8_t kSelect = 0xca;
  rop_kernel(kSelect)(destination, s.out.data(), s.mask.data(), destination, bytes);
  if (!in_place) {
    scatter(pieces, destination);
  }
  return true;
}

// Returns whether pixels of this line would be read after they were overwritten.
bool Blitter::overwrites_source(const Work& work, uint64_t line) const {
  if (!work.reads_source) {
    return false;
  }
  const BlitJob& job = work.job;
  const uint64_t y = static_cast<uint64_t>(work.place.rect.y1) + line;
  const uint64_t source_y = static_cast<uint64_t>(work.place.source_y) + line;
  const AddressRange to = work.destination.range_of(work.x_B, y, work.line_B);
  const AddressRange from = work.source.range_of(work.source_x_B, source_y, work.line_B);
  if (!to.meets(from, job.address_mask)) {
    return false;
  }
  if (job.destination.tile == nullptr && job.source_surface.tile == nullptr) {
    const AddressRange& behind = job.x_backward ? to : from;
    const AddressRange& ahead = job.x_backward ? from : to;
    const uint64_t distance = (ahead.first - behind.first) & job.address_mask;
    return distance != 0 && distance < behind.bytes;
  }
  // Tiled: within one surface the direction is safe; any other overlap is done pixel by pixel.
  return job.destination != job.source_surface;
}

// Draws a scan line in chunks. False: a fault stopped it, or the part is done.
bool Blitter::run_line(Work& work, uint64_t line, Progress& progress, Outcome& outcome) {
  const uint32_t chunk_B = overwrites_source(work, line) ? work.job.pixel_B : kChunk_B;
  const uint64_t chunks = (work.line_B + chunk_B - 1) / chunk_B;
  for (; progress.chunks < chunks; ++progress.chunks) {
    if (work.left_B == 0) {
      outcome.end = WorkEnd::unfinished;
      return false;
    }
    const uint64_t number = work.job.x_backward ? chunks - 1 - progress.chunks : progress.chunks;
    const auto at = static_cast<uint32_t>(number * chunk_B);
    const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(work.line_B - at, chunk_B));
    if (!run_chunk(work, line, at, bytes)) {
      outcome.end = WorkEnd::fault;
      return false;
    }
    outcome.bytes += bytes;
    work.use_up(bytes, 1);
  }
  progress.chunks = 0;
  return true;
}

// Draws whole lines, from the first line down. False: not applicable to the job.
bool Blitter::run_fast(Work& work, Progress& progress, Outcome& outcome) {
  constexpr uint64_t kRowOfTiles = 32;  // the maximum number of lines in a row of tiles: parts end between two rows
  const uint64_t height = work.place.height();
  const auto y = static_cast<uint64_t>(work.place.rect.y1);
  const auto source_y = static_cast<uint64_t>(work.place.source_y);
  FastLines fast(work.destination, work.source, work.x_B, work.source_x_B, work.line_B);
  const bool overlaps = work.destination.overlaps_itself(work.x_B, y, work.line_B, height);
  if ((overlaps && (work.job.x_backward || work.job.y_backward)) || !fast.choose(work.job, height, overlaps)) {
    return false;
  }
  while (progress.lines < height) {
    if (work.left_B == 0) {
      outcome.end = WorkEnd::unfinished;
      break;
    }
    uint64_t lines = std::max<uint64_t>(work.left_B / (work.line_B + kStep_B), 1);
    if (lines < height - progress.lines && lines > kRowOfTiles) {
      lines -= (y + progress.lines + lines) % kRowOfTiles;
      work.left_B = lines * (work.line_B + kStep_B);
    }
    lines = fast.run(y + progress.lines, source_y + progress.lines, std::min(lines, height - progress.lines));
    if (lines == 0) {
      outcome.end = WorkEnd::fault;
      break;
    }
    progress.lines += static_cast<uint32_t>(lines);
    outcome.bytes += lines * work.line_B;
    work.use_up(lines * work.line_B, lines);
  }
  return true;
}

Outcome Blitter::run(memory::AddressSpace& space, const BlitJob& job, Progress& progress) {
  Outcome outcome;
  const std::optional<Placement> placement = place(job);
  const bool no_bytes = job.pixel_B == 4 && !job.is_wide_command && job.byte_mask == hw::BltByteMask::NONE;
  const bool no_pixels = job.pattern.kind == PatternKind::mono && job.pattern.solid_select && job.pattern.transparent;
  if (!placement || no_bytes || no_pixels || job.pixel_B == 0) {
    return outcome;
  }
  const uint64_t height = placement->height();
  const uint64_t first = progress.lines;
  Work work(space, job, *placement);
  const auto y = static_cast<uint64_t>(placement->rect.y1);
  const AddressRange to = work.destination.range_of(work.x_B, y, work.line_B, height);
  const auto source_y = static_cast<uint64_t>(placement->source_y);
  const bool meets = work.reads_source &&
                     to.meets(work.source.range_of(work.source_x_B, source_y, work.line_B, height), job.address_mask);
  bool upward = false;
  if (!use_fast_paths_ || work.masked || progress.chunks != 0 || meets || !run_fast(work, progress, outcome)) {
    upward = job.y_backward;
    outcome.end = load_pattern(work, progress) ? WorkEnd::finished : WorkEnd::fault;
    while (progress.lines < height && outcome.end == WorkEnd::finished) {
      if (run_line(work, upward ? height - 1 - progress.lines : progress.lines, progress, outcome)) {
        ++progress.lines;
      }
    }
  }
  if (first < height) {  // else the guest has changed the command meanwhile
    const uint64_t end = std::min<uint64_t>(height, uint64_t{progress.lines} + 1);
    outcome.lines = static_cast<uint32_t>(end - first);
    outcome.first_line = static_cast<uint32_t>(y + (upward ? height - end : first));
  }
  return outcome;
}

}  // namespace halogen::blit
