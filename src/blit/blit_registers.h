// The values of registers BR00 to BR26 after a command (G45 PRM vol. 1b 8.10, seed 003): the last command in the layout
// of the registers. Working registers keep the values that they were loaded with; the engine's counting in them is not
// visible.
#pragma once

#include "blit/blit_commands.h"
#include "blit/blit_job.h"
#include "blit/blit_state.h"

namespace halogen::blit {

// Sets bit 31 of BR00: a command has begun and is not complete.
void set_busy(BlitState& state, bool busy);

class Recorder {
 public:
  // `job` is null for setup commands.
  void record(const BlitCommand& command, const BlitJob* job, BlitState& state);

 private:
  // BR00 and BR13 follow from these values; commands often come in runs of one kind.
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
