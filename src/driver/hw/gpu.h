// The chip under the driver: its global table, its engines with their queues, its interrupts. Knows requests and
// fences, but not files or handles. Not thread-safe: callers hold the driver's lock.
#pragma once

#include <memory>
#include <vector>

#include "driver/hw/interrupts.h"
#include "driver/hw/load_clock.h"
#include "driver/queue/engine_queue.h"

namespace halogen::driver {

// An engine as programs name it: class and instance count only engines that the driver offers.
struct OfferedEngine {
  EngineQueue* queue = nullptr;
  uint16_t user_class = 0;
  uint16_t user_instance = 0;
  uint8_t capabilities = 0;
};

uint16_t user_class(spec::EngineClass engine);  // class number of the user interface

class Gpu {
 public:
  static Result<std::unique_ptr<Gpu>> start(const spec::DeviceModel& model, const HardwareOptions& options);

  Hardware& hardware() { return *hardware_; }
  GlobalTable& global() { return table_; }
  const std::vector<std::unique_ptr<EngineQueue>>& queues() const { return queues_; }
  const std::vector<OfferedEngine>& offered() const { return offered_; }  // by class, then instance
  EngineQueue* find(spec::EngineClass engine_class, unsigned user_instance) const;
  EngineQueue* find_user(unsigned user_class, unsigned user_instance) const;
  const OfferedEngine* offer_of(const EngineQueue& queue) const;

  // Returns whether all contexts share one address space (shared_tables).
  bool shares_space() const { return shared_ != nullptr; }
  const std::shared_ptr<PageTables>& shared_tables() const { return shared_; }

  // Runs the device for this much device time, handles interrupts and updates the queues.
  void work(uint64_t nanoseconds);
  void update();
  bool idle() const;
  bool working() const;                                      // an engine has work
  uint64_t progress() const;                                 // grows when a request starts or completes
  uint64_t interrupts() const { return interrupts_taken_; }  // handled so far
  uint64_t awake_ns() const { return awake_ns_; }            // during which engines had work, by the load clock
  LoadClock& load_clock() { return load_clock_; }

 private:
  Gpu(std::unique_ptr<Hardware> hardware);
  void offer();
  void notify(const Interrupts::Cause& cause);

  std::unique_ptr<Hardware> hardware_;
  GlobalTable table_;
  Interrupts interrupts_;
  std::shared_ptr<PageTables> shared_;
  std::vector<std::unique_ptr<EngineQueue>> queues_;
  std::vector<OfferedEngine> offered_;
  uint64_t interrupts_taken_ = 0;
  uint64_t awake_ns_ = 0;
  LoadClock load_clock_;
};

}  // namespace halogen::driver
