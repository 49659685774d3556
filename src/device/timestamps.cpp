#include "device/timestamps.h"

#include "base/bits.h"

namespace halogen::device {

namespace {

constexpr std::string_view kEngine = "TIMESTAMP";
constexpr std::string_view kDisplay = "TIMESTAMP_CTR";
constexpr uint64_t kMicrosecond = 1000;

}  // namespace

Timestamps::Timestamps(mmio::MmioSpace& mmio, const VirtualClock& clock)
    : clock_(clock), format_(mmio.generation().timestamp_format()), hz_(mmio.generation().model().timestamp_hz) {
  mmio.bank().attach(kEngine, *this);
  mmio.bank().attach(kDisplay, *this);
}

uint64_t Timestamps::engine_timestamp() const {
  switch (format_) {
    case TimestampFormat::ticks:
      return clock_.ticks(hz_);
    case TimestampFormat::ticks_36:
      return clock_.ticks(hz_) & low_mask(36);
    case TimestampFormat::quarter_nanoseconds:
      return clock_.nanoseconds * 4 << 20;
  }
  return 0;
}

uint32_t Timestamps::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t /*stored*/) {
  if (slot.engine == nullptr) {
    return static_cast<uint32_t>(clock_.nanoseconds / kMicrosecond);
  }
  return static_cast<uint32_t>(engine_timestamp() >> (32 * slot.dword));
}

}  // namespace halogen::device
