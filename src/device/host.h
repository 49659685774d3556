// The outputs of a device: memory of the machine around it, interrupts, and Events. A front end implements it.
//
// Order of work when memory goes away (unmapped, replaced, or given to another user):
//   1. the front end makes the range inaccessible to new look-ups (map_memory, read_memory, write_memory)
//   2. it calls Device::revoke_memory(), between two other calls of the device, so no engine runs then
//   3. the memory may go
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/event.h"
#include "base/strong.h"

namespace halogen::device {

class Host : public EventSink {
 public:
  // Access system memory. False: some byte is not memory; the bytes read are then undefined.
  virtual bool read_memory(PhysAddr address, std::span<std::byte> out) = 0;
  virtual bool write_memory(PhysAddr address, std::span<const std::byte> data) = 0;

  // Returns a direct view of system memory. It must stay valid until Device::revoke_memory() returns, or for the life
  // of the device. Empty: the range is not one piece of the host's memory. After a revocation the device asks again; if
  // the view is then empty, its accesses fall into a hole.
  virtual std::span<std::byte> map_memory(PhysAddr /*address*/, uint64_t /*bytes*/) { return {}; }

  // Returns memory for the device's own use, if the front end wants to hold it so that it can be mapped: at least this
  // much, zeroed, valid for the life of the device. Empty: the device allocates it.
  virtual std::span<std::byte> local_memory(uint64_t /*bytes*/) { return {}; }

  // Called when the level of INTx changes.
  virtual void set_interrupt_line(bool asserted) = 0;
  // Sends a message-signalled interrupt: a write of a dword to an address outside memory.
  virtual void send_message_interrupt(PhysAddr address, uint32_t data) = 0;
};

}  // namespace halogen::device
