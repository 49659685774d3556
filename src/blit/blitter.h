// Executes a job scan line by scan line, each in chunks. Destination and operands of a chunk are translated first, so
// that a fault changes nothing in the chunk; then the operands are combined and the result is written.
//
// Order: as if single pixels were read and written in the job's direction. The order is visible if source and
// destination overlap; a line that would be read after it was overwritten is done in chunks of one pixel. Two graphics
// addresses of one page are not detected. Patterns are read once, before the first pixel.
//
// Masked pixels are written with their old value.
//
// A large job is done in parts: other clients of the memory may work between two parts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/work_end.h"
#include "blit/blit_job.h"
#include "blit/blit_place.h"
#include "blit/blit_state.h"
#include "blit/raster_op.h"
#include "blit/surface_rows.h"
#include "memory/address_space.h"

namespace halogen::blit {

// The budget of one part in bytes. Each line or chunk costs its destination bytes plus kStep_B.
inline constexpr uint64_t kPart_B = 1 << 20;
inline constexpr uint64_t kStep_B = 64;

struct Outcome {
  WorkEnd end = WorkEnd::finished;  // if not finished, `progress` holds where the work resumes
  uint64_t bytes = 0;               // bytes of the destination
  uint32_t first_line = 0;          // first destination line that may have been written
  uint32_t lines = 0;
};

class Blitter {
 public:
  Blitter();

  // Executes one part. `progress` says where the part begins and, afterwards, where it stopped.
  Outcome run(memory::AddressSpace& space, const BlitJob& job, Progress& progress);
  // For tests: runs every job through the general path.
  void set_fast_paths(bool use) { use_fast_paths_ = use; }

 private:
  // Fixed buffers for one chunk of every operand.
  struct Scratch {
    alignas(64) std::array<std::byte, kChunk_B> source;
    alignas(64) std::array<std::byte, kChunk_B> destination;
    alignas(64) std::array<std::byte, kChunk_B> out;
    alignas(64) std::array<std::byte, kChunk_B> mask;
    alignas(64) std::array<std::byte, kChunk_B / 8 + 16> bits;
    alignas(64) std::array<std::byte, kChunk_B> zero;
    alignas(64) std::array<std::array<std::byte, kChunk_B>, 8> pattern;       // lines of the pattern, repeated
    alignas(64) std::array<std::array<std::byte, kChunk_B>, 8> pattern_mask;  // of a transparent pattern
    Pieces destination_pieces;
    Pieces source_pieces;
  };
  // A running job.
  struct Work;

  bool load_pattern(Work& work, Progress& progress);
  void build_pattern_line(const Work& work, unsigned line);
  const std::byte* pattern_line(Work& work, unsigned line);
  bool run_chunk(Work& work, uint64_t line, uint32_t at, uint32_t bytes);
  const std::byte* color_source(Work& work, uint64_t line, uint32_t at, uint32_t bytes);
  bool find_mono_bits(Work& work, uint64_t line, uint32_t at, uint32_t bytes, unsigned& first);
  void build_mask(const Work& work, const std::byte* pattern, uint32_t bytes, const std::byte* source,
                  const std::byte* destination, unsigned first_bit);
  bool overwrites_source(const Work& work, uint64_t line) const;
  bool run_line(Work& work, uint64_t line, Progress& progress, Outcome& outcome);
  bool run_fast(Work& work, Progress& progress, Outcome& outcome);

  std::unique_ptr<Scratch> scratch_;
  bool use_fast_paths_ = true;
};

}  // namespace halogen::blit
