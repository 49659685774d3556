// Scan lines that are only filled with one colour or copied, directly between host bytes. Only for jobs whose source
// and destination do not overlap, so that a line that a fault stopped can be done again. If page tables map both to one
// page, pieces are copied as the general path copies its chunks. Large jobs use streaming stores. The general path
// (blitter.h) gives the same result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "blit/blit_job.h"
#include "blit/surface_rows.h"

namespace halogen::blit {

class FastLines {
 public:
  FastLines(SurfaceRows& destination, SurfaceRows& source, uint64_t x_B, uint64_t source_x_B, uint64_t line_B)
      : destination_(destination), source_(source), x_B_(x_B), source_x_B_(source_x_B), line_B_(line_B) {}
  ~FastLines();
  FastLines(const FastLines&) = delete;
  FastLines& operator=(const FastLines&) = delete;

  // Chooses the routine for a job. False: the job is neither a fill nor a copy. `overlaps`: lines of the destination
  // may overlap each other.
  bool choose(const BlitJob& job, uint64_t lines, bool overlaps);
  // Draws one or more lines and returns their number. 0: stopped by a fault.
  uint64_t run(uint64_t y, uint64_t source_y, uint64_t lines);

 private:
  uint64_t run_short(uint64_t y, uint64_t source_y, uint64_t lines);
  bool fill(uint64_t y, uint64_t bytes);
  bool copy(uint64_t y, uint64_t source_y, uint64_t bytes);
  void copy_piece(std::byte* to, const std::byte* from, uint64_t bytes) const;
  uint64_t copy_tiles(uint64_t y, uint64_t source_y, uint64_t lines);

  SurfaceRows& destination_;
  SurfaceRows& source_;
  uint64_t x_B_;
  uint64_t source_x_B_;
  uint64_t line_B_;
  bool copies_ = false;
  bool streams_ = false;
  bool short_ = false;     // short lines of linear surfaces
  bool in_order_ = false;  // a line is complete before the next begins
  bool joins_ = false;     // lines are contiguous and are drawn as one
  const surface::TilePattern* target_tile_ = nullptr;
  const surface::TilePattern* source_tile_ = nullptr;
  std::array<std::byte, 32> color_;  // sixteen bytes, twice
};

}  // namespace halogen::blit
