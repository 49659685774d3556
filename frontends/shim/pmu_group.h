// Events of the PMU that a program opened with perf_event_open(2). A group of events is one anonymous file with a
// record for each event. Each descriptor of the program is an open file of its own on it: its position names the
// record, and a lock on the record says that it is open. So the host itself implements dup, fork, descriptor passing
// and close, and any process can read an event of another one. The program can change the file; then the values that it
// reads are wrong, and nothing else happens.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "driver/perf/load_page.h"
#include "spec/device_model.h"

namespace halogen::shim {

// An event in the file of its group.
struct EventRecord {
  uint64_t config = 0;
  uint64_t id = 0;
  uint64_t read_format = 0;
  uint64_t is_on = 0;   // as its program wants; it counts only while the leader is on, too
  uint64_t counts = 0;  // it counts since `base` and `since`
  uint64_t value = 0;   // counted before
  uint64_t base = 0;    // value of the PMU
  uint64_t time = 0;    // time for which it counted before
  uint64_t since = 0;
};

// The checked arguments of perf_event_open(2).
struct EventRequest {
  uint64_t config = 0;
  uint64_t read_format = 0;
  bool starts = false;
  bool close_on_exec = false;
  int leader = -1;  // a descriptor; -1: the event leads a new group
};

class PmuGroup {
 public:
  static constexpr size_t kMaxEvents = 2048;
  // Longest answer of read(2) that Linux allows a group.
  static constexpr size_t kMaxAnswer = 16384;

  PmuGroup(const spec::DeviceModel& model, driver::LoadBoard& board) : model_(model), board_(board) {}

  // Returns a descriptor of the program or a negative errno.
  int open(const EventRequest& request);
  // Returns the words that read(2) answers, or a negative errno: they do not fit `bytes`.
  int read(int descriptor, size_t bytes, std::vector<uint64_t>& words);
  // PERF_EVENT_IOC_ENABLE, DISABLE and RESET, for one event or all of its group.
  int control(int descriptor, unsigned long request, bool whole_group);
  std::optional<uint64_t> id(int descriptor);
  // Returns whether the descriptor is the leader of a group.
  static bool is_leader(int descriptor);
  std::mutex& guard() { return guard_; }

 private:
  struct Event {
    size_t index = 0;
    EventRecord record;
  };
  int add(int file, size_t index, const EventRequest& request);
  std::vector<Event> group_of(int descriptor);
  void settle(int descriptor, std::vector<Event>& group);
  uint64_t value_of(const EventRecord& record) const;
  uint64_t time_of(const EventRecord& record) const;

  const spec::DeviceModel& model_;
  driver::LoadBoard& board_;
  std::mutex guard_;  // other processes may change a group too; then a value may be wrong
};

}  // namespace halogen::shim
