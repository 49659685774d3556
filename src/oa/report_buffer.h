// The circular buffer in which the unit writes reports. Software sets base, size and tail, and moves the head behind
// what it has read; the unit moves the tail. Old reports are overwritten if software does not keep up.
#pragma once

#include <cstdint>
#include <span>

namespace halogen::oa {

struct ReportBuffer {
  uint64_t base = 0;  // aligned to the size
  uint64_t bytes = 0;
  uint64_t head = 0;
  uint64_t tail = 0;

  // Returns the bytes of reports that software has not read.
  uint64_t unread() const { return (tail - head) % bytes; }
  bool contains(uint64_t address) const { return address - base < bytes; }

  struct Step {
    bool wrapped = false;    // the tail passed the end
    bool overflow = false;   // the tail reached the head
    bool half_full = false;  // from now on half of the buffer is unread
  };
  // Moves the tail past this many bytes of reports.
  Step advance(uint64_t count) {
    const uint64_t before = unread();
    const uint64_t offset = tail - base;
    tail = base + (offset + count) % bytes;
    return {.wrapped = offset + count >= bytes,
            .overflow = before + count >= bytes,
            .half_full = before < bytes / 2 && before + count >= bytes / 2};
  }
};

}  // namespace halogen::oa
