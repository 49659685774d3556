// FaultBench: a fault unit with a listener, one engine with an advanced context, and one page that is not mapped.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "engine_faults.h"
#include "memory/fault_unit.h"
#include "spec/descriptors.h"
#include "walk_rows_bench.h"

namespace halogen::memory::rows {

inline spec::RegisterId id_of(const char* name) {
  const spec::RegisterDesc* desc = spec::find_register(name);
  EXPECT_NE(desc, nullptr) << name;
  return desc->id;
}

inline unsigned number_of(const spec::DeviceModel& model, std::string_view name) {
  for (unsigned i = 0; i < model.engines.size(); ++i) {
    if (model.engines[i].name == name) {
      return i;
    }
  }
  ADD_FAILURE() << name;
  return 0;
}

// Records what the unit tells the device, and the requests that it queues for the IOMMU.
class Listener final : public FaultListener, public RemappingSink {
 public:
  void watch(FaultUnit& unit) {
    unit_ = &unit;
    unit.set_remapping(this);
  }
  void on_fault(unsigned engine, const Fault& fault) override { faults.push_back({engine, fault.reason}); }
  void on_request_queued() override { requests.push_back(unit_->state().queue.back()); }
  void on_remapping_fault(const FaultContext&, const Fault&) override {}
  void on_resume(unsigned engine) override { resumed.push_back(engine); }
  void on_catastrophic(unsigned engine, const Fault&) override { catastrophes.push_back(engine); }

  struct Seen {
    unsigned engine;
    FaultReason reason;
  };
  std::vector<Seen> faults;
  std::vector<PageRequest> requests;
  std::vector<unsigned> resumed, catastrophes;

 private:
  const FaultUnit* unit_ = nullptr;
};

// One engine with an advanced context, and one page that is not mapped.
struct FaultBench {
  explicit FaultBench(FaultModel model, const FaultUnit::Config& config = {})
      : unit(bench.model, config, events, "gpu0", &listener),
        handler(unit, 0),
        tlb(64),
        space(bench.memory, tlb, 1, handler),
        chain(make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs)) {
    listener.watch(unit);
    unit.set_context(0, {model, true, 0x12345, 77, 0, false});
    space.load(chain.context);
    bench.put(page_target(Size::k4) + (kVa48 & 0xff8), 0x1234);
    chain.set(bench, 3, chain.levels[3].entry & ~kP);
  }
  AccessResult read(uint64_t va = kVa48) {
    uint32_t value = 0;
    return space.read(GpuVa(va), std::as_writable_bytes(std::span(&value, 1)));
  }
  void mend() { chain.set(bench, 3, chain.levels[3].entry); }
  PageResponse response(bool success, uint64_t va = kVa48) const { return {0x12345, va, success}; }

  Bench bench;
  EventLog events;
  Listener listener;
  FaultUnit unit;
  EngineFaults handler;
  Tlb tlb;
  AddressSpace space;
  Chain chain;
};

}  // namespace halogen::memory::rows
