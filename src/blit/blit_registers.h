// What a command leaves in the registers BR00 to BR26 (seed 003 8.10): the last command, seen through the registers'
// layout. Working registers keep the values that they were loaded with; what the engine counts in them while it draws
// cannot be seen.
#pragma once

#include "blit/blit_commands.h"
#include "blit/blit_job.h"
#include "blit/blit_state.h"

namespace halogen::blit {

// Bit 31 of BR00: a command is begun and not done.
void set_busy(BlitState& state, bool busy);

class Recorder {
 public:
  // `job` is null for setup commands.
  void record(const BlitCommand& command, const BlitJob* job, BlitState& state);

 private:
  // BR00 and BR13 follow from these; commands come in runs of the same kind.
  struct Key {
    uint32_t header = 0;  // no command has zero
    uint32_t control = 0;
    uint32_t setup_control = 0;
    bool mono_pattern = false;
    bool tile_y = false;
    bool operator==(const Key&) const = default;
  };
  Key last_;
  uint64_t br00_ = 0;
  uint64_t br13_ = 0;
};

}  // namespace halogen::blit
