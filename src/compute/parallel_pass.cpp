#include "compute/parallel_pass.h"

#include <algorithm>
#include <deque>

namespace halogen::compute {
namespace {

// A space whose accesses are all speculative does not fault.
class NoFaults final : public memory::FaultHandler {
 public:
  memory::FaultAction on_fault(const memory::Fault& /*fault*/) override { return memory::FaultAction::stop; }
};

// Runs threads speculatively. It does not change the state of the dispatcher.
class SpeculativeRunner final : public ThreadRunner {
 public:
  SpeculativeRunner(const eu::Executor& executor, const eu::Kernel& kernel, eu::ExecutionCounts& counts)
      : executor_(executor), kernel_(kernel), counts_(counts) {}
  eu::ThreadStatus run(uint32_t /*slot*/, eu::Thread& thread, uint64_t budget, Sender& sender) override {
    return executor_.run(thread, kernel_, budget, sender, &counts_);
  }

 private:
  const eu::Executor& executor_;
  const eu::Kernel& kernel_;
  eu::ExecutionCounts& counts_;
};

class DirectRunner final : public ThreadRunner {
 public:
  explicit DirectRunner(const Pass& pass) : pass_(pass) {}
  eu::ThreadStatus run(uint32_t /*slot*/, eu::Thread& thread, uint64_t budget, Sender& sender) override {
    const message::Environment& environment = pass_.environment;
    return pass_.kernels.run(pass_.kernel, *environment.space, environment.bases.instruction, thread, budget, sender);
  }

 private:
  const Pass& pass_;
};

constexpr uint32_t kMaxPenalty = 10;

constexpr uint64_t kMinParallelInstructions =
    1 << 12;  // instructions of a pass; fewer take less time than waking a host thread

void update_back_off(BackOff& back_off, uint64_t tried, uint64_t all, size_t conflicts, size_t count) {
  if (all < kMinParallelInstructions) {
    back_off.serial_passes = 16;
  } else if (conflicts * 4 > count || tried * 2 < all) {
    back_off.serial_passes = 4u << back_off.penalty;
    back_off.penalty = std::min(back_off.penalty + 1, kMaxPenalty);
  } else if (back_off.penalty != 0 && conflicts == 0) {
    --back_off.penalty;
  }
}

}  // namespace

struct ParallelPass::Lane {
  explicit Lane(const memory::PhysicalMemory& memory) : space(memory, tlb, memory::kGlobalSpace, faults) {
    space.set_speculation(&speculation);
  }

