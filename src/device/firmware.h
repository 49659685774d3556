// What firmware, fuses and the system agent leave in registers before software runs, and the control register of
// discrete parts (GU_CNTL). Seed 000, "Discrete Graphics Memory Map Information"; offsets and layouts: spec/registers.
// Local memory from the bottom: free for software, the table's memory (GSM), data stolen memory (DSM) up to the end;
// the last part of DSM is kept by firmware (WOPCM). Left out: the flat compression table and the table of virtual
// machines, which this part does not place.
#pragma once

#include <cstdint>
#include <functional>

#include "mmio/mmio_space.h"

namespace halogen {

struct MemoryLayout {
  uint64_t dsm_base = 0;
  uint64_t dsm_bytes = 0;  // 0: firmware reserved nothing
  uint64_t gsm_base = 0;
  uint64_t gsm_bytes = 0;
  uint64_t wopcm_base = 0;
  uint64_t wopcm_bytes = 0;
};

MemoryLayout local_layout(uint64_t local_bytes, uint64_t stolen_bytes, uint64_t gtt_bytes);
MemoryLayout system_layout(uint64_t stolen_base, uint64_t stolen_bytes, uint64_t gtt_bytes);

class Firmware final : public RegisterHandler {
 public:
  // `driver_reset` is what a driver asks for through GU_CNTL.
  Firmware(MmioSpace& mmio, const MemoryLayout& layout, uint16_t ggc, std::function<void()> driver_reset);

  void apply();  // after every reset
  const MemoryLayout& layout() const { return layout_; }

  uint32_t on_write(const RegisterWrite& write) override;

 private:
  void set(std::string_view name, uint64_t value);

  MmioSpace& mmio_;
  MemoryLayout layout_;
  uint16_t ggc_;
  std::function<void()> driver_reset_;
};

}  // namespace halogen
