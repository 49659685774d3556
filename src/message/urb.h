// Interfaces through which URB and pixel messages reach the pipeline. The pipeline owns URB entries. A handle is a
// number that it puts into a thread's payload.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "eu/exec/message.h"
#include "eu/message_fields.h"
#include "eu/thread.h"
#include "hw/message_headers.h"

namespace halogen::message {

// A URB write of Gen4 to Gen6, after its data are in the entries.
struct UrbWrite {
  hw::URB_WRITE_HEADER header{};
  bool used = false;      // the entry is used; otherwise it is freed
  bool complete = false;  // the last write to the entry
  bool end_of_thread = false;
};

class Urb {
 public:
  virtual ~Urb() = default;
  // Returns the dwords of an entry. Empty: the handle does not exist. Reads outside return zero, writes outside are
  // dropped.
  virtual std::span<uint32_t> entry(eu::Thread& thread, uint32_t handle) = 0;
  // Gen4 to Gen6: returns a new entry for a thread that requests one (allocate, FF_SYNC). `primitives` comes from the
  // header of FF_SYNC.
  virtual uint32_t allocate(eu::Thread& /*thread*/, uint32_t /*primitives*/) { return 0; }
  // Gen6: handles the stream counts of FF_SYNC. Returns the next index of each stream.
  virtual std::array<uint32_t, 4> synchronise(eu::Thread& /*thread*/, const hw::FF_SYNC_HEADER& /*header*/) {
    return {};
  }
  virtual void written(eu::Thread& /*thread*/, const UrbWrite& /*write*/) {}
};

// Render target writes and reads, and the pixel interpolator. The stage that dispatches pixels implements them.
class PixelMessages {
 public:
  virtual ~PixelMessages() = default;
  virtual eu::SendOutcome send(eu::Thread& thread, const eu::Message& message, const eu::MessageControl& control) = 0;
};

}  // namespace halogen::message
