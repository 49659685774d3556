// What the manual asks of software that programs a BLT, and what becomes of a job that breaks it: some mistakes hang
// the engine, all others are done as well as they can and reported (docs/requirements/g45.md, the R rows of 8). Absent
// operands count as zero. Left out: which memory may be cacheable (8.5): caches are not modelled.
#pragma once

#include <cstdint>
#include <string_view>

#include "blit/blit_commands.h"
#include "blit/blit_job.h"
#include "blit/blit_state.h"

namespace halogen::blit {

enum class Rule : uint8_t {
  even_immediate,     // data in the stream come in quadwords; hangs
  enough_immediate,   // ... and there must be as many as the rectangle needs; hangs
  exact_immediate,    // ... and no more
  short_immediate,    // ... and no more than 128 bytes of a monochrome source
  pattern_immediate,  // 16, 32 or 64 dwords of a colour pattern, by depth; too few hang
  forward_pitch,      // no negative pitch for PIXEL and TEXT
  no_source,          // the operation uses a source that the command does not have
  no_pattern,         // ... or a pattern
  uses_source,        // a source copy must use its source
  pattern_alone,      // F0 with a colour source
  mono_width,         // 32,745 pixels of a monochrome source
  line_bytes,         // 32,768 bytes of a scan line
  key_without_source,
  tiled_base,        // a tiled surface begins at a page
  tiled_pitch,       // its pitch is a whole number of tiles
  dword_pitch,       // a linear colour surface has a pitch of whole dwords
  aligned_pattern,   // a colour pattern begins at a multiple of its size
  aligned_mono,      // lines of a monochrome source begin at words
  fixed_pattern,     // a number that is reserved
  setup_tiling,      // setup and its user disagree about tiling
  mono_overlap,      // a monochrome source in its own destination
  coherent_overlap,  // surfaces that meet: same base, pitches of whole cache lines
  wide_depth,        // a reserved pixel size of the later copies
  wide_coordinates,  // negative ones, where nothing clips
  wide_tiling,       // a reserved tile mode of the later copies
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

// Bytes that the monochrome source of a job has in the stream.
uint64_t needed_immediate_B(const BlitJob& job);

}  // namespace halogen::blit
