// A fault handler that reports to the fault unit, as the handlers of an engine's streams do.
#pragma once

#include "memory/address_space.h"
#include "memory/fault_unit.h"

namespace halogen::memory {

class EngineFaults final : public FaultHandler {
 public:
  EngineFaults(FaultUnit& unit, unsigned engine, FaultStream stream = FaultStream::cs, uint8_t source_id = 0)
      : unit_(&unit), engine_(engine), stream_(stream), source_id_(source_id) {}
  FaultAction on_fault(const Fault& fault) override { return unit_->report(engine_, source_id_, stream_, fault); }
  void on_large_page(uint64_t address) override { unit_->report_large_page(engine_, address); }

 private:
  FaultUnit* unit_;
  unsigned engine_;
  FaultStream stream_;
  uint8_t source_id_;
};

}  // namespace halogen::memory
