// How a part of a long piece of work (a blit, a dispatch, a draw) ended.
#pragma once

#include <cstdint>

namespace halogen {

enum class WorkEnd : uint8_t {
  finished,
  unfinished,  // the part is done, the work is not
  fault,       // memory refused an access; the work can continue where it stopped
  illegal,     // a thread executed an illegal instruction
  endless,     // a thread does not end
  deadlock,    // every thread waits for another one
  stopped,     // a stop was demanded (base/stop_flag.h) where the work cannot continue later
};

}  // namespace halogen
