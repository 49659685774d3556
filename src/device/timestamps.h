// Counters that show virtual time: TIMESTAMP of each engine and the display's microsecond counter.
#pragma once

#include "device/clock.h"
#include "mmio/mmio_space.h"

namespace halogen::device {

class Timestamps final : public mmio::RegisterHandler {
 public:
  Timestamps(mmio::MmioSpace& mmio, const VirtualClock& clock);
  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;

  // Returns the present 64-bit value of an engine's TIMESTAMP.
  uint64_t engine_timestamp() const;

 private:
  const VirtualClock& clock_;
  TimestampFormat format_;
  uint64_t hz_;
};

}  // namespace halogen::device
