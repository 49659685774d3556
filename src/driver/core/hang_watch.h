// The clock and the limits of hang detection. A request has a limited time, whether or not it makes progress, as under
// i915. Time in which the device did long work (draws, dispatches, large BLTs) counts less, because the model is slower
// than a chip in that work; time in which a streamer only parses commands counts fully. Long work that makes no
// progress has the same limit, but all of its time counts, so an endless kernel is reset after the same time as an
// endless batch.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "driver/core/run_time.h"
#include "driver/queue/engine_queue.h"

namespace halogen::driver {

class HangWatch {
 public:
  using Time = std::chrono::nanoseconds;
  // A nanosecond of long work on a chip takes about this long in the model.
  static constexpr int64_t kSlowness = 60;

  // `limit`: time of a request that does not yield; zero: no detection. `engines`: number of engines of the device.
  HangWatch(RunTime clock, std::chrono::milliseconds limit, size_t engines);

  bool enabled() const { return limit_.count() != 0; }

  // Counts the time since the last call. `work`: a counter that grows with long work. `inside`: some is not finished.
  void count(uint64_t work, bool inside);

  enum class Verdict : uint8_t { fine, ask_to_yield, hung };
  // Returns the verdict on the request that a queue executes. ask_to_yield: submit a heartbeat of the highest priority
  // and pass it to set_heartbeat().
  Verdict judge(EngineQueue& queue);
  void set_heartbeat(EngineQueue& queue, RequestRef heartbeat) { entries_[&queue].heartbeat = std::move(heartbeat); }
  void forget(EngineQueue& queue) { entries_.erase(&queue); }

  // Computes until when each engine may do one piece of long work. Called before the device runs.
  void arm(const std::vector<std::unique_ptr<EngineQueue>>& queues, std::span<const spec::EngineModel> engines);
  // Returns whether the engine, in the middle of long work, has used up its time. Any thread may call it.
  bool is_over(unsigned engine) const;

 private:
  struct Entry {
    RequestRef request;
    Time since{};                 // of the time that counts
    uint64_t progress = 0;        // of the engine's long work, at the last look
    Time progressed{};            // time of the clock at which it last grew, or no long work was in progress
    std::optional<Time> urged{};  // since when more urgent work waits for the engine
    RequestRef heartbeat{};
  };
  // i915 waits a quarter of its heartbeat interval for a preemption (640 ms of 2.5 s), and half of the time of a
  // request for the heartbeat of the highest priority.
  Time preempt_limit() const { return limit_ / 4; }
  Time heartbeat_limit() const { return limit_ / 2; }
  Time deadline(const EngineQueue& queue, const Entry& entry) const;

  RunTime clock_;
  Time limit_;
  Time counted_;  // of the clock
  Time now_{};    // time that counts
  uint64_t work_ = 0;
  std::unordered_map<EngineQueue*, Entry> entries_;
  std::vector<std::atomic<int64_t>> ends_;  // by engine, in the clock's time
};

}  // namespace halogen::driver
