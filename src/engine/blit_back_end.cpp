#include "engine/blit_back_end.h"

#include "blit/blit_commands.h"
#include "engine/engine.h"
#include "hw/blt.h"

namespace halogen::engine {
namespace {

constexpr uint64_t kBytesPerNanosecond = 8;

}  // namespace

Next BlitBackEnd::execute(Engine& engine, const Command& command) {
  blit::BlitState& state = engine.state().blit;
  const auto tiling = engine.registers().get<hw::BCS_SWCTRL>();
  const blit::Modes modes{.tile_y_source = tiling.tile_y_source, .tile_y_destination = tiling.tile_y_destination};
  const std::optional<blit::BlitJob> job = blit::decode({engine.gen(), command.desc, command.dwords}, modes, state);
  if (!job) {
    return Next::advance();
  }
  blit::Progress& progress = state.progress;
  if (progress.command != command.place.address.value || !progress.valid) {
    progress = {.valid = true, .command = command.place.address.value};
  }
  AddressSpace& space = engine.data_space(engine.fetched_from(), Stream::blit);
  const blit::Outcome outcome = blitter_.run(space, *job, progress);
  engine.spend(outcome.bytes / kBytesPerNanosecond);
  if (outcome.stopped) {
    return engine.stopped_by_fault();
  }
  progress = {};
  if (outcome.lines != 0) {
    engine.services().on_target_write(GpuVa{job->destination.base}, outcome.first_line, outcome.lines);
  }
  return Next::advance();
}

}  // namespace halogen::engine
