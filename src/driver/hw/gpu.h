// The chip under the driver: its table, its engines with their queues, its interrupts. Knows requests and fences, not
// yet files or handles. Not for several threads at once: whoever calls holds the driver's lock.
#pragma once

#include <memory>
#include <vector>

#include "driver/hw/interrupts.h"
#include "driver/queue/engine_queue.h"

namespace halogen::driver {

// An engine as programs name it: class and number count only what the driver offers.
struct OfferedEngine {
  EngineQueue* queue = nullptr;
  uint16_t user_class = 0;
  uint16_t user_instance = 0;
  uint8_t capabilities = 0;
};

uint16_t user_class(spec::EngineClass engine);  // as the interface numbers classes

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

  // All contexts share one address space, and it is this.
  bool shares_space() const { return shared_ != nullptr; }
  const std::shared_ptr<PageTables>& shared_tables() const { return shared_; }

  // The device works for this long (of its own time); interrupts are taken and queues brought up to date.
  void work(uint64_t nanoseconds);
  void update();
  bool idle() const;
  bool working() const;       // some engine has something to do
  uint64_t progress() const;  // grows whenever a request is started or done

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
};

}  // namespace halogen::driver
