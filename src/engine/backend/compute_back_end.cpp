#include "engine/backend/compute_back_end.h"

#include <algorithm>
#include <array>

#include "compute/commands.h"
#include "engine/backend/backend_table.h"
#include "engine/backend/binding_tables.h"
#include "engine/engine.h"
#include "engine/mi/predicate.h"
#include "hw/common.h"
#include "hw/gpgpu.h"

namespace halogen::engine {
namespace {

using spec::CommandId;
using spec::RegisterId;

// Virtual time: an instruction a nanosecond, whatever the number of units.
constexpr uint64_t kInstructionTime = 1;

class Events final : public EventSink {
 public:
  explicit Events(Engine& engine) : engine_(engine) {}
  void on_event(const Event& event) override { engine_.services().on_event(event); }

 private:
  Engine& engine_;
};

std::array<uint32_t, 3> indirect_counts(const Engine& engine) {
  return {engine.registers().peek(RegisterId::GPGPU_DISPATCHDIMX),
          engine.registers().peek(RegisterId::GPGPU_DISPATCHDIMY),
          engine.registers().peek(RegisterId::GPGPU_DISPATCHDIMZ)};
}

}  // namespace

Next ComputeBackEnd::execute(Engine& engine, const Command& command) {
  const bool media = command.desc.id == CommandId::MEDIA_OBJECT || command.desc.id == CommandId::MEDIA_OBJECT_PRT ||
                     command.desc.id == CommandId::MEDIA_OBJECT_WALKER;
  if (command.desc.id == CommandId::GPGPU_WALKER || media) {
    return walk(engine, command);
  }
  compute::Settings& settings = engine.state().compute.settings;
  if (!compute::change_settings(engine.gen(), command.desc.id, command.dwords, settings)) {
    engine.unsupported(command.desc);
  } else if (command.desc.id == CommandId::MEDIA_CURBE_LOAD ||
             command.desc.id == CommandId::MEDIA_INTERFACE_DESCRIPTOR_LOAD) {
    engine.approximate(command.desc, "memory is read when a dispatch begins");
  }
  return Next::advance();
}

// Advance: there is nothing to do, or all is ready; see Walk::valid.
Next ComputeBackEnd::begin(Engine& engine, const Command& command, memory::AddressSpace& space) {
  compute::ComputeState& state = engine.state().compute;
  compute::Walk& walk = state.walk;
  const uint64_t place = command.place.address.value;
  const bool media = command.desc.id != CommandId::GPGPU_WALKER;
  const auto fields = media ? hw::GPGPU_WALKER{} : command.as<hw::GPGPU_WALKER>(engine.gen());
  if (fields.predicate_enable && !predicate_result(engine)) {
    return Next::advance();
  }
  walk.end();
  const std::array<uint32_t, 3> counts = indirect_counts(engine);
  compute::JobFault fault = compute::JobFault::none;
  if (media && compute::has_media_units(engine.gen())) {
    fault = compute::take_media_units(engine.generation(),
                                      engine.state().draw.settings.get<hw::CONSTANT_BUFFER>(engine.gen()), space,
                                      state.settings);
  }
  if (fault == compute::JobFault::none) {
    fault = media ? compute::make_media_job(engine.generation(), state.settings, command.desc.id, command.dwords, space,
                                            walk.job)
                  : compute::make_job(engine.generation(), state.settings, command.dwords,
                                      fields.indirect_parameter_enable ? &counts : nullptr, space, walk.job);
  }
  switch (fault) {
    case compute::JobFault::none:
      break;
    case compute::JobFault::memory:
      return engine.stopped_by_fault();
    case compute::JobFault::no_descriptor:
      engine.raise(EventKind::undefined_behaviour, command.desc.name, place, command.dwords[1],
                   "no such interface descriptor was loaded: nothing is started");
      return Next::advance();
    case compute::JobFault::too_many_threads:
      engine.raise(EventKind::undefined_behaviour, command.desc.name, place, command.dwords[4],
                   "more threads than there can be: nothing is started");
      return Next::advance();
  }
  if (command.desc.id == CommandId::MEDIA_OBJECT_WALKER) {
    engine.approximate(command.desc,
                       "threads are not told colours and groups; dispatch masks and two-way walks are left out");
  }
  walk.job.tables = binding_tables_of(engine);
  walk.valid = true;
  walk.command = place;
  walk.commands = engine.state().commands;
  return Next::advance();
}

Next ComputeBackEnd::walk(Engine& engine, const Command& command) {
  compute::ComputeState& state = engine.state().compute;
  compute::Walk& walk = state.walk;
  memory::AddressSpace& space = engine.data_space(table_of(engine), memory::Stream::render_cache);
  const bool again = walk.is_of(command.place.address.value, engine.state().commands);
  if (!again) {
    const Next next = begin(engine, command, space);
    if (!walk.valid || next.action == Next::Action::hold) {
      return next;
    }
  }
  Events events(engine);
  walker_.set_events(&events, engine.path());
  walker_.set_pool(engine.services().pool());
  space.begin_work(walk.missed);
  const compute::Outcome outcome = walker_.run(engine.generation(), state.settings, walk, space, !again);
  walk.missed = space.end_work();
  walker_.set_events(nullptr, {});
  engine.spend(outcome.instructions * kInstructionTime);
  engine.note_work(outcome.channels);
  Registers& registers = engine.registers();
  const uint64_t count = registers.peek64(RegisterId::GPGPU_THREADS_DISPATCHED) + outcome.channels;
  registers.poke64(RegisterId::GPGPU_THREADS_DISPATCHED, count);
  switch (outcome.stop) {
    case compute::Stop::finished:
      break;
    case compute::Stop::unfinished:
      return engine.go_on();
    case compute::Stop::fault:
      return engine.stopped_by_fault();
    case compute::Stop::illegal:
      engine.raise(EventKind::undefined_behaviour, command.desc.name, outcome.ip, 0,
                   "a thread met an instruction that is none");
      walk.end();
      return engine.hang("a thread has stopped");
    case compute::Stop::deadlock:
      walk.end();
      return engine.hang("every thread waits for another one");
  }
  if (walk.missed > 1) {  // the first has an Event of its own
    engine.raise(EventKind::fault, command.desc.name, command.place.address.value, walk.missed,
                 "accesses of one dispatch found no memory");
  }
  walk.end();
  return Next::advance();
}

}  // namespace halogen::engine
