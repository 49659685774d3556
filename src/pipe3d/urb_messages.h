// Messages to the URB: a channel writes to or reads from the entry of its own handle.
#pragma once

#include "eu/exec/message.h"
#include "eu/isa/messages.h"
#include "pipe3d/urb.h"

namespace halogen::pipe3d {

// Handles below the number of `output` entries plus kInputHandles name output entries; those of input entries have
// kInputHandles added.
inline constexpr uint32_t kInputHandles = 0x8000'0000;

// False: no message that the URB does.
bool send_to_urb(const eu::Message& message, const eu::MessageControl& control, Urb* input, Urb& output);

}  // namespace halogen::pipe3d
