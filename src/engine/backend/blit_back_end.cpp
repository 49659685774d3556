#include "engine/backend/blit_back_end.h"

#include "base/bits.h"
#include "blit/blit_commands.h"
#include "blit/blit_rules.h"
#include "engine/engine.h"
#include "engine/submit/execlist.h"
#include "hw/blt.h"

namespace halogen::engine {
namespace {

constexpr uint64_t kBytesPerNanosecond = 8;

// False: the engine is stuck.
bool obeys(Engine& engine, const Command& command, const blit::BrokenRules& broken) {
  if (!broken.any()) [[likely]] {
    return true;
  }
  for (unsigned number = 0; number < blit::kRules; ++number) {
    const auto rule = static_cast<blit::Rule>(number);
    if (broken.has(rule)) {
      engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
                   std::string(blit::text_of(rule)));
    }
  }
  return !broken.hangs();
}

// Reserved bits must be zero (seed 003 8.7.1); they change nothing.
void check_reserved(Engine& engine, const Command& command) {
  for (const spec::ReservedDesc& range : command.desc.layout(engine.gen())->reserved) {
    const size_t dword = range.first_bit / 32;
    if (range.ignored || dword >= command.dwords.size()) {
      continue;
    }
    const auto mask = static_cast<uint32_t>(low_mask(range.width) << range.first_bit % 32);
    if ((command.dwords[dword] & mask) != 0) {
      engine.raise(EventKind::reserved_bits, command.desc.name, command.place.address.value,
                   command.dwords[dword] & mask, "of a BLT command");
    }
  }
}

// Batches draw through the table that they were fetched through. The ring of a logical context is fetched through the
// global table but draws as its process: Linux i915 clears and copies local memory so (intel_migrate.c).
memory::TableKind table_of(Engine& engine) {
  const ExeclistSubmission* const execlists = engine.execlists();
  const bool process_ring = !engine.in_batch() && execlists != nullptr && execlists->enabled();
  return process_ring ? memory::TableKind::per_process : engine.fetched_from();
}

}  // namespace

Next BlitBackEnd::execute(Engine& engine, const Command& command) {
  blit::BlitState& state = engine.state().blit;
  blit::Progress& progress = state.progress;
  const uint64_t place = command.place.address.value;
  const bool again = progress.is_of(place, engine.state().commands);
  const auto tiling = engine.registers().get<hw::BCS_SWCTRL>();
  const blit::Modes modes{.tile_y_source = tiling.tile_y_source, .tile_y_destination = tiling.tile_y_destination};
  const blit::BlitCommand blit_command{engine.gen(), command.desc, command.dwords};
  const std::optional<blit::BlitJob> job = blit::decode(blit_command, modes, state);
  if (!again) {
    check_reserved(engine, command);
    recorder_.record(blit_command, job ? &*job : nullptr, state);
    engine.registers().poke(spec::RegisterId::BR16, static_cast<uint32_t>(state.br[16]));
    progress.begin(place, engine.state().commands);
    if (job && !obeys(engine, command, blit::check_rules(blit_command, *job, state))) {
      progress.end();
      blit::set_busy(state, true);
      return engine.hang("the BLT engine waits for data that do not come");
    }
  }
  if (!job) {
    progress.end();
    return Next::advance();
  }
  memory::AddressSpace& space = engine.data_space(table_of(engine), memory::Stream::blit);
  const blit::Outcome outcome = blitter_.run(space, *job, progress);
  engine.spend(outcome.bytes / kBytesPerNanosecond);
  if (outcome.lines != 0) {
    engine.services().on_target_write(GpuVa{job->destination.base}, outcome.first_line, outcome.lines);
  }
  blit::set_busy(state, outcome.stopped || outcome.unfinished);
  if (outcome.stopped) {
    return engine.stopped_by_fault();
  }
  if (outcome.unfinished) {
    engine.note_work(outcome.bytes);  // of long ones only: batches that loop store words by small ones
    return engine.go_on();
  }
  if (progress.missed > 1) {  // the first has an Event of its own
    engine.raise(EventKind::fault, command.desc.name, place, progress.missed, "accesses of one BLT found no memory");
  }
  progress.end();
  return Next::advance();
}

}  // namespace halogen::engine
