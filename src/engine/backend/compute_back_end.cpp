#include "engine/backend/compute_back_end.h"

#include <algorithm>
#include <array>

#include "compute/commands.h"
#include "engine/backend/backend_table.h"
#include "engine/backend/binding_tables.h"
#include "engine/backend/long_command.h"
#include "engine/backend/stage_work.h"
#include "engine/backend/state_report.h"
#include "engine/engine.h"
#include "engine/mi/predicate.h"
#include "engine/work_report.h"
#include "hw/common.h"
#include "hw/gpgpu.h"

namespace halogen::engine {
namespace {

using spec::CommandId;
using spec::RegisterId;

// Returns the thread groups in each direction of a dispatch whose command does not hold them.
std::array<uint32_t, 3> indirect_counts(const Engine& engine) {
  return {engine.registers().peek(RegisterId::GPGPU_DISPATCHDIMX),
          engine.registers().peek(RegisterId::GPGPU_DISPATCHDIMY),
          engine.registers().peek(RegisterId::GPGPU_DISPATCHDIMZ)};
}

WorkReport report_of(const compute::Outcome& outcome) {
  WorkReport report;
  report.time_ns = time_of(outcome);
  report.done = {.amount = outcome.instructions, .progress = outcome.channels};
  report.instructions = outcome.instructions;
  report.compute = {.threads = outcome.threads, .channels = outcome.channels};
  return report;
}

}  // namespace

void add_compute_registers(HandlerTable& table) {
  for (const CommandId id : {CommandId::GPGPU_WALKER, CommandId::MEDIA_OBJECT, CommandId::MEDIA_OBJECT_PRT,
                             CommandId::MEDIA_OBJECT_WALKER}) {
    table.add_registers(id,
                        {{RegisterId::GT_MODE, {}, "binding_table_alignment"}, {RegisterId::GFX_AUX_TABLE_BASE_ADDR}});
  }
  table.add_registers(CommandId::GPGPU_WALKER, {{RegisterId::MI_PREDICATE_RESULT, "predicate_enable"},
                                                {RegisterId::GPGPU_DISPATCHDIMX, "indirect_parameter_enable"},
                                                {RegisterId::GPGPU_DISPATCHDIMY, "indirect_parameter_enable"},
                                                {RegisterId::GPGPU_DISPATCHDIMZ, "indirect_parameter_enable"}});
}

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
    engine.approximate(command.desc, "memory read when a dispatch begins, not when the load command executes");
  }
  return Next::advance();
}

// Prepares a dispatch. Empty: it is ready. Otherwise returns the streamer's next action.
std::optional<Next> ComputeBackEnd::prepare(Engine& engine, const Command& command, memory::AddressSpace& space) {
  compute::ComputeState& state = engine.state().compute;
  compute::Walk& walk = state.walk;
  const message::StateBases bases = bases_of(engine);
  const uint64_t address = command.place.address.value;
  const bool media = command.desc.id != CommandId::GPGPU_WALKER;
  const auto fields = media ? hw::GPGPU_WALKER{} : command.as<hw::GPGPU_WALKER>(engine.gen());
  if (fields.predicate_enable && !predicate_result(engine)) {
    return Next::advance();
  }
  walk = {};
  const bool indirect = fields.indirect_parameter_enable;
  const std::array<uint32_t, 3> counts = indirect ? indirect_counts(engine) : std::array<uint32_t, 3>{};
  compute::JobStatus status = compute::JobFault::none;
  if (media && compute::has_media_units(engine.gen())) {
    status = compute::take_media_units(engine.generation(), bases,
                                       engine.state().draw.settings.get<hw::CONSTANT_BUFFER>(engine.gen()), space,
                                       state.settings);
  }
  if (status.fault == compute::JobFault::none) {
    status = media ? compute::make_media_job(engine.generation(), state.settings, bases, command.desc.id,
                                             command.dwords, space, walk.job)
                   : compute::make_job(engine.generation(), state.settings, bases, command.dwords,
                                       indirect ? &counts : nullptr, space, walk.job);
  }
  switch (status.fault) {
    case compute::JobFault::none:
      break;
    case compute::JobFault::memory:
      return engine.stopped_by_fault(status.access);
    case compute::JobFault::no_descriptor:
      engine.raise(EventKind::undefined_behaviour, command.desc.name, address, command.dwords[1],
                   "interface descriptor not loaded; no thread started");
      return Next::advance();
    case compute::JobFault::too_many_threads:
      engine.raise(EventKind::undefined_behaviour, command.desc.name, address, command.dwords[4],
                   "thread count out of range; no thread started");
      return Next::advance();
  }
  if (command.desc.id == CommandId::MEDIA_OBJECT_WALKER) {
    engine.approximate(command.desc,
                       "colours and groups not passed to threads; dispatch masks and two-way walks not modelled");
  }
  walk.job.tables = binding_tables_of(engine);
  return std::nullopt;
}

Next ComputeBackEnd::walk(Engine& engine, const Command& command) {
  compute::ComputeState& state = engine.state().compute;
  memory::AddressSpace& space = engine.data_space(table_of(engine), memory::Stream::render_cache);
  LongCommand work(engine, command, LongWork::dispatch);
  if (!work.resumed()) {
    if (const std::optional<Next> next = prepare(engine, command, space)) {
      return *next;
    }
    work.begin();
    surfaces_.begin();
  }
  dispatcher_.set_events(&engine.services(), engine.path());
  dispatcher_.set_pool(engine.services().pool());
  dispatcher_.set_stop(engine.services().stop());
  const oa::CountsWanted wanted = engine.services().counts_wanted();
  std::optional<oa::WorkCounts> counts;
  if (wanted.any()) {
    counts.emplace();
  }
  dispatcher_.set_work(wanted, counts ? &*counts : nullptr);
  const compute::Outcome outcome = work.run(
      space, [&] { return dispatcher_.run(engine.generation(), state.settings, state.walk, space, !work.resumed()); });
  dispatcher_.set_events(nullptr, {});
  dispatcher_.set_work({}, nullptr);
  WorkReport report = report_of(outcome);
  if (counts) {
    add_stages(outcome, wanted, *counts);
    report.counts = &*counts;
  }
  engine.account(report);
  message::SurfaceUses uses = dispatcher_.take_surface_uses();
  surfaces_.add(engine, uses.take());
  report_states(engine, command.desc.name, uses.take_bindings(), space);
  const Next next = work.finish(outcome.stop, outcome.ip);
  if (work.is_over()) {
    state.walk = {};
  }
  return next;
}

}  // namespace halogen::engine
