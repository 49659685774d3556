// TLB invalidation by MMIO: software writes ones and polls until hardware has cleared them. Gen8 to Gen11 have one
// register per engine. Gen12 has one per class with a bit per instance (ICL-TLB-21). An invalidation is complete when
// every access that used the old entries is done. A unit that keeps addresses of pages over several steps holds an
// AccessHold meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "memory/gam.h"
#include "spec/descriptors.h"
#include "spec/device_model.h"

namespace halogen::memory {

class TlbInvalidation {
 public:
  TlbInvalidation(const spec::DeviceModel& model, Gam& gam) : model_(&model), gam_(&gam) {}

  bool owns(spec::RegisterId id) const;
  // Returns the engines whose TLBs such a write would invalidate: bit n is engine n of the device.
  uint32_t engines_of(spec::RegisterId id, uint32_t value) const;
  void write(spec::RegisterId id, uint32_t value);
  // Returns the bits whose invalidation is not complete.
  uint32_t read(spec::RegisterId id) const;

  void begin_access() { ++accesses_; }
  void end_access();
  bool idle() const { return accesses_ == 0; }

 private:
  struct Pending {
    spec::RegisterId id;
    uint32_t bits;
  };

  const spec::DeviceModel* model_;
  Gam* gam_;
  unsigned accesses_ = 0;  // under way
  std::vector<Pending> pending_;
};

class AccessHold {
 public:
  explicit AccessHold(TlbInvalidation& unit) : unit_(&unit) { unit.begin_access(); }
  ~AccessHold() { unit_->end_access(); }
  AccessHold(const AccessHold&) = delete;
  AccessHold& operator=(const AccessHold&) = delete;

 private:
  TlbInvalidation* unit_;
};

}  // namespace halogen::memory