  memory::Tlb tlb{1};  // always empty
  NoFaults faults;
  memory::AddressSpace space;
  memory::BufferedSpeculation speculation;
  message::SharedFunctions functions;
  std::shared_ptr<const eu::Program> program;
  std::unique_ptr<eu::ExecutionCounts> counts;  // of the program's kernel
  // State of the group before its turn, unless this is its first turn.
  bool saved = false;
  Group group;
  std::vector<ThreadSlot> threads;
};

ParallelPass::ParallelPass() = default;
ParallelPass::~ParallelPass() = default;

void ParallelPass::make_lanes(const Pass& pass, size_t count) {
  const memory::PhysicalMemory& memory = pass.environment.space->memory();
  if (memory_ != &memory) {
    lanes_.clear();
    memory_ = &memory;
  }
  while (lanes_.size() < count) {
    lanes_.push_back(std::make_unique<Lane>(memory));
  }
  for (size_t i = 0; i < count; ++i) {
    Lane& lane = *lanes_[i];
    if (lane.program != pass.kernel.program) {
      lane.counts = pass.kernels.executor().make_counts(pass.kernel.program->kernel());
      lane.program = pass.kernel.program;
    }
    lane.functions.use_fidelity_of(pass.functions);
  }
}

void ParallelPass::save(const Walk& walk, uint32_t number, Lane& lane) {
  const Group& group = walk.groups[number];
  lane.saved = group.begun;
  if (lane.saved) {
    lane.group = group;
    const auto first = walk.threads.begin() + group.first_slot;
    lane.threads.assign(first, first + group.threads);
  }
}

void ParallelPass::roll_back(const Pass& pass, uint32_t number, Lane& lane) {
  if (lane.saved) {
    pass.walk.groups[number] = lane.group;
    std::ranges::copy(lane.threads, pass.walk.threads.begin() + lane.group.first_slot);
  } else {
    pass.restart(number);
  }
  lane.functions.drop_counts();
  lane.counts->clear();
}

void ParallelPass::begin(const Pass& pass, Lane& lane, LiveGroup& live) {
  message::Environment environment = pass.environment;
  environment.space = &lane.space;
  environment.groups = &live;
  lane.functions.begin(pass.generation, environment);
}

// Starts or resumes a turn directly, in the order of the pass.
void ParallelPass::run_direct(const Pass& pass, uint32_t number, Turn& turn, Lane& lane, LiveGroup& live,
                              Sender::Mode mode) {
  lane.speculation.go_direct(written_);
  lane.functions.set_events(pass.events, pass.path);
  DirectRunner runner(pass);
  Sender sender(lane.functions, mode);
  run_turn(pass.walk, number, turn, runner, sender, live);
  lane.functions.set_events(nullptr, {});
}

void ParallelPass::run(WorkerPool& pool, const Pass& pass, std::span<const uint32_t> groups, std::span<Turn> turns,
                       BackOff& back_off) {
  memory::AddressSpace& space = *pass.environment.space;
  make_lanes(pass, groups.size());
  std::deque<LiveGroup> live;
  for (const uint32_t number : groups) {
    live.emplace_back(pass.walk, number);
  }
  pool.for_each(groups.size(), [&](size_t i) {
    Lane& lane = *lanes_[i];
    save(pass.walk, groups[i], lane);
    lane.speculation.begin(space, lookup_mutex_);
    begin(pass, lane, live[i]);
    SpeculativeRunner runner(pass.kernels.executor(), lane.program->kernel(), *lane.counts);
    Sender sender(lane.functions, Sender::Mode::speculative);
    run_turn(pass.walk, groups[i], turns[i], runner, sender, live[i]);
  });
  written_.clear();
  bool stopped = false;
  bool alone = false;  // the turns that follow have been rolled back and run one after the other
  size_t conflicts = 0;
  uint64_t tried = 0;
  uint64_t all = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    Lane& lane = *lanes_[i];
    if (stopped) {
      if (!alone) {
        roll_back(pass, groups[i], lane);
        turns[i] = {};
      }
      continue;
    }
    lane.functions.use_fidelity_of(pass.functions);
    if (alone) {
      begin(pass, lane, live[i]);
    } else if (lane.speculation.commit(written_)) {
      tried += turns[i].used;
      pass.kernels.merge(pass.kernel, *lane.program, *lane.counts);
    } else {
      ++conflicts;
      roll_back(pass, groups[i], lane);
      turns[i] = {};
      begin(pass, lane, live[i]);
    }
    if (turns[i].end == Turn::End::open) {
      run_direct(pass, groups[i], turns[i], lane, live[i], alone ? Sender::Mode::direct : Sender::Mode::before_others);
    }
    if (turns[i].end == Turn::End::open) {  // it is going to act on other groups, which must not be ahead of it
      for (size_t later = i + 1; later < groups.size(); ++later) {
        roll_back(pass, groups[later], *lanes_[later]);
        lanes_[later]->speculation.begin(space, lookup_mutex_);
        turns[later] = {};
      }
      alone = true;
      run_direct(pass, groups[i], turns[i], lane, live[i], Sender::Mode::direct);
    }
    all += turns[i].used;
    stopped = turns[i].end != Turn::End::over;
    lane.functions.merge_counts(pass.functions);
  }
  update_back_off(back_off, tried, all, conflicts, groups.size());
}

}  // namespace halogen::compute
