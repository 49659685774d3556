#include "blit/blit_rules.h"

#include <algorithm>

#include "blit/blit_place.h"
#include "blit/chroma_key.h"
#include "blit/mono_source.h"
#include "blit/raster_op.h"
#include "hw/blt.h"
#include "spec/item_ids.h"  // generated

namespace halogen::blit {
namespace {

using spec::CommandId;

constexpr uint64_t kQword = 8;
constexpr uint64_t kMaxImmediate_B = 128;
constexpr int64_t kMaxMonoPixels = 32745;
constexpr int64_t kMaxLine_B = 32768;
constexpr int64_t kCacheLine = 64;

bool is_text(CommandId id) {
  return id == CommandId::XY_TEXT_BLT || id == CommandId::XY_TEXT_IMMEDIATE_BLT;
}

bool is_source_copy(CommandId id) {
  return id == CommandId::SRC_COPY_BLT || id == CommandId::XY_SRC_COPY_BLT || id == CommandId::XY_SRC_COPY_CHROMA_BLT ||
         id == CommandId::XY_MONO_SRC_COPY_BLT || id == CommandId::XY_MONO_SRC_COPY_IMMEDIATE_BLT;
}

bool is_setup_user(CommandId id) {
  return is_text(id) || id == CommandId::XY_PIXEL_BLT || id == CommandId::XY_SCANLINES_BLT;
}

void check_immediate(const BlitJob& job, BrokenRules& broken) {
  if (job.pattern.is_immediate) {
    const size_t expected = size_t{16} * job.pixel_B;  // 64 pixels
    if (job.pattern.immediate.size() != expected) {
      broken.add(Rule::pattern_immediate);
      if (job.pattern.immediate.size() < expected) {
        broken.add(Rule::enough_immediate);
      } else if (job.pattern.immediate.size() % 2 != 0) {
        broken.add(Rule::even_immediate);
      }
    }
  }
  if (!job.mono.is_immediate) {
    return;
  }
  const uint64_t given = job.mono.immediate.size_bytes();
  const uint64_t needed = needed_immediate_B(job);
  if (given % kQword != 0) {
    broken.add(Rule::even_immediate);
  } else if (given < needed) {
    broken.add(Rule::enough_immediate);
  } else if (given > needed) {
    broken.add(Rule::exact_immediate);
  }
  if (given > kMaxImmediate_B) {
    broken.add(Rule::short_immediate);
  }
}

void check_operation(CommandId id, const BlitJob& job, BrokenRules& broken) {
  const bool has_source = job.source != SourceKind::none;
  const bool has_pattern = job.pattern.kind != PatternKind::none;
  if (rop_uses_source(job.rop) && !has_source) {
    broken.add(Rule::no_source);
  }
  if (rop_uses_pattern(job.rop) && !has_pattern) {
    broken.add(Rule::no_pattern);
  }
  if (is_source_copy(id) && !rop_uses_source(job.rop)) {
    broken.add(Rule::uses_source);
  }
  if (job.rop == kRopPattern && job.source == SourceKind::color) {
    broken.add(Rule::pattern_alone);
  }
  if (keys_source(job.key_mode) && !has_source) {
    broken.add(Rule::key_without_source);
  }
}

void check_surface(const Surface& surface, BrokenRules& broken) {
  if (surface.tile != nullptr) {
    if (surface.pitch_B % static_cast<int64_t>(surface.tile->pitch_width_B) != 0 || surface.pitch_B == 0) {
      broken.add(Rule::tiled_pitch);
    }
  } else if (surface.pitch_B % 4 != 0) {
    broken.add(Rule::dword_pitch);
  }
}

void check_pattern(const BlitCommand& command, const BlitJob& job, BrokenRules& broken) {
  if (job.pattern.kind == PatternKind::color && !job.pattern.is_immediate &&
      job.pattern.address % (uint64_t{64} * job.pixel_B) != 0) {
    broken.add(Rule::aligned_pattern);
  }
  if (command.desc.id == CommandId::XY_MONO_PAT_FIXED_BLT &&
      !fixed_pattern(hw::XY_MONO_PAT_FIXED_BLT::unpack(command.gen, command.dwords).fixed_pattern)) {
    broken.add(Rule::fixed_pattern);
  }
}

// Returns the address range of a linear rectangle.
AddressRange span_of(const Surface& surface, int64_t x_B, int64_t y, int64_t width_B, int64_t lines) {
  const int64_t a = y * surface.pitch_B;
  const int64_t b = (y + lines - 1) * surface.pitch_B;
  return {surface.base + static_cast<uint64_t>(std::min(a, b) + x_B),
          static_cast<uint64_t>(std::max(a, b) - std::min(a, b) + width_B)};
}

// Returns the cache lines of a range.
AddressRange cache_lines(const AddressRange& range) {
  constexpr auto kInside = static_cast<uint64_t>(kCacheLine - 1);
  const uint64_t first = range.first & ~kInside;
  return {first, ((range.first + range.bytes + kInside) & ~kInside) - first};
}

// Returns whether the forbidden condition holds (G45 PRM vol. 1b 8.7.1, seed 003), for commands without bases: a cache
// line of source line Y is also in destination line Y-1, with pitches that are not whole cache lines.
bool is_crooked_overlap(const BlitJob& job, int64_t width_B, int64_t lines) {
  if (job.destination.pitch_B % kCacheLine == 0 && job.source_surface.pitch_B % kCacheLine == 0) {
    return false;
  }
  for (int64_t y = 1; y < lines; ++y) {
    const AddressRange from = cache_lines(span_of(job.source_surface, 0, y, width_B, 1));
    if (from.meets(cache_lines(span_of(job.destination, 0, y - 1, width_B, 1)), job.address_mask)) {
      return true;
    }
  }
  return false;
}

// Checks linear surfaces only: the manual gives no rule for tiled ones.
void check_overlap(const BlitJob& job, const Placement& where, BrokenRules& broken) {
  if (job.destination.tile != nullptr || job.source_surface.tile != nullptr || job.source == SourceKind::none) {
    return;
  }
  const int64_t unit = job.linear_command ? 1 : job.pixel_B;
  const auto width = static_cast<int64_t>(where.width()) * unit;
  const auto lines = static_cast<int64_t>(where.height());
  const AddressRange to = span_of(job.destination, where.rect.x1 * unit, where.rect.y1, width, lines);
  if (job.source == SourceKind::mono) {
    if (!job.mono.is_immediate) {
      const uint64_t line_bits = mono_line_bits(job.mono, static_cast<uint64_t>(job.rect.x2 - job.rect.x1));
      const uint64_t skipped_B = where.skip_y * line_bits / 8;
      const AddressRange from{job.mono.address + skipped_B,
                              ((where.skip_y + where.height()) * line_bits + 7) / 8 - skipped_B};
      if (to.meets(from, job.address_mask)) {
        broken.add(Rule::mono_overlap);
      }
    }
    return;
  }
  const AddressRange from = span_of(job.source_surface, where.source_x * unit, where.source_y, width, lines);
  const bool coherent = job.destination.base == job.source_surface.base && job.destination.pitch_B % kCacheLine == 0 &&
                        job.source_surface.pitch_B % kCacheLine == 0;
  if (job.linear_command ? is_crooked_overlap(job, width, lines) : to.meets(from, job.address_mask) && !coherent) {
    broken.add(Rule::coherent_overlap);
  }
}

void check_size(CommandId id, const BlitJob& job, BrokenRules& broken) {
  const int64_t width = int64_t{job.rect.x2} - job.rect.x1;
  if (job.source == SourceKind::mono && width > kMaxMonoPixels) {
    broken.add(Rule::mono_width);
  }
  if (!job.is_wide_command && width * (job.linear_command ? 1 : job.pixel_B) > kMaxLine_B) {
    broken.add(Rule::line_bytes);
  }
  if ((is_text(id) || id == CommandId::XY_PIXEL_BLT) && job.destination.pitch_B < 0) {
    broken.add(Rule::forward_pitch);
  }
  if (job.is_wide_command) {
    if (job.pixel_B == 0) {
      broken.add(Rule::wide_depth);
    }
    if (job.rect.x1 < 0 || job.rect.y1 < 0 || job.source_x < 0 || job.source_y < 0) {
      broken.add(Rule::wide_coordinates);
    }
    if (job.reserved_tiling) {
      broken.add(Rule::wide_tiling);
    }
  }
}

}  // namespace

std::string_view text_of(Rule rule) {
  switch (rule) {
    case Rule::even_immediate:
      return "odd number of data dwords; the engine waits for the rest of a quadword";
    case Rule::enough_immediate:
      return "less data than the rectangle needs; the engine waits for the rest";
    case Rule::exact_immediate:
      return "more data than the rectangle needs; the rest is ignored";
    case Rule::short_immediate:
      return "more than 128 bytes of immediate data";
    case Rule::pattern_immediate:
      return "size of an immediate pattern is not 64 pixels";
    case Rule::forward_pitch:
      return "negative pitch not allowed for the command";
    case Rule::no_source:
      return "raster operation uses a source that the command does not have; zero is used";
    case Rule::no_pattern:
      return "raster operation uses a pattern that the command does not have; zero is used";
    case Rule::uses_source:
      return "raster operation of a source copy does not use the source";
    case Rule::pattern_alone:
      return "raster operation F0 with a colour source";
    case Rule::mono_width:
      return "monochrome source wider than 32,745 pixels";
    case Rule::line_bytes:
      return "scan line longer than 32,768 bytes";
    case Rule::key_without_source:
      return "chroma key of a source that the command does not have; the key is ignored";
    case Rule::tiled_base:
      return "tiled surface not aligned to 4 KB; the low address bits are ignored";
    case Rule::tiled_pitch:
      return "pitch of a tiled surface not a whole number of tiles";
    case Rule::dword_pitch:
      return "pitch of a linear surface not a multiple of four bytes";
    case Rule::aligned_pattern:
      return "colour pattern not aligned to its size";
    case Rule::aligned_mono:
      return "monochrome source not aligned to a word";
    case Rule::fixed_pattern:
      return "reserved fixed pattern number; zeros are used";
    case Rule::setup_tiling:
      return "tiling bits of setup and drawing command differ; the drawing command's bit is used";
    case Rule::mono_overlap:
      return "monochrome source overlaps the destination";
    case Rule::coherent_overlap:
      return "source and destination overlap without the same base and pitches of whole cache lines";
    case Rule::wide_depth:
      return "reserved pixel size; nothing is drawn";
    case Rule::wide_coordinates:
      return "negative coordinates in a command without clipping";
    case Rule::wide_tiling:
      return "reserved tile mode; tile Y is used";
  }
  return {};
}

bool BrokenRules::hangs() const {
  return has(Rule::even_immediate) || has(Rule::enough_immediate);
}

uint64_t needed_immediate_B(const BlitJob& job) {
  if (job.rect.empty()) {
    return 0;
  }
  const auto width = static_cast<uint64_t>(job.rect.x2 - job.rect.x1);
  const auto lines = static_cast<uint64_t>(job.rect.y2 - job.rect.y1);
  const uint64_t bytes = (lines * mono_line_bits(job.mono, width) + 7) / 8;
  return (bytes + kQword - 1) / kQword * kQword;
}

BrokenRules check_rules(const BlitCommand& command, const BlitJob& job, const BlitState& state) {
  BrokenRules broken;
  const CommandId id = command.desc.id;
  check_immediate(job, broken);
  check_operation(id, job, broken);
  check_surface(job.destination, broken);
  if (job.source == SourceKind::color) {
    check_surface(job.source_surface, broken);
  }
  if (job.tiled_base_is_odd) {
    broken.add(Rule::tiled_base);
  }
  if (job.source == SourceKind::mono && !job.mono.is_immediate && job.mono.packing == Packing::word &&
      job.mono.address % 2 != 0) {
    broken.add(Rule::aligned_mono);
  }
  check_pattern(command, job, broken);
  check_size(id, job, broken);
  if (is_setup_user(id) && state.setup.tiled != (job.destination.tile != nullptr)) {
    broken.add(Rule::setup_tiling);
  }
  if (const std::optional<Placement> where = place(job)) {
    check_overlap(job, *where, broken);
  }
  return broken;
}

}  // namespace halogen::blit
