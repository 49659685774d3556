// The values that firmware, fuses and the system agent leave in registers before software runs, and the control
// register of discrete parts (GU_CNTL). DG1 PRM vol. 13, Discrete Graphics Memory Map Information (seed 000); layouts:
// spec/registers. Local memory from the bottom: free for software, the table's memory (GSM), data stolen memory (DSM)
// up to the end. Firmware keeps a part of DSM (WOPCM), by default its end. Integrated parts have the same areas in
// system memory, at the address in the options; without one, only the table exists, at the end of the address range.
// Gen4 finds its table through PGTBL_CTL, whose base firmware writes. Not modelled: the flat compression table and the
// table of virtual machines.
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

// Returns the layout of local memory. `wopcm_offset`: start of WOPCM in DSM; no value: WOPCM is the end of DSM.
MemoryLayout local_layout(uint64_t local_bytes, uint64_t stolen_bytes, uint64_t gtt_bytes,
                          std::optional<uint64_t> wopcm_offset);
// Returns the layout of system memory. `address_bits`: of physical addresses. `stolen_base` 0: no stolen memory.
MemoryLayout system_layout(uint64_t stolen_base, uint64_t stolen_bytes, uint64_t gtt_bytes, unsigned address_bits,
                           std::optional<uint64_t> wopcm_offset);

class Firmware final : public mmio::RegisterHandler {
 public:
  // `driver_reset` is called when a driver requests a reset through GU_CNTL.
  Firmware(mmio::MmioSpace& mmio, const MemoryLayout& layout, uint16_t ggc, const DeviceOptions& options,
           std::function<void()> driver_reset);

  void apply();         // writes all registers, after every reset of the function
  void place_tables();  // writes the addresses of page tables, which a reset of the graphics part must not lose
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
