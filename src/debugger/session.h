// A debugging session on one thread. The thread is stopped before its first instruction; then commands are read and
// answered. Commands are read during the dispatch, and nothing else of the device advances meanwhile.
//
// The thread is scheduled among the others of its dispatch as usual: it runs until it waits or its time slice is over,
// then all others run. Stops are checked at instructions of this thread only, so a watch also reports writes of other
// threads since the last instruction.
//
// Not supported: changing state; more than one thread; threads outside a dispatch of groups.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compute/observer.h"
#include "debugger/command.h"
#include "debugger/view.h"

namespace halogen::debugger {

// Selects a thread.
struct Target {
  uint64_t dispatch = 1;                           // number of the dispatch, in the order of their start
  std::optional<std::array<uint32_t, 3>> group{};  // no value: the group that starts first
  uint32_t thread = 0;
};

struct Console {
  std::function<std::optional<std::string>()> next_line;  // no value: end of input
  std::function<void(std::string_view)> put;
  bool json = false;
};

class Session final : public compute::Observer {
 public:
  Session(Target target, Console console, ReadMemory read)
      : target_(target), console_(std::move(console)), read_(std::move(read)) {}

  void on_dispatch(const compute::Job& job) override;
  std::optional<uint32_t> on_group(const std::array<uint32_t, 3>& group) override;
  void before_instruction(const compute::Moment& moment) override;
  void on_end(const compute::Moment& moment) override;

  // Returns whether no more commands are read: after quit, or because the thread does not exist.
  bool is_over() const { return over_; }
  // Returns whether the thread was found.
  bool has_begun() const { return begun_; }
  // Returns why the thread was not found. Empty: it may still start.
  const std::string& failure() const { return failure_; }
  uint64_t dispatches() const { return dispatches_; }
  bool had_errors() const { return errors_ != 0; }

  // Prints the last answer, after the whole trace has run.
  void finish(uint64_t memory_hash);

 private:
  static constexpr size_t kMaxStops = 1024;  // breakpoints, or watches

  struct Watch {
    uint64_t address = 0;
    std::vector<std::byte> bytes;  // content at the last check
  };
  struct Change {
    uint64_t address = 0;
    std::vector<std::byte> before;
    std::vector<std::byte> after;
  };

  void put(const Answer& answer) { console_.put(console_.json ? answer.json + "\n" : answer.text); }
  std::optional<Change> changed(const compute::Moment& moment);
  void stop(std::string_view why, const compute::Moment& moment, const Change* change = nullptr);
  Result<Answer> answer(const Command& command, const compute::Moment& moment);
  Result<Answer> add_watch(const Command& command, const compute::Moment& moment);
  Result<Answer> remove(uint64_t address);
  Answer place(std::string_view why, const compute::Moment& moment, const Change* change) const;

  Target target_;
  Console console_;
  ReadMemory read_;
  uint64_t dispatches_ = 0;
  bool begun_ = false;
  bool stopped_once_ = false;
  bool ended_ = false;
  bool over_ = false;
  std::string failure_;
  std::array<uint32_t, 3> group_{};
  uint64_t errors_ = 0;
  std::optional<uint64_t> seen_;  // instruction count of the thread at the last resume
  uint64_t steps_left_ = 0;       // 0: no step limit
  std::set<uint32_t> breaks_;
  std::vector<Watch> watches_;
};

}  // namespace halogen::debugger
