// An Event reports something that must not be overlooked: a guest's mistake for which the manual defines no reaction,
// or a point where the behaviour of the hardware is unknown. The model never ignores these silently.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halogen {

enum class EventKind : uint8_t {
  unclaimed_register,   // no description has this offset
  terminated_access,    // the endpoint sleeps, is fused off or does not exist
  bad_access,           // size, alignment or address that the rules refuse
  read_only_write,      // a write that changed nothing because every bit is read-only
  unknown_command,      // no description matches the header on this engine
  bad_length,           // the encoded length is outside the description's range
  reserved_bits,        // bits that must be zero (or one) are not
  unmapped_memory,      // an address without memory
  fault,                // a translation fault that is reported to software
  undefined_behaviour,  // an action that the manual calls UNDEFINED
  approximation,        // executed, but not exactly as hardware does it
  unsupported,          // not executed
};

std::string_view name_of(EventKind kind);

struct Event {
  EventKind kind{};
  std::string_view item;  // register, command or structure; points at static text, or empty
  std::string path;       // where: "gpu0.rcs0", "gpu0.mmio"
  uint64_t address = 0;   // register offset or GPU address
  uint64_t value = 0;     // what was written, the header, the offending bits
  std::string detail;     // one phrase; may be empty

  // Returns one line of key=value pairs, the path first.
  std::string to_string() const;
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(const Event& event) = 0;
};

// Stores all Events, for tests and reports.
class EventLog final : public EventSink {
 public:
  void on_event(const Event& event) override { events_.push_back(event); }
  const std::vector<Event>& events() const { return events_; }
  size_t count(EventKind kind) const;
  void clear() { events_.clear(); }

 private:
  std::vector<Event> events_;
};

}  // namespace halogen
