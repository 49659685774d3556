// Interfaces of the pipeline for URB messages and pixel messages of its threads. The pipeline owns entries and handles:
// a handle is a number that it puts into a thread's payload.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "eu/exec/message.h"
#include "eu/exec/thread.h"
#include "eu/message_fields.h"
#include "hw/message_headers.h"

namespace halogen::message {

// A write of Gen4 to 6, when its data are in the entries.
struct UrbWrite {
  hw::URB_WRITE_HEADER header{};
  bool used = false;      // the entry is used; else it is given back
  bool complete = false;  // the entry is written for the last time
  bool end_of_thread = false;
};

class Urb {
 public:
  virtual ~Urb() = default;
  // The dwords of an entry; empty: there is no such handle. Accesses outside read zero and write nothing.
  virtual std::span<uint32_t> entry(eu::Thread& thread, uint32_t handle) = 0;
  // Gen4 to 6: a new entry for a thread that asks for one (allocate, FF_SYNC); `primitives` of FF_SYNC's header.
  virtual uint32_t allocate(eu::Thread& /*thread*/, uint32_t /*primitives*/) { return 0; }
  // Gen6: FF_SYNC says what will be streamed. Returns the next index of each stream.
  virtual std::array<uint32_t, 4> synchronise(eu::Thread& /*thread*/, const hw::FF_SYNC_HEADER& /*header*/) {
    return {};
  }
  virtual void written(eu::Thread& /*thread*/, const UrbWrite& /*write*/) {}
};

// Render target writes and reads, and the pixel interpolator. The stage that dispatches pixels implements it.
class PixelMessages {
 public:
  virtual ~PixelMessages() = default;
  virtual eu::SendOutcome send(eu::Thread& thread, const eu::Message& message, const eu::MessageControl& control) = 0;
};

}  // namespace halogen::message
