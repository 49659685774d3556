// The visitor that executes commands: counts them, checks the predicate and the privilege of the batch, and calls the
// handler or the back end.
#pragma once

#include <span>

#include "engine/engine.h"
#include "engine/stream/command.h"

namespace halogen::engine {

class CommandDispatcher {
 public:
  explicit CommandDispatcher(Engine& engine) : engine_(engine) {}

  [[gnu::always_inline]] Next on_command(const spec::CommandDesc& desc, std::span<const uint32_t> dwords,
                                         const CommandPlace& place) {
    engine_.spend(kCommandTime);
    engine_.state_.header = dwords[0];
    Next next;
    if (dwords[0] != 0) {  // zero: an MI_NOOP without an identification
      Command command{desc, dwords, place};
      next = execute(command);
    }
    const bool done = next.action != Next::Action::hold;
    engine_.counts_[static_cast<size_t>(desc.id)].count += done;
    engine_.state_.commands += done;
    return next;
  }
  // Counts and charges a run of no-ops at once: single no-ops are not observable.
  void on_noops(size_t count) {
    engine_.spend(count * kCommandTime);
    engine_.state_.header = 0;
    engine_.counts_[static_cast<size_t>(spec::CommandId::MI_NOOP)].count += count;
    engine_.state_.commands += count;
  }
  // Returns the unfinished long command at this place. Its later parts do not depend on memory that may have changed.
  std::span<const uint32_t> kept_command() const {
    return engine_.in_command() ? engine_.state_.long_command.dwords : std::span<const uint32_t>{};
  }
  // Checks the reporting borders of the ring. They lie at starts of pages.
  void on_page() { engine_.ring_.report_head_at_borders(); }
  Next on_unknown(std::span<const uint32_t> dwords, const CommandPlace& place);
  void on_truncated(const spec::CommandDesc* desc, std::span<const uint32_t> present, uint32_t total,
                    const CommandPlace& place);

 private:
  Next execute(Command& command);

  Engine& engine_;
};

}  // namespace halogen::engine
