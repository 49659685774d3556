#include "compute/turn.h"

#include <algorithm>
#include <utility>

namespace halogen::compute {
namespace {

constexpr uint64_t kMinTurn = 1 << 8;

// Children make a pass longer than the groups that a job has at a time.
uint64_t groups_in_pass(const Walk& walk) {
  const uint64_t usual = groups_at_once(walk.job);
  return walk.exchanged == 0
             ? usual
             : std::max(usual, static_cast<uint64_t>(std::ranges::count(walk.groups, true, &Group::live)));
}

// Updates the turn after a thread has run. False: the turn cannot continue now.
bool end_of_thread_turn(eu::ThreadStatus status, const eu::Thread& thread, const Sender& sender, Group& group,
                        Turn& turn) {
  switch (status) {
    case eu::ThreadStatus::ended:
      ++group.ended;
      turn.freed = turn.round_moved = true;
      return true;
    case eu::ThreadStatus::faulted:
    case eu::ThreadStatus::illegal:
      if (!sender.speculative()) {
        turn.end = status == eu::ThreadStatus::faulted ? Turn::End::fault : Turn::End::illegal;
        turn.ip = thread.ip;
      }
      return false;
    case eu::ThreadStatus::running:
      turn.spent = true;
      return true;
    case eu::ThreadStatus::blocked:
      return !sender.refused();
  }
  return false;
}

}  // namespace

void LiveGroup::arrive(eu::Thread& thread) {
  if (thread.group != number_) {
    return;
  }
  Group& group = walk_.groups[number_];
  const uint32_t wanted = walk_.job.barrier_threads != 0 ? walk_.job.barrier_threads : group.threads;
  ++arrivals_;
  if (++group.arrived < wanted) {
    return;
  }
  group.arrived = 0;
  for (uint32_t i = 0; i < group.threads; ++i) {
    ++walk_.threads[group.first_slot + i].thread.notification[0];
  }
}

uint32_t groups_at_once(const Job& job) {
  return std::clamp<uint32_t>(job.slots / std::max(job.group_threads(), 1u), 1, kMaxRunningGroups);
}

void run_turn(Walk& walk, uint32_t number, Turn& turn, ThreadRunner& runner, Sender& sender, const LiveGroup& live) {
  Group& group = walk.groups[number];
  const uint64_t budget = kPart / groups_in_pass(walk);
  const uint64_t of_thread = std::clamp<uint64_t>(budget / std::max(group.threads, 1u), kMinTurn, kTurn);
  do {
    const uint64_t arrived = live.arrivals() + walk.exchanged;
    for (; turn.thread < group.threads; ++turn.thread, turn.of_thread = 0) {
      eu::Thread& thread = walk.threads[group.first_slot + turn.thread].thread;
      if (thread.status == eu::ThreadStatus::ended) {
        continue;
      }
      const uint64_t before = thread.instructions;
      const eu::ThreadStatus status =
          runner.run(group.first_slot + turn.thread, thread, of_thread - turn.of_thread, sender);
      turn.used += thread.instructions - before;
      turn.of_thread += thread.instructions - before;
      if (!end_of_thread_turn(status, thread, sender, group, turn)) {
        turn.round_moved |= live.arrivals() + walk.exchanged != arrived;
        return;
      }
      turn.round_moved |= turn.of_thread > 1;
    }
    turn.thread = 0;
    turn.round_moved |= live.arrivals() + walk.exchanged != arrived;
    turn.moved |= turn.round_moved;
    if (group.ended == group.threads || !std::exchange(turn.round_moved, false)) {
      break;
    }
  } while (turn.used < budget);
  turn.end = Turn::End::over;
}

}  // namespace halogen::compute
