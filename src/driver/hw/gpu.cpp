#include "driver/hw/gpu.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "spec/interface_model.h"

namespace halogen::driver {

uint16_t user_class(spec::EngineClass engine) {
  switch (engine) {
    case spec::EngineClass::render:
      return 0;
    case spec::EngineClass::blit:
      return 1;
    case spec::EngineClass::video:
      return 2;
    case spec::EngineClass::vebox:
      return 3;
    case spec::EngineClass::compute:
      return 4;
    case spec::EngineClass::posh:
      break;
  }
  return 5;
}

Result<std::unique_ptr<Gpu>> Gpu::start(const spec::DeviceModel& model, const HardwareOptions& options) {
  Result<std::unique_ptr<Hardware>> hardware = Hardware::find(model, options);
  if (!hardware) return hardware.error();
  std::unique_ptr<Gpu> gpu(new Gpu(std::move(hardware).value()));
  for (const std::unique_ptr<EngineQueue>& queue : gpu->queues_) {
    if (!queue) return Error{"out of memory for the engine queues; increase the memory of the device"};
  }
  return gpu;
}

Gpu::Gpu(std::unique_ptr<Hardware> hardware)
    : hardware_(std::move(hardware)), table_(*hardware_), interrupts_(*hardware_) {
  hardware_->ask_working([this] { return working(); });
  const bool execlists = hardware_->generation().has_execlists();
  if (hardware_->shares_space()) shared_ = make_shared_tables(*hardware_, table_);
  for (const spec::EngineModel& engine : hardware_->model().engines) {
    if (engine.engine_class == spec::EngineClass::posh) continue;  // serves the render engine, not programs
    queues_.push_back(execlists ? make_execlist_queue(*hardware_, table_, engine)
                                : make_ring_queue(*hardware_, table_, *shared_, engine));
    if (queues_.back()) queues_.back()->use(load_clock_);
  }
  offer();
  load_clock_.tick(hardware_->device().clock().nanoseconds);
  interrupts_.enable();
}

void Gpu::offer() {
  const spec::DeviceModel& model = hardware_->model();
  const std::span<const int8_t> capabilities = spec::interface_of(model.id).engines;
  for (const std::unique_ptr<EngineQueue>& queue : queues_) {
    if (!queue) continue;
    const auto index = static_cast<size_t>(&queue->engine() - model.engines.data());
    if (index >= capabilities.size() || capabilities[index] < 0) continue;
    offered_.push_back({queue.get(), user_class(queue->engine().engine_class), queue->engine().instance,
                        static_cast<uint8_t>(capabilities[index])});
  }
  std::sort(offered_.begin(), offered_.end(), [](const OfferedEngine& one, const OfferedEngine& two) {
    return std::tie(one.user_class, one.user_instance) < std::tie(two.user_class, two.user_instance);
  });
  std::array<uint16_t, 8> count{};
  for (OfferedEngine& each : offered_) each.user_instance = count[each.user_class]++;
}

EngineQueue* Gpu::find(spec::EngineClass engine_class, unsigned user_instance) const {
  return find_user(user_class(engine_class), user_instance);
}

EngineQueue* Gpu::find_user(unsigned user_class, unsigned user_instance) const {
  for (const OfferedEngine& each : offered_) {
    if (each.user_class == user_class && each.user_instance == user_instance) return each.queue;
  }
  return nullptr;
}

const OfferedEngine* Gpu::offer_of(const EngineQueue& queue) const {
  for (const OfferedEngine& each : offered_) {
    if (each.queue == &queue) return &each;
  }
  return nullptr;
}

void Gpu::work(uint64_t nanoseconds) {
  const bool awake = working();
  hardware_->advance(nanoseconds);
  load_clock_.tick(hardware_->device().clock().nanoseconds);
  const LoadClock::Point& before = load_clock_.before();
  if (awake) awake_ns_ += load_clock_.counted(load_clock_.now().device - before.device, before);
  // The number of rounds is limited in case of an interrupt that the driver does not know.
  for (int round = 0; round < 4 && hardware_->host().interrupt_line(); ++round) {
    if (!interrupts_.acknowledge([this](const Interrupts::Cause& cause) { notify(cause); })) break;
    ++interrupts_taken_;
  }
  update();
}

void Gpu::notify(const Interrupts::Cause& cause) {
  for (const std::unique_ptr<EngineQueue>& queue : queues_) {
    if (queue->engine().engine_class != cause.engine_class || queue->engine().instance != cause.instance) continue;
    if (cause.user) queue->notify_done();
    if (cause.context_switch) queue->notify_switch();
  }
}

void Gpu::update() {
  for (;;) {
    const uint64_t before = progress();
    bool held = false;
    for (const std::unique_ptr<EngineQueue>& queue : queues_) {
      queue->update();
      held = held || queue->holds();
    }
    if (!held || progress() == before) return;  // otherwise one engine may have waited for another
  }
}

bool Gpu::working() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& queue) { return queue->working(); });
}

uint64_t Gpu::progress() const {
  uint64_t sum = 0;
  for (const std::unique_ptr<EngineQueue>& queue : queues_) sum += queue->progress();
  return sum;
}

bool Gpu::idle() const {
  for (const std::unique_ptr<EngineQueue>& queue : queues_) {
    if (!queue->idle()) return false;
  }
  return true;
}

}  // namespace halogen::driver
