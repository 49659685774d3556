// One person's or script's look at one thread: it is stopped before its first instruction, then commands come, an
// answer each. Commands are read in the middle of the dispatch; nothing else of the device moves meanwhile.
//
// The thread takes its turns among the others of its dispatch as always: it runs until it waits or its turn is over,
// then all others have theirs. A stop is seen at an instruction of this thread only, so a watch also tells of what
// others wrote since.
//
// Left out: changing anything; more than one thread; threads of anything but a dispatch of groups.
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

// Which thread it is.
struct Target {
  uint64_t dispatch = 1;                           // in order of their beginning
  std::optional<std::array<uint32_t, 3>> group{};  // nothing: the one that begins first
  uint32_t thread = 0;
};

struct Console {
  std::function<std::optional<std::string>()> next_line;  // nothing: the input has ended
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

  // Nothing more will be asked: quit, or the thread that was asked for does not exist.
  bool is_over() const { return over_; }
  // The thread was found.
  bool has_begun() const { return begun_; }
  // Why the thread was not found; empty: it may still come.
  const std::string& failure() const { return failure_; }
  uint64_t dispatches() const { return dispatches_; }
  bool had_errors() const { return errors_ != 0; }

  // The last answer, when everything has run.
  void finish(uint64_t memory_hash);

 private:
  static constexpr size_t kMaxStops = 1024;  // breakpoints, or watches

  struct Watch {
    uint64_t address = 0;
    std::vector<std::byte> bytes;  // as they were last seen
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
  std::optional<uint64_t> seen_;  // instructions of the thread when it was last about to go on
  uint64_t steps_left_ = 0;       // 0: until something else stops it
  std::set<uint32_t> breaks_;
  std::vector<Watch> watches_;
};

}  // namespace halogen::debugger
