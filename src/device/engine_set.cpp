#include "device/engine_set.h"

#include <algorithm>

#include <fmt/format.h>

#include "display/display.h"
#include "engine/context/power_context.h"

namespace halogen::device {

// The device as one engine sees it.
class EngineSet::Port final : public engine::Services {
 public:
  Port(EngineSet& set, unsigned number, MemoryUnit& memory, Host& host, EngineListener& listener)
      : set_(set), number_(number), memory_(memory), host_(host), listener_(listener) {}

  memory::AddressSpace& space(memory::Stream stream, memory::TableKind table) override {
    return memory_.space(number_, stream, table);
  }
  bool read_physical(PhysAddr address, std::span<std::byte> into) override {
    return memory_.read_physical(address, into);
  }
  bool write_physical(PhysAddr address, std::span<const std::byte> from) override {
    return memory_.write_physical(address, from);
  }
  std::span<const std::byte> physical_page(PhysAddr address) override { return memory_.physical_page(address); }
  bool takes_atomics(uint8_t type_index) override {
    const memory::MemoryTypes& types = memory_.types();
    const bool takes = types.atomic(types.page_type(type_index)) == memory::AtomicOutcome::done;
    if (!takes) {
      listener_.on_engine_lost(number_);
    }
    return takes;
  }

  bool write_entries(memory::TableKind table, GpuVa address, std::span<const uint32_t> dwords) override {
    return memory_.write_entries(number_, table, address, dwords);
  }
  void flush_translations() override { memory_.flush(number_); }
  void on_context_switch(const engine::ContextStep& step) override {
    for (ContextListener* const listener : set_.context_listeners_) {
      listener->on_context_switch(number_, step);
    }
  }

  void interrupt(EngineCause cause) override { listener_.on_engine_interrupt(number_, cause); }
  void set_interrupt_level(EngineCause cause, bool asserted) override {
    listener_.on_engine_level(number_, cause, asserted);
  }
  void signal_semaphore(const engine::SemaphoreSignal& signal) override {
    for (const std::unique_ptr<engine::Engine>& engine : set_.engines_) {
      if (engine->model().engine_class == signal.engine_class && engine->model().instance == signal.instance) {
        engine->on_semaphore_signal(signal.context_id);
      }
    }
  }
  message::StateWatch* state_watch() override { return set_.state_watch(); }
  WorkerPool* pool() override { return &set_.pool_; }
  const StopFlag& stop() const override { return set_.stop_; }
  eu::KernelLibrary& kernels() override { return set_.kernels_; }
  display::Display& display() override { return listener_.display(); }
  const surface::Fence* fence_meeting(GgttOffset first, GgttOffset last) override {
    return memory_.aperture().fences().meeting(first, last);
  }
  oa::CountsWanted counts_wanted() const override { return listener_.counts_wanted(number_); }
  void report_work(const oa::WorkSpan& span) override { listener_.on_engine_work(number_, span); }
  void report_time(const oa::TimeSpan& span) override { listener_.on_engine_time(number_, span); }
  size_t counter_report(const oa::CommandReport& command, std::span<uint32_t, oa::kMaxReportDwords> into) override {
    return listener_.counter_report(number_, command, into);
  }
  void on_target_write(GpuVa base, uint32_t first_line, uint32_t lines) override {
    listener_.display().on_target_write(base, first_line, lines);
  }
  uint64_t time() const override { return set_.clock_.nanoseconds; }
  void set_time(uint64_t nanoseconds) override { set_.clock_.nanoseconds = nanoseconds; }
  void on_event(const Event& event) override { host_.on_event(event); }

