// FaultBench: a fault unit with a listener, one engine with an advanced context, and one page that is not mapped.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
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

class Listener final : public FaultListener {
 public:
  void on_fault(unsigned engine, const Fault& fault) override { faults.push_back({engine, fault.reason}); }
  std::optional<PageResponse> on_page_request(const PageRequest& request) override {
    requests.push_back(request);
    return answer ? std::optional(answer(request)) : std::nullopt;
  }
  void on_switch_request(unsigned engine) override { switches.push_back(engine); }
  void on_resume(unsigned engine) override { resumed.push_back(engine); }
  void on_catastrophic(unsigned engine, const Fault&) override { catastrophes.push_back(engine); }

  struct Seen {
    unsigned engine;
    FaultReason reason;
  };
  std::vector<Seen> faults;
  std::vector<PageRequest> requests;
  std::vector<unsigned> switches, resumed, catastrophes;
  std::function<PageResponse(const PageRequest&)> answer;
};

// One engine with an advanced context, and one page that is not mapped.
struct FaultBench {
  explicit FaultBench(FaultModel model, const FaultUnit::Config& config = {})
      : unit(bench.model, config, events, "gpu0", &listener),
        handler(unit, 0),
        tlb(64),
        space(bench.memory, tlb, 1, handler),
        chain(make_chain(bench, WalkMode::advanced48, Size::k4, kVa48, kRw | kUs)) {
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
