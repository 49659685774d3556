// The registers of the observation unit, programmed as i915 does. Until Gen11 there is one unit: the timer of reports
// is part of each context. On Gen12 a global unit owns the buffer and the timer, and a unit of the render engine counts
// for one context (MI_REPORT_PERF_COUNT).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "driver/hw/global_table.h"
#include "driver/hw/hardware.h"
#include "driver/perf/perf_config.h"
#include "hw/enums.h"

namespace halogen::driver {

struct OaSetup {
  hw::OaReportFormat format{};
  bool samples = false;   // reports go to the buffer
  bool periodic = false;  // a timer causes reports
  uint8_t exponent = 0;   // the timer period is 2^(exponent + 1) ticks
};

class OaUnit {
 public:
  static constexpr uint64_t kBufferBytes = uint64_t{16} << 20;

  // Null: the chip has no unit with a buffer.
  static std::unique_ptr<OaUnit> create(Hardware& hardware, GlobalTable& table);
  virtual ~OaUnit() = default;

  // Returns whether the render engine has a unit of its own that counts for one context.
  virtual bool counts_apart() const = 0;
  // Chooses what causes reports.
  virtual void configure(const OaSetup& setup) = 0;
  // Starts counting. The buffer is in the global table, at a multiple of its size, and holds zeros.
  virtual void enable(const OaSetup& setup, uint64_t buffer) = 0;
  virtual void disable() = 0;
  // Switches the signal network off, and takes the buffer away.
  virtual void finish() = 0;
  // Returns the register values for every context. `config` null: counting has ended.
  virtual std::vector<RegisterValue> context_values(const OaSetup& setup, const PerfConfig* config) const = 0;
  // Returns the register values of a context whose measurement starts (`on`) or ends.
  virtual std::vector<RegisterValue> measured_values(const OaSetup& setup, bool on) const = 0;

  // Returns the register that starts and stops the unit. Until Gen11 batches may write it too.
  RegisterValue control() { return {places_.control, hardware_.read(places_.control)}; }
  uint32_t tail() { return hardware_.read(places_.tail); }
  void set_head(uint32_t address) { hardware_.write(places_.head, address); }
  struct Losses {
    bool overflow = false;  // the buffer was full
    bool lost = false;      // a report could not be written
  };
  virtual Losses losses() = 0;
  virtual void clear_lost() = 0;

 protected:
  struct Places {
    uint32_t control, debug, status, head, tail, buffer;
  };
  OaUnit(Hardware& hardware, const Places& places) : hardware_(hardware), places_(places) {}
  uint32_t timer_value(const OaSetup& setup) const;

  Hardware& hardware_;
  Places places_;
};

}  // namespace halogen::driver
