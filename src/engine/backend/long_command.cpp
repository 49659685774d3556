#include "engine/backend/long_command.h"

#include <fmt/format.h>

#include "engine/engine.h"

namespace halogen::engine {

namespace {

std::string_view noun_of(LongWork work) {
  switch (work) {
    case LongWork::none:
      break;
    case LongWork::blit:
      return "BLT";
    case LongWork::dispatch:
      return "dispatch";
    case LongWork::draw:
      return "draw";
  }
  return "command";
}

}  // namespace

LongCommand::LongCommand(Engine& engine, const Command& command, LongWork work)
    : engine_(engine),
      command_(command),
      work_(work),
      resumed_(engine.state().long_command.work == work &&
               engine.state().long_command.is_of(command.place.address.value, engine.state().commands)) {}

void LongCommand::begin() {
  state() = {.work = work_, .address = command_.place.address.value, .commands = engine_.state().commands};
}

LongCommandState& LongCommand::state() const {
  return engine_.state().long_command;
}

// Keeps the dwords of the command. Later parts execute them, whatever the guest writes to the command meanwhile.
void LongCommand::keep() {
  if (state().dwords.empty()) {
    state().dwords.assign(command_.dwords.begin(), command_.dwords.end());
  }
}

bool LongCommand::is_over() const {
  return state().work == LongWork::none;
}

Next LongCommand::finish(WorkEnd end_of_part, uint64_t where) {
  switch (end_of_part) {
    case WorkEnd::finished:
      break;
    case WorkEnd::unfinished:
      keep();
      return engine_.continue_later();
    case WorkEnd::fault:
      keep();
      return engine_.stopped_by_fault(access_);
    case WorkEnd::illegal:
      engine_.raise(EventKind::undefined_behaviour, command_.desc.name, where, 0,
                    "illegal instruction executed by a thread");
      state() = {};
      return engine_.hang("thread stopped by an illegal instruction");
    case WorkEnd::endless:
      state() = {};
      return engine_.hang("thread does not end");
    case WorkEnd::deadlock:
      state() = {};
      return engine_.hang("deadlock: every thread is waiting");
    case WorkEnd::stopped:
      state() = {};
      return engine_.stop_in_command();
  }
  if (state().missed > 1) {  // the first one has raised its own Event
    engine_.raise(EventKind::fault, command_.desc.name, command_.place.address.value, state().missed,
                  fmt::format("accesses to unmapped physical memory in one {}", noun_of(work_)));
  }
  state() = {};
  return Next::advance();
}

}  // namespace halogen::engine
