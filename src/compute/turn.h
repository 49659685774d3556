// A group's turn: its threads run, one after the other and again, until the turn is used up, all wait or all have
// ended. Where somebody else must do the rest (side_by_side.h) it can be broken off at a message and gone on with.
#pragma once

#include <cstdint>

#include "compute/compute_state.h"
#include "eu/exec/executor.h"
#include "message/shared_functions.h"

namespace halogen::compute {

// Instructions of a part of a dispatch, and the most of a thread without others in between.
inline constexpr uint64_t kPart = 1 << 16;
inline constexpr uint64_t kTurn = 1 << 13;
// Groups that are at work at a time if there are slots for their threads.
inline constexpr uint32_t kBeside = 16;

struct Turn {
  enum class End : uint8_t {
    open,     // it was broken off
    over,     // used up, or nobody can go on
    fault,    // memory refused an access
    illegal,  // a thread met an instruction that is none
  };

  End end = End::open;
  uint32_t thread = 0;     // whose turn it is
  uint64_t of_thread = 0;  // instructions that it has executed in it
  uint64_t used = 0;       // of all
  bool round_moved = false;
  bool moved = false;  // somebody did something
  bool freed = false;  // somebody ended
  bool spent = false;  // somebody used up his turn
  uint32_t ip = 0;     // of the thread that stopped it
};

// Sends messages, or only tries to.
class Sender final : public eu::MessageTarget {
 public:
  explicit Sender(message::SharedFunctions& functions, bool tries = false) : functions_(functions), tries_(tries) {}
  eu::SendOutcome send(eu::Thread& thread, const eu::Message& message) override {
    if (!tries_) [[likely]] {
      return functions_.send(thread, message);
    }
    const eu::SendOutcome outcome = functions_.try_send(thread, message);
    refused_ |= outcome == eu::SendOutcome::blocked;
    return outcome;
  }
  bool tries() const { return tries_; }
  bool refused() const { return refused_; }

 private:
  message::SharedFunctions& functions_;
  bool tries_;
  bool refused_ = false;
};

// Messages' view of one group.
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

// How a thread is run: by the executor, or with somebody looking.
class ThreadRunner {
 public:
  virtual ~ThreadRunner() = default;
  virtual eu::ThreadStatus run(uint32_t slot, eu::Thread& thread, uint64_t budget, Sender& sender) = 0;
};

uint32_t groups_at_once(const Job& job);

// Goes on with the turn of group `number`. Only what belongs to the group is changed.
void run_turn(Walk& walk, uint32_t number, Turn& turn, ThreadRunner& runner, Sender& sender, const LiveGroup& live);

}  // namespace halogen::compute
