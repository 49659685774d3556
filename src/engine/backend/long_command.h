// A command whose work is done in parts. Other engines run between two parts. The command's own streamer parses its
// copy of the command again for the next part. A streamer has at most one unfinished long command.
#pragma once

#include <cstdint>

#include "base/work_end.h"
#include "engine/backend/long_command_state.h"
#include "engine/stream/command.h"
#include "memory/address_space.h"

namespace halogen::engine {

class Engine;

// The protocol of a back end: begin() unless resumed(), one part of the work, finish().
class LongCommand {
 public:
  LongCommand(Engine& engine, const Command& command, LongWork work);

  // Returns whether earlier parts of this command have been done.
  bool resumed() const { return resumed_; }
  void begin();
  // Runs one part. Accesses without memory are counted across all parts; only the first raises an Event of its own.
  template <class Part>
  auto run(memory::AddressSpace& space, Part&& part) {
    space.begin_work(state().missed);
    auto outcome = part();
    const memory::AddressSpace::Work work = space.end_work();
    state().missed = work.skipped;
    access_ = work.result;
    return outcome;
  }
  // Returns the streamer's next action. `where` is the address in the Event of an illegal instruction.
  Next finish(WorkEnd end, uint64_t where);
  // Returns whether the work is finished or never began, so that its state can be dropped.
  bool is_over() const;

 private:
  LongCommandState& state() const;
  void keep();

  Engine& engine_;
  const Command& command_;
  LongWork work_;
  bool resumed_;
  memory::AccessResult access_ = memory::AccessResult::ok;  // of the part
};

}  // namespace halogen::engine
