// The BLT engine behind a streamer: the render ring of Gen4, a ring of its own later. src/blit does the work; here it
// gets its memory, its registers (BCS_SWCTRL, BR16) and its place in virtual time, and its faults stop the streamer. A
// long BLT is done in parts, and other engines go on between them; its own streamer does nothing else meanwhile.
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
