// The engines of a device and the scheduler that runs them: round robin in slices of virtual time, so that every run is
// the same. An engine reaches the other units through its Port.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/clock.h"
#include "device/context_listener.h"
#include "device/host.h"
#include "device/memory_unit.h"
#include "device/options.h"
#include "engine/engine.h"
#include "eu/library/kernel_library.h"
#include "message/state_watch.h"

namespace halogen::device {

// The requests of engines to the other units of the device.
class EngineListener {
 public:
  virtual ~EngineListener() = default;
  virtual void on_engine_interrupt(unsigned engine, EngineCause cause) = 0;
  virtual void on_engine_level(unsigned engine, EngineCause cause, bool asserted) = 0;
  virtual void on_engine_lost(unsigned engine) = 0;  // the engine needs a reset
  virtual oa::CountsWanted counts_wanted(unsigned engine) = 0;
  virtual void on_engine_work(unsigned engine, const oa::WorkSpan& span) = 0;
  virtual void on_engine_time(unsigned engine, const oa::TimeSpan& span) = 0;
  virtual size_t counter_report(unsigned engine, const oa::CommandReport& command,
                                std::span<uint32_t, oa::kMaxReportDwords> into) = 0;
  virtual display::Display& display() = 0;
};

class EngineSet final : private mmio::PowerListener {
 public:
  static constexpr uint64_t kSlice = 2560;  // virtual nanoseconds that an engine runs before the next one
  // The slice of an engine that works alone doubles each time, up to this many times.
  static constexpr unsigned kMaxDoublings = 6;

  EngineSet(const spec::DeviceModel& model, mmio::MmioSpace& mmio, MemoryUnit& memory, VirtualClock& clock, Host& host,
            EngineListener& listener, const DeviceOptions& options);
  ~EngineSet() override;

  // Runs every engine for a slice that ends at `limit` at the latest. False: no engine had work.
  bool run(uint64_t limit);
  // Updates the watchdogs after time passed in which no engine worked.
  void pass_time();
  // Returns the earliest time at which a waiting engine polls again.
  std::optional<uint64_t> next_deadline() const;

  engine::Engine& engine(unsigned number) { return *engines_[number]; }
  const engine::Engine& engine(unsigned number) const { return *engines_[number]; }
  size_t count() const { return engines_.size(); }
  eu::KernelLibrary& kernels() { return kernels_; }
  message::StateWatch* state_watch() { return state_watch_ ? &*state_watch_ : nullptr; }  // null: rules are not checked
  StopFlag& stop() { return stop_; }
  // Returns the number of the engine whose slice runs, or ran last. Any thread may call it.
  unsigned at_work() const { return at_work_.load(std::memory_order_relaxed); }
  // Adds a listener. Listeners are called in the order in which they were added.
  void add_context_listener(ContextListener& listener) { context_listeners_.push_back(&listener); }

  void reset_engine(unsigned number);
  void reset();
  std::vector<engine::EngineState> snapshot() const;
  void restore(const std::vector<engine::EngineState>& states);
  void report(FidelityReport& report) const;

  void on_fault(unsigned engine, const memory::Fault& fault);
  void on_resume(unsigned engine);  // the page that the engine waited for is present

 private:
  class Port;

  void keep_awake(unsigned number);
  // Switches an idle engine off if its power domain sleeps.
  void follow_power(unsigned number);
  void set_power(unsigned number, bool on);
  void note_sleepers();
  void on_wake_request() override;
  void on_sleeping_access(const spec::EngineModel& engine) override;
  engine::Engine* alone() const;
  uint64_t end_of_slice(const engine::Engine* alone, uint64_t limit) const;

  StopFlag stop_;
  std::atomic<unsigned> at_work_{0};
  WorkerPool pool_;
  eu::KernelLibrary kernels_;
  std::optional<message::StateWatch> state_watch_;
  const spec::DeviceModel& model_;
  mmio::MmioSpace& mmio_;
  VirtualClock& clock_;
  EngineListener& listener_;
  std::vector<ContextListener*> context_listeners_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<std::unique_ptr<engine::Engine>> engines_;
  std::vector<bool> has_power_context_;  // by engine
};

}  // namespace halogen::device
