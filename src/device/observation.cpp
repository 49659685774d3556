#include "device/observation.h"

#include "hw/interrupt.h"

namespace halogen::device {

namespace {

unsigned render_of(const spec::DeviceModel& model) {
  for (unsigned number = 0; number < model.engines.size(); ++number) {
    if (model.engines[number].engine_class == spec::EngineClass::render) {
      return number;
    }
  }
  return 0;
}

}  // namespace

Observation::Observation(const spec::DeviceModel& model, mmio::MmioSpace& mmio, MemoryUnit& memory,
                         interrupt::InterruptUnit& interrupts, const VirtualClock& clock, Host& host,
                         const std::string& path)
    : memory_(memory),
      interrupts_(interrupts),
      clock_(clock),
      gen_(model.gen),
      render_(render_of(model)),
      unit_(model, mmio, *this, host, path) {
  half_full_ = interrupts_.source("GTISR_3", "oa_buffer_half_full");
}

void Observation::on_context_switch(unsigned engine, const engine::ContextStep& step) {
  if (!is_render(engine)) {
    return;
  }
  switch (step.kind) {
    case engine::ContextStep::Kind::begin:
      return unit_.leave_context(step.time_ns);
    case engine::ContextStep::Kind::launch:
      return unit_.load_context(step.time_ns, step.descriptor);
    case engine::ContextStep::Kind::rename:
      return unit_.rename_context(step.time_ns, step.descriptor);
    case engine::ContextStep::Kind::idle:
      return unit_.unload_context(step.time_ns);
  }
}

void Observation::reset_engine(unsigned engine) {
  if (is_render(engine)) {
    unit_.reset_context();
  }
}

memory::AddressSpace& Observation::report_space(memory::TableKind table) {
  return table == memory::TableKind::global ? memory_.external_space(memory::Stream::observation)
                                            : memory_.space(render_, memory::Stream::store_data, table);
}

void Observation::on_half_full() {
  if (half_full_) {
    interrupts_.pulse_source(*half_full_);
    return;
  }
  uint32_t events = 0;
  static_cast<void>(hw::OA_INTERRUPT_EVENTS{.buffer_half_full = true}.pack(gen_, std::span(&events, 1)));
  const hw::INTERRUPT_MESSAGE message{.vf_id = 0,
                                      .instance = static_cast<uint8_t>(hw::InterruptOtherInstance::WDOAPERF),
                                      .engine_class = hw::InterruptClass::OTHER,
                                      .data = static_cast<uint16_t>(events)};
  uint32_t dword = 0;
  static_cast<void>(message.pack(gen_, std::span(&dword, 1)));
  interrupts_.deliver(dword);
}

}  // namespace halogen::device
