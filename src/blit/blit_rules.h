// The manual's rules for software that programs a BLT, and the reaction to a job that breaks a rule: some mistakes hang
// the engine, all others are executed as far as possible and reported (docs/requirements/g45.md, the R rows of 8).
// Absent operands count as zero. Which memory may be cacheable (8.5) needs page tables: engine/backend/blit_memory.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "blit/blit_commands.h"
#include "blit/blit_job.h"
#include "blit/blit_state.h"

namespace halogen::blit {

enum class Rule : uint8_t {
  even_immediate,     // immediate data has an even number of dwords; hangs
  enough_immediate,   // ... and as many as the rectangle needs; hangs
  exact_immediate,    // ... and not more
  short_immediate,    // ... and at most 128 bytes for a monochrome source
  pattern_immediate,  // 16, 32 or 64 dwords of a colour pattern, by depth; too few hang
  forward_pitch,      // no negative pitch for PIXEL and TEXT
  no_source,          // the operation uses a source that the command does not have
  no_pattern,         // ... or a pattern
  uses_source,        // a source copy must use its source
  pattern_alone,      // F0 with a colour source
  mono_width,         // at most 32,745 pixels of a monochrome source
  line_bytes,         // at most 32,768 bytes of a scan line
  key_without_source,
  tiled_base,        // a tiled surface begins at a page
  tiled_pitch,       // its pitch is a whole number of tiles
  dword_pitch,       // a linear colour surface has a pitch of whole dwords
  aligned_pattern,   // a colour pattern begins at a multiple of its size
  aligned_mono,      // lines of a monochrome source begin at words
  fixed_pattern,     // a reserved fixed pattern number
  setup_tiling,      // setup and drawing command disagree on tiling
  mono_overlap,      // a monochrome source overlaps its destination
  coherent_overlap,  // overlapping surfaces need the same base and pitches of whole cache lines
  wide_depth,        // a reserved pixel size of the Gen9 and Gen12 commands
  wide_coordinates,  // negative coordinates without clipping
  wide_tiling,       // a reserved tile mode of the Gen9 and Gen12 commands
};
inline constexpr unsigned kRules = 25;

std::string_view text_of(Rule rule);

class BrokenRules {
 public:
  void add(Rule rule) { bits_ |= 1u << static_cast<unsigned>(rule); }
  bool has(Rule rule) const { return (bits_ >> static_cast<unsigned>(rule) & 1) != 0; }
  bool any() const { return bits_ != 0; }
  bool hangs() const;

 private:
  uint32_t bits_ = 0;
};

BrokenRules check_rules(const BlitCommand& command, const BlitJob& job, const BlitState& state);

// Returns the bytes of a job's monochrome source in the stream.
uint64_t needed_immediate_B(const BlitJob& job);

}  // namespace halogen::blit
