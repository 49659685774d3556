#include "driver/gpu.h"

#include <utility>

namespace halogen::driver {

Result<std::unique_ptr<Gpu>> Gpu::start(const spec::DeviceModel& model, const HardwareOptions& options) {
  Result<std::unique_ptr<Hardware>> hardware = Hardware::find(model, options);
  if (!hardware) return hardware.error();
  std::unique_ptr<Gpu> gpu(new Gpu(std::move(hardware).value()));
  for (const std::unique_ptr<EngineQueue>& queue : gpu->queues_) {
    if (!queue) return Error{"no memory for the engines of the device"};
  }
  return gpu;
}

Gpu::Gpu(std::unique_ptr<Hardware> hardware)
    : hardware_(std::move(hardware)), table_(*hardware_), interrupts_(*hardware_) {
  const bool execlists = hardware_->has(spec::Feature::execlists);
  if (!execlists) shared_ = make_shared_tables(*hardware_, table_);
  for (const spec::EngineModel& engine : hardware_->model().engines) {
    if (engine.engine_class == spec::EngineClass::posh) continue;  // works for the render engine, not for programs
    queues_.push_back(execlists ? make_execlist_queue(*hardware_, table_, engine)
                                : make_ring_queue(*hardware_, table_, *shared_, engine));
  }
  interrupts_.enable();
}

EngineQueue* Gpu::find(spec::EngineClass engine_class, unsigned instance) {
  for (const std::unique_ptr<EngineQueue>& queue : queues_) {
    if (queue->engine().engine_class == engine_class && queue->engine().instance == instance) return queue.get();
  }
  return nullptr;
}

void Gpu::work(uint64_t nanoseconds) {
  hardware_->device().advance(nanoseconds);
  // An interrupt that does not go away would be one that the driver does not know.
  for (int round = 0; round < 4 && hardware_->machine().interrupt_line(); ++round) {
    if (!interrupts_.acknowledge()) break;
  }
  update();
}

void Gpu::update() {
  for (const std::unique_ptr<EngineQueue>& queue : queues_) queue->update();
}

bool Gpu::idle() const {
  for (const std::unique_ptr<EngineQueue>& queue : queues_) {
    if (!queue->idle()) return false;
  }
  return true;
}

}  // namespace halogen::driver
