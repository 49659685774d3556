// A group's turn: its threads run round robin until the turn's budget is used up, all threads wait, or all have ended.
// A speculative turn (parallel_pass.h) can be suspended at a message and resumed later.
#pragma once

#include <cstdint>

#include "compute/compute_state.h"
#include "eu/exec/executor.h"
#include "message/shared_functions.h"

namespace halogen::compute {

// Instructions in a part of a dispatch, and the maximum that one thread executes before the next thread runs.
inline constexpr uint64_t kPart = 1 << 16;
inline constexpr uint64_t kTurn = 1 << 13;
// The maximum number of running groups, if there are slots for their threads.
inline constexpr uint32_t kMaxRunningGroups = 16;

struct Turn {
  enum class End : uint8_t {
    open,     // suspended
    over,     // the budget is used up, or no thread can continue
    fault,    // memory refused an access
    illegal,  // a thread executed an illegal instruction
  };

  End end = End::open;
  uint32_t thread = 0;       // number of the running thread in the group
  uint64_t of_thread = 0;    // instructions that it has executed in this round
  uint64_t used = 0;         // instructions of all threads
  bool round_moved = false;  // a thread made progress in this round
  bool moved = false;        // a thread made progress
  bool freed = false;        // a thread ended
  bool spent = false;        // a thread used up its share
  uint32_t ip = 0;           // of the thread that stopped the turn
};

// Sends messages.
class Sender final : public eu::MessageTarget {
 public:
  enum class Mode : uint8_t {
    direct,
    before_others,  // later turns of the pass have run speculatively: messages that concern other threads are refused
    speculative     // so is what cannot be rolled back
  };

  explicit Sender(message::SharedFunctions& functions, Mode mode = Mode::direct) : functions_(functions), mode_(mode) {}
  eu::SendOutcome send(eu::Thread& thread, const eu::Message& message) override {
    if (mode_ == Mode::direct) [[likely]] {
      return functions_.send(thread, message);
    }
    if (functions_.exchanges(message)) {
      refused_ = true;
      return eu::SendOutcome::blocked;
    }
    if (mode_ == Mode::before_others) {
      return functions_.send(thread, message);
    }
    const eu::SendOutcome outcome = functions_.try_send(thread, message);
    refused_ |= outcome == eu::SendOutcome::blocked;
    return outcome;
  }
  bool speculative() const { return mode_ == Mode::speculative; }
  bool refused() const { return refused_; }

 private:
  message::SharedFunctions& functions_;
  Mode mode_;
  bool refused_ = false;
};

// A group as message handlers see it.
class LiveGroup final : public message::Groups {
 public:
  LiveGroup(Walk& walk, uint32_t number) : walk_(walk), number_(number) {}
  std::span<std::byte> local_memory(uint32_t group) override {
    return group == number_ ? std::span(walk_.groups[group].local) : std::span<std::byte>();
  }
  void arrive(eu::Thread& thread) override;
  uint64_t arrivals() const { return arrivals_; }

 private:
  Walk& walk_;
  uint32_t number_;
  uint64_t arrivals_ = 0;
};

// Runs a thread, for a turn or under an observer.
class ThreadRunner {
 public:
  virtual ~ThreadRunner() = default;
  virtual eu::ThreadStatus run(uint32_t slot, eu::Thread& thread, uint64_t budget, Sender& sender) = 0;
};

// Returns the number of groups that may run at the same time.
uint32_t groups_at_once(const Job& job);

// Starts or resumes the turn of group `number`. Changes only state of the group.
void run_turn(Walk& walk, uint32_t number, Turn& turn, ThreadRunner& runner, Sender& sender, const LiveGroup& live);

}  // namespace halogen::compute
