// The only way out of a device: memory of the machine around it, interrupts, and Events. A front end implements it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/event.h"
#include "base/strong.h"

namespace halogen::device {

class Host : public EventSink {
 public:
  // System memory. False when nothing answers at some byte; what was read then is undefined.
  virtual bool read_memory(PhysAddr address, std::span<std::byte> out) = 0;
  virtual bool write_memory(PhysAddr address, std::span<const std::byte> data) = 0;

  // A direct view of system memory that stays valid as long as the device lives, or an empty span when the range is
  // not one piece of the host's memory.
  virtual std::span<std::byte> map_memory(PhysAddr /*address*/, uint64_t /*bytes*/) { return {}; }

  // Memory for the device's own, where a front end wants to hold it so that it can be mapped: at least this much,
  // zeroed, there as long as the device. Empty: the device finds it itself.
  virtual std::span<std::byte> local_memory(uint64_t /*bytes*/) { return {}; }

  // INTx, level-triggered: called when the level changes.
  virtual void set_interrupt_line(bool asserted) = 0;
  // A message-signalled interrupt: a write of a dword to an address outside memory.
  virtual void send_message_interrupt(PhysAddr address, uint32_t data) = 0;
};

}  // namespace halogen::device
