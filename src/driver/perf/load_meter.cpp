#include "driver/perf/load_meter.h"

#include <utility>

#include "base/mul_div.h"

namespace halogen::driver {
namespace {

// Adds the growth of a count to the total of all devices.
void tell(std::atomic<uint64_t>& total, uint64_t now, uint64_t& told) {
  if (now == told) return;
  total += now - std::exchange(told, now);
}

}  // namespace

LoadMeter::LoadMeter(Gpu& gpu, const std::string& path, std::function<uint64_t()> host_clock)
    : gpu_(gpu), board_(LoadBoard::open(path)) {
  if (board_) gpu_.load_clock().use_host(host_clock ? std::move(host_clock) : LoadBoard::now_ns);
  told_at_ = gpu_.load_clock().now();
}

std::shared_ptr<ClientLoad> LoadMeter::add_client(const FileKey& file, uint32_t minor) {
  if (!board_) return nullptr;
  return std::make_shared<ClientLoad>(board_, board_->take_slot(file, minor));
}

void LoadMeter::update_engine(const OfferedEngine& engine) {
  if (engine.user_class >= kUserClasses || engine.user_instance >= kUserInstances) return;
  EngineLoad& load = board_->page().engines[engine.user_class][engine.user_instance];
  engine::TimeSpent& told = told_[engine.user_class][engine.user_instance];
  const engine::TimeSpent& now = gpu_.hardware().time_spent(engine.queue->engine());
  const uint64_t busy = now.busy - told.busy;
  if (busy == 0) return;
  const uint64_t counted = gpu_.load_clock().counted(busy, told_at_);
  load.busy += counted;
  load.waits_for_event += mul_div(now.waits_for_event - told.waits_for_event, counted, busy);
  load.waits_for_signal += mul_div(now.waits_for_signal - told.waits_for_signal, counted, busy);
  told = now;
}

void LoadMeter::update() {
  if (!board_) return;
  for (const OfferedEngine& each : gpu_.offered()) {
    update_engine(each);
    each.queue->show_times();
  }
  told_at_ = gpu_.load_clock().now();
  tell(board_->page().interrupts, gpu_.interrupts(), interrupts_told_);
  tell(board_->page().awake_ns, gpu_.awake_ns(), awake_told_);
}

}  // namespace halogen::driver
