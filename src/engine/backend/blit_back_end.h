// The BLT engine behind a streamer: the render ring on Gen4, a ring of its own on later chips. src/blit does the work.
// The back end provides memory and registers (BCS_SWCTRL, BR16), accounts for virtual time, and stops the streamer at
// faults. A long BLT is done in parts (long_command.h).
#pragma once

#include "blit/blit_registers.h"
#include "blit/blitter.h"
#include "engine/backend/back_end.h"

namespace halogen::engine {

class BlitBackEnd final : public BackEnd {
 public:
  Next execute(Engine& engine, const Command& command) override;

 private:
  blit::Blitter blitter_;
  blit::Recorder recorder_;
};

}  // namespace halogen::engine
