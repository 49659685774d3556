// What firmware, fuses and the system agent leave in registers before software runs, and the control register of
// discrete parts (GU_CNTL). Seed 000, "Discrete Graphics Memory Map Information"; offsets and layouts: spec/registers.
// Local memory from the bottom: free for software, the table's memory (GSM), data stolen memory (DSM) up to the end;
// a part of DSM, the last unless it is told otherwise, is kept by firmware (WOPCM). Integrated parts have the same in
// system memory, where firmware was told to put it; without, only the table has a place, at the end of the address
// range. Gen4 finds its table through PGTBL_CTL, whose base firmware writes. Left out: the flat compression table and
// the table of virtual machines, which this part does not place.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "device/options.h"
#include "mmio/mmio_space.h"

namespace halogen::device {

struct MemoryLayout {
  uint64_t dsm_base = 0;
  uint64_t dsm_bytes = 0;  // 0: firmware reserved nothing
  uint64_t gsm_base = 0;
  uint64_t gsm_bytes = 0;
  uint64_t wopcm_base = 0;
  uint64_t wopcm_bytes = 0;
};

inline constexpr uint64_t kWopcmBytes = uint64_t{2} * 1024 * 1024;

// `wopcm_offset`: where in DSM the part that firmware keeps begins; left out: at its end.
MemoryLayout local_layout(uint64_t local_bytes, uint64_t stolen_bytes, uint64_t gtt_bytes,
                          std::optional<uint64_t> wopcm_offset);
// `address_bits` of physical addresses; a `stolen_base` of 0: none.
MemoryLayout system_layout(uint64_t stolen_base, uint64_t stolen_bytes, uint64_t gtt_bytes, unsigned address_bits,
                           std::optional<uint64_t> wopcm_offset);

class Firmware final : public mmio::RegisterHandler {
 public:
  // `driver_reset` is what a driver asks for through GU_CNTL.
  Firmware(mmio::MmioSpace& mmio, const MemoryLayout& layout, uint16_t ggc, const DeviceOptions& options,
           std::function<void()> driver_reset);

  void apply();         // after every reset of the function
  void place_tables();  // of that, what a reset of the graphics part must not lose: where page tables lie
  const MemoryLayout& layout() const { return layout_; }

  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  template <class R>
  void set(const R& value);

  mmio::MmioSpace& mmio_;
  MemoryLayout layout_;
  uint16_t ggc_;
  bool local_tables_;
  bool headless_;
  bool table_enabled_;
  std::function<void()> driver_reset_;
};

}  // namespace halogen::device
