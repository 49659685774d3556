#include "engine/backend/stage_work.h"

namespace halogen::engine {
namespace {

constexpr uint64_t kInstructionTime = 1;  // in nanoseconds

struct StageWork {
  uint64_t started = 0;  // threads
  uint64_t loaded = 0;   // threads that were alive in the part
  uint64_t time_ns = 0;
};

void add(oa::Stage stage, const StageWork& work, const oa::CountsWanted& wanted, oa::WorkCounts& counts) {
  const auto number = static_cast<size_t>(stage);
  if (wanted.work) {
    counts.threads[number] += work.started;
  }
  if (wanted.activity) {
    counts.activity[number].active_ns += work.time_ns;
    counts.activity[number].thread_ns += work.loaded * work.time_ns;
  }
}

}  // namespace

uint64_t time_of(const pipe3d::Outcome& outcome) {
  return outcome.instructions * kInstructionTime + outcome.counts.vertices + outcome.counts.pixels.invocations;
}

uint64_t time_of(const compute::Outcome& outcome) {
  return outcome.instructions * kInstructionTime;
}

void add_stages(const pipe3d::Outcome& outcome, const oa::CountsWanted& wanted, oa::WorkCounts& counts) {
  const pipe3d::StageAmounts& threads = outcome.threads;
  const pipe3d::StageAmounts& ran = outcome.instructions_of;
  const uint64_t vertices = ran.vertex * kInstructionTime + outcome.counts.vertices;
  const uint64_t pixels = (ran.setup + ran.pixel) * kInstructionTime + outcome.counts.pixels.invocations;
  add(oa::Stage::vertex, {threads.vertex, threads.vertex, vertices}, wanted, counts);
  add(oa::Stage::hull, {threads.hull, threads.hull, ran.hull * kInstructionTime}, wanted, counts);
  add(oa::Stage::domain, {threads.domain, threads.domain, ran.domain * kInstructionTime}, wanted, counts);
  add(oa::Stage::geometry,
      {threads.geometry, threads.geometry + threads.clip, (ran.geometry + ran.clip) * kInstructionTime}, wanted,
      counts);
  add(oa::Stage::pixel, {threads.pixel, threads.pixel + threads.setup, pixels}, wanted, counts);
}

void add_stages(const compute::Outcome& outcome, const oa::CountsWanted& wanted, oa::WorkCounts& counts) {
  add(oa::Stage::compute, {outcome.threads, outcome.loaded, time_of(outcome)}, wanted, counts);
}

}  // namespace halogen::engine
