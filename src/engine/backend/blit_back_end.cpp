#include "engine/backend/blit_back_end.h"

#include "base/bits.h"
#include "blit/blit_commands.h"
#include "blit/blit_rules.h"
#include "engine/backend/backend_table.h"
#include "engine/backend/blit_memory.h"
#include "engine/backend/long_command.h"
#include "engine/backend/state_report.h"
#include "engine/engine.h"
#include "engine/work_report.h"
#include "hw/blt.h"
#include "hw/header_bits.h"

namespace halogen::engine {
namespace {

constexpr uint64_t kBytesPerNanosecond = 8;

// Reports broken rules of the manual. False: the engine hangs because of one of them.
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

// Reports reserved bits that are not zero, as G45 PRM vol. 1b 8.7.1 (seed 003) requires. They have no effect.
void check_reserved(Engine& engine, const Command& command) {
  for (const spec::ReservedDesc& range : command.desc.layout(engine.gen())->reserved) {
    const size_t dword = range.first_bit / 32;
    if (range.ignored || dword >= command.dwords.size()) {
      continue;
    }
    const auto mask = static_cast<uint32_t>(low_mask(range.width) << range.first_bit % 32);
    if ((command.dwords[dword] & mask) != 0) {
      engine.raise(EventKind::reserved_bits, command.desc.name, command.place.address.value,
                   command.dwords[dword] & mask, "BLT command with reserved bits set");
    }
  }
}

// Makes the report of a part. Only an unfinished part counts for the hang watch: a blit that finishes in one part is no
// slower than on a chip.
WorkReport report_of(const blit::BlitJob& job, const blit::Outcome& outcome) {
  WorkReport report;
  report.time_ns = outcome.bytes / kBytesPerNanosecond;
  report.blit_bytes = outcome.bytes;
  if (outcome.end == WorkEnd::unfinished) {
    report.done = {.amount = outcome.bytes, .progress = outcome.bytes};
  }
  if (outcome.lines != 0) {
    report.target_write = {wrapped_address(job.destination.base), outcome.first_line, outcome.lines};
  }
  return report;
}

// Returns whether a command goes to the BLT engine on some generation.
bool is_blit(const spec::CommandDesc& desc) {
  bool found = false;
  for (size_t gen = 0; gen < spec::kGenCount; ++gen) {
    found |= desc.engines_of_gen[gen] != 0 &&
             hw::ClientHeader::kClient.of(desc.match_of_gen[gen].value) == hw::ClientHeader::blit;
  }
  return found;
}

}  // namespace

void add_blit_registers(HandlerTable& table) {
  for (const spec::CommandDesc* const desc : spec::commands()) {
    if (is_blit(*desc)) {
      table.add_registers(desc->id, {{spec::RegisterId::BCS_SWCTRL}, {spec::RegisterId::BR16}});
    }
  }
}

Next BlitBackEnd::execute(Engine& engine, const Command& command) {
  blit::BlitState& state = engine.state().blit;
  LongCommand work(engine, command, LongWork::blit);
  const auto tiling = engine.registers().get<hw::BCS_SWCTRL>();
  const blit::Modes modes{.tile_y_source = tiling.tile_y_source, .tile_y_destination = tiling.tile_y_destination};
  const blit::BlitCommand blit_command{engine.gen(), command.desc, command.dwords};
  const std::optional<blit::BlitJob> job = blit::decode(blit_command, modes, state);
  memory::AddressSpace& space = engine.data_space(table_of(engine), memory::Stream::blit);
  if (!work.resumed()) {
    check_reserved(engine, command);
    recorder_.record(blit_command, job ? &*job : nullptr, state);
    engine.registers().poke(spec::RegisterId::BR16, static_cast<uint32_t>(state.br[16]));
    if (job && !obeys(engine, command, blit::check_rules(blit_command, *job, state))) {
      blit::set_busy(state, true);
      return engine.hang("BLT engine waits for source data that never arrive");
    }
    if (job) {
      check_cacheable_operands(engine, command, *job, space);
      report_states(engine, command.desc.name, *job, space);
    }
    state.progress.restart();
    work.begin();
  }
  if (!job) {
    return work.finish(WorkEnd::finished, 0);
  }
  const blit::Outcome outcome = work.run(space, [&] { return blitter_.run(space, *job, state.progress); });
  engine.account(report_of(*job, outcome));
  blit::set_busy(state, outcome.end != WorkEnd::finished);
  return work.finish(outcome.end, 0);
}

}  // namespace halogen::engine
