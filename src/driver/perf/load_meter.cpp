#include "driver/perf/load_meter.h"

#include <utility>

namespace halogen::driver {
namespace {

// Adds the growth of a count to the total of all devices.
void tell(std::atomic<uint64_t>& total, uint64_t now, uint64_t& told) {
  if (now == told) return;
  total += now - std::exchange(told, now);
}

}  // namespace

std::shared_ptr<ClientLoad> LoadMeter::add_client(const FileKey& file, uint32_t minor) {
  if (!board_) return nullptr;
  return std::make_shared<ClientLoad>(board_, board_->take_slot(file, minor));
}

void LoadMeter::update_engine(const OfferedEngine& engine) {
  if (engine.user_class >= kUserClasses || engine.user_instance >= kUserInstances) return;
  EngineLoad& load = board_->page().engines[engine.user_class][engine.user_instance];
  engine::TimeSpent& told = told_[engine.user_class][engine.user_instance];
  const engine::TimeSpent& now = gpu_.hardware().time_spent(engine.queue->engine());
  tell(load.busy, now.busy, told.busy);
  tell(load.waits_for_event, now.waits_for_event, told.waits_for_event);
  tell(load.waits_for_signal, now.waits_for_signal, told.waits_for_signal);
}

void LoadMeter::update() {
  if (!board_) return;
  LoadPage& page = board_->page();
  for (const OfferedEngine& each : gpu_.offered()) {
    update_engine(each);
    each.queue->show_times();
  }
  tell(page.interrupts, gpu_.interrupts(), interrupts_told_);
  tell(page.awake_ns, gpu_.awake_ns(), awake_told_);
  update_ahead();
}

// The host's clock is read only if the device can be farther ahead than before.
void LoadMeter::update_ahead() {
  std::atomic<uint64_t>& most = board_->page().ahead_ns;
  const uint64_t device = start_ns_ + gpu_.hardware().device().clock().nanoseconds;
  uint64_t before = most;
  if (device <= host_seen_ + before) return;
  host_seen_ = LoadBoard::host_ns();
  while (device > host_seen_ + before && !most.compare_exchange_weak(before, device - host_seen_)) {
  }
}

}  // namespace halogen::driver