 private:
  EngineSet& set_;
  unsigned number_;
  MemoryUnit& memory_;
  Host& host_;
  EngineListener& listener_;
};

EngineSet::EngineSet(const spec::DeviceModel& model, mmio::MmioSpace& mmio, MemoryUnit& memory, VirtualClock& clock,
                     Host& host, EngineListener& listener, const DeviceOptions& options)
    : pool_(options.threads),
      kernels_(model.gen, options.executor),
      model_(model),
      mmio_(mmio),
      clock_(clock),
      listener_(listener) {
  if (options.check_rules) {
    state_watch_.emplace();
  }
  for (unsigned number = 0; number < model.engines.size(); ++number) {
    const spec::EngineModel& engine = model.engines[number];
    ports_.push_back(std::make_unique<Port>(*this, number, memory, host, listener));
    engines_.push_back(std::make_unique<engine::Engine>(engine, mmio, *ports_.back(),
                                                        fmt::format("{}.{}", options.name, engine.name)));
  }
  for (const std::unique_ptr<engine::Engine>& engine : engines_) {
    has_power_context_.push_back(engine::power_form(*engine) != engine::PowerForm::none);
  }
  add_context_listener(memory);
  mmio.set_power_listener(*this);
}

EngineSet::~EngineSet() = default;

// Returns the only engine that has work. Null: several engines have work, or none has.
engine::Engine* EngineSet::alone() const {
  engine::Engine* found = nullptr;
  for (const std::unique_ptr<engine::Engine>& engine : engines_) {
    if (engine->state().activity == engine::Activity::running) {
      if (found != nullptr) {
        return nullptr;
      }
      found = engine.get();
    }
  }
  return found;
}

uint64_t EngineSet::end_of_slice(const engine::Engine* alone, uint64_t limit) const {
  const uint64_t start = clock_.nanoseconds;
  if (alone == nullptr) {
    return std::min(limit, start + kSlice);
  }
  uint64_t end = start + (kSlice << alone->state().lone_slices);
  for (const std::unique_ptr<engine::Engine>& engine : engines_) {
    if (engine.get() != alone && engine->state().wait.until) {
      end = std::min(end, std::max(*engine->state().wait.until, start + kSlice));
    }
  }
  return std::min(limit, end);
}

bool EngineSet::run(uint64_t limit) {
  const uint64_t start = clock_.nanoseconds;
  engine::Engine* const only = alone();
  const uint64_t until = end_of_slice(only, limit);
  bool progress = false;
  for (unsigned number = 0; number < engines_.size(); ++number) {
    clock_.nanoseconds = start;  // engines work at the same time
    at_work_.store(number, std::memory_order_relaxed);
    engines_[number]->catch_up(start);
    if (engines_[number]->state().activity != engine::Activity::idle) {
      set_power(number, true);  // work wakes the engine
    }
    progress |= engines_[number]->run(until);
    keep_awake(number);
    follow_power(number);
    engines_[number]->note_slice(engines_[number].get() == only, kMaxDoublings);
  }
  clock_.nanoseconds = until;
  return progress;
}

void EngineSet::pass_time() {
  for (const std::unique_ptr<engine::Engine>& engine : engines_) {
    engine->watchdog().settle();
  }
}

std::optional<uint64_t> EngineSet::next_deadline() const {
  std::optional<uint64_t> next;
  for (const std::unique_ptr<engine::Engine>& engine : engines_) {
    const std::optional<uint64_t> until = engine->state().wait.until;
    if (until && (!next || *until < *next)) {
      next = until;
    }
  }
  return next;
}

// Holds the power domain of a streamer that has work.
void EngineSet::keep_awake(unsigned number) {
  const std::optional<mmio::WakeDomain> domain = mmio_.wake().domain_named(model_.engines[number].domain);
  if (!domain) {
    return;
  }
  if (engines_[number]->state().activity == engine::Activity::idle) {
    mmio_.wake().release(*domain, number);
  } else {
    mmio_.wake().hold(*domain, number);
  }
}

void EngineSet::follow_power(unsigned number) {
  const std::optional<mmio::WakeDomain> domain = mmio_.wake().domain_named(model_.engines[number].domain);
  if (!domain) {
    return;
  }
  if (mmio_.wake().awake(*domain)) {
    set_power(number, true);
  } else if (engines_[number]->state().activity == engine::Activity::idle) {
    set_power(number, false);
  }
}

void EngineSet::set_power(unsigned number, bool on) {
  engine::Engine& engine = *engines_[number];
  const bool is_on = engine.state().power.off == engine::PowerForm::none;
  if (on == is_on || !has_power_context_[number]) {
    return;
  }
  const VirtualClock now = clock_;
  if (on) {
    engine::power_on(engine);
  } else {
    engine::power_off(engine);
  }
  clock_ = now;  // registers may show the engine's own time
  note_sleepers();
}

void EngineSet::note_sleepers() {
  mmio_.set_engines_sleep(std::ranges::any_of(
      engines_, [](const auto& engine) { return engine->state().power.off != engine::PowerForm::none; }));
}

void EngineSet::on_wake_request() {
  for (unsigned number = 0; number < engines_.size(); ++number) {
    follow_power(number);
  }
}

void EngineSet::on_sleeping_access(const spec::EngineModel& engine) {
  set_power(static_cast<unsigned>(&engine - model_.engines.data()), true);
}

void EngineSet::reset_engine(unsigned number) {
  engines_[number]->reset();
  note_sleepers();
  engines_[number]->state().time = clock_.nanoseconds;  // a power-on restarts the clock
  keep_awake(number);
}

void EngineSet::reset() {
  for (unsigned number = 0; number < engines_.size(); ++number) {
    reset_engine(number);
  }
}

std::vector<engine::EngineState> EngineSet::snapshot() const {
  std::vector<engine::EngineState> states;
  for (const std::unique_ptr<engine::Engine>& engine : engines_) {
    states.push_back(engine->snapshot());
  }
  return states;
}

void EngineSet::restore(const std::vector<engine::EngineState>& states) {
  for (size_t number = 0; number < std::min(states.size(), engines_.size()); ++number) {
    engines_[number]->restore(states[number]);
  }
  note_sleepers();
}

void EngineSet::report(FidelityReport& report) const {
  for (const std::unique_ptr<engine::Engine>& engine : engines_) {
    engine->report(report);
  }
}

// Raises a page table error. Errors of clients without a streamer appear in the registers of the first engine, which on
// Gen4 belong to the whole device. Later parts have fault registers for per-process tables.
void EngineSet::on_fault(unsigned engine, const memory::Fault& fault) {
  const bool shown = fault.global || model_.has(spec::Feature::process_faults_in_esr);
  if (shown && !engines_.empty()) {
    engines_[engine < engines_.size() ? engine : 0]->errors().raise(engine::ErrorKind::page_table);
  }
}

void EngineSet::on_resume(unsigned engine) {
  if (engine < engines_.size()) {
    engines_[engine]->wake();
  }
}

}  // namespace halogen::device
