// A command whose work is done in parts. Other engines work between two parts; the command's own streamer parses the
// command again for the next one. A streamer has at most one such command at work.
#pragma once

#include <cstdint>

#include "base/work_end.h"
#include "engine/backend/long_command_state.h"
#include "engine/stream/command.h"
#include "memory/address_space.h"

namespace halogen::engine {

class Engine;

// The protocol that back ends follow: begin() unless resumed(), one part of the work, finish().
class LongCommand {
 public:
  LongCommand(Engine& engine, const Command& command, LongWork work);

  // Whether parts of this very command were done before.
  bool resumed() const { return resumed_; }
  void begin();
  // Does one part. Accesses without memory are counted over all parts: only the first raises an Event of its own.
  template <class Part>
  auto run(memory::AddressSpace& space, Part&& part) {
    space.begin_work(state().missed);
    auto outcome = part();
    const memory::AddressSpace::Work work = space.end_work();
    state().missed = work.skipped;
    access_ = work.result;
    return outcome;
  }
  // Returns what the streamer does next. `where`: the address that the Event of an illegal instruction names.
  Next finish(WorkEnd end, uint64_t where);
  // The work is over, or was never begun: its state is not needed any more.
  bool is_over() const;

 private:
  LongCommandState& state() const;

  Engine& engine_;
  const Command& command_;
  LongWork work_;
  bool resumed_;
  memory::AccessResult access_ = memory::AccessResult::ok;  // of the part
};

}  // namespace halogen::engine
