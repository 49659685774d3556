#include "base/event.h"

#include <fmt/format.h>

#include <algorithm>

namespace halogen {

std::string_view name_of(EventKind kind) {
  switch (kind) {
    case EventKind::unclaimed_register:
      return "unclaimed_register";
    case EventKind::terminated_access:
      return "terminated_access";
    case EventKind::bad_access:
      return "bad_access";
    case EventKind::read_only_write:
      return "read_only_write";
    case EventKind::unknown_command:
      return "unknown_command";
    case EventKind::bad_length:
      return "bad_length";
    case EventKind::reserved_bits:
      return "reserved_bits";
    case EventKind::unmapped_memory:
      return "unmapped_memory";
    case EventKind::fault:
      return "fault";
    case EventKind::undefined_behaviour:
      return "undefined_behaviour";
    case EventKind::approximation:
      return "approximation";
    case EventKind::unsupported:
      return "unsupported";
  }
  return "invalid";
}

std::string Event::to_string() const {
  std::string line = fmt::format("{} {}", path, name_of(kind));
  if (!item.empty()) {
    line += fmt::format(" item={}", item);
  }
  line += fmt::format(" address=0x{:x} value=0x{:x}", address, value);
  if (!detail.empty()) {
    line += fmt::format(" detail=\"{}\"", detail);
  }
  return line;
}

size_t EventLog::count(EventKind kind) const {
  return static_cast<size_t>(
      std::count_if(events_.begin(), events_.end(), [kind](const Event& event) { return event.kind == kind; }));
}

}  // namespace halogen
