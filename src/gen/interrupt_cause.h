// The causes for which an engine or a display can interrupt. The interrupt unit (interrupt/) maps each cause to a bit
// of a register of the chip.
#pragma once

#include <cstdint>

namespace halogen {

enum class EngineCause : uint8_t {
  user,          // MI_USER_INTERRUPT
  notify,        // a flush command with its notify bit
  sync_status,   // Gen4: a sync flush is done (toggles)
  master_error,  // level: an unmasked error is pending
  page_fault,    // level
  context_switch,
  semaphore_wait,  // a semaphore was not signalled
  watchdog,
  l3_parity,
  debug,
};

enum class DisplayCause : uint8_t { vblank, hblank, line_compare, flip_done, overlay_flip, underrun };

}  // namespace halogen
