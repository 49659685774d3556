#include "engine/stream/command_dispatcher.h"

#include <fmt/format.h>

#include "engine/mi/predicate.h"

namespace halogen::engine {

Next CommandDispatcher::execute(Command& command) {
  if (command.place.level == 0) {
    engine_.ring().check_end_of_ring(command.place.address, command.dwords.size_bytes());
  }
  if (engine_.state_.predicate != 0 && skipped_by_predicate(engine_, command)) [[unlikely]] {
    return Next::advance();
  }
  if (!engine_.level().privileged && !engine_.privilege_.restrict_command(command)) [[unlikely]] {
    return Next::advance();
  }
  if (const spec::UnreadDesc* const unread = engine_.unread_.note(command.desc, engine_.gen(), command.dwords)) {
    engine_.approximate(command.desc, unread->text);
  }
  if (const Handler handler = engine_.handlers_.find(command.desc.id)) {
    return handler(engine_, command);
  }
  if (engine_.modes_.skips(command)) {
    return Next::advance();
  }
  return engine_.back_end_->execute(engine_, command);
}

Next CommandDispatcher::on_unknown(std::span<const uint32_t> dwords, const CommandPlace& place) {
  engine_.spend(kCommandTime);
  engine_.state_.header = dwords[0];
  ++engine_.unknown_commands_;
  engine_.raise(EventKind::unknown_command, {}, place.address.value, dwords[0], "command not known on this engine");
  engine_.errors().raise(ErrorKind::instruction);
  return engine_.hang("unknown command");
}

void CommandDispatcher::on_truncated(const spec::CommandDesc* /*desc*/, std::span<const uint32_t> present,
                                     uint32_t /*total*/, const CommandPlace& /*place*/) {
  engine_.state_.header = present.empty() ? 0 : present[0];
}

}  // namespace halogen::engine
