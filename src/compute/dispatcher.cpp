#include "compute/dispatcher.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "compute/payload.h"
#include "eu/isa/validator.h"
#include "gen/message_rules.h"

namespace halogen::compute {
namespace {

// Moves to the next group. X changes fastest. An axis that wraps restarts at zero, not at Job::first.
void advance(Walk& walk) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (++walk.next[axis] < walk.job.end[axis]) {
      return;
    }
    walk.next[axis] = 0;
  }
  walk.all_started = true;
}

bool any_live(const Walk& walk) {
  return std::ranges::any_of(walk.groups, &Group::live);
}

// Returns the number of threads that have started and not ended.
uint64_t alive(const Walk& walk) {
  uint64_t threads = 0;
  for (const Group& group : walk.groups) {
    threads += group.live ? group.threads - group.ended : 0;
  }
  return threads;
}

}  // namespace

// Runs threads. An observed thread runs one instruction at a time.
class Dispatcher::Runner final : public ThreadRunner {
 public:
  Runner(Dispatcher& dispatcher, const Walk& walk, const message::Environment& environment)
      : dispatcher_(dispatcher), walk_(walk), space_(*environment.space), base_(environment.bases.instruction) {}

  eu::ThreadStatus run(uint32_t slot, eu::Thread& thread, uint64_t budget, Sender& sender) override {
    if (dispatcher_.observer_ == nullptr || dispatcher_.observed_.slot != slot) [[likely]] {
      return dispatcher_.kernels_.run(*dispatcher_.kernel_, space_, base_, thread, budget, sender);
    }
    for (uint64_t done = 0; done < budget; ++done) {
      dispatcher_.observer_->before_instruction(moment(thread));
      const eu::ThreadStatus status = dispatcher_.kernels_.run(*dispatcher_.kernel_, space_, base_, thread, 1, sender);
      if (status == eu::ThreadStatus::running) {
        continue;
      }
      if (status != eu::ThreadStatus::blocked) {
        dispatcher_.observed_.slot.reset();
        dispatcher_.observer_->on_end(moment(thread));
      }
      return status;
    }
    return thread.status;
  }

 private:
  Moment moment(const eu::Thread& thread) const {
    const Observed& observed = dispatcher_.observed_;
    return {.gen = observed.generation->id(),
            .job = walk_.job,
            .settings = *observed.settings,
            .thread = thread,
            .kernel = dispatcher_.kernel_->program->kernel(),
            .tables = observed.space->context()};
  }

  Dispatcher& dispatcher_;
  const Walk& walk_;
  memory::AddressSpace& space_;
  uint64_t base_;
};

Dispatcher::Dispatcher(eu::KernelLibrary& library) : kernels_(library) {}
Dispatcher::~Dispatcher() = default;

void Dispatcher::report(FidelityReport& report) const {
  functions_.report(report);
  kernels_.report(report);
}

// Initialises a group and its threads in their slots.
void Dispatcher::fill_group(const Settings& settings, Walk& walk, uint32_t number, Outcome* outcome) {
  Group& group = walk.groups[number];
  group.begun = false;
  group.ended = group.arrived = 0;
  group.local.assign(walk.job.local_B, std::byte{0});
  for (uint32_t i = 0; i < group.threads; ++i) {
    ThreadSlot& slot = walk.threads[group.first_slot + i];
    slot.used = true;
    slot.gateway = {};
    const uint32_t mask = fill_thread(settings, walk.job, group.at, group.first_slot + i, i, slot.thread);
    slot.thread.group = number;
    if (outcome != nullptr) {
      ++outcome->threads;
      outcome->channels += static_cast<uint64_t>(std::popcount(mask));
    }
  }
}

bool Dispatcher::start_group(const Settings& settings, Walk& walk, Outcome& outcome) {
  const uint32_t count = walk.job.group_threads();
  const std::optional<uint32_t> slots = walk.all_started ? std::nullopt : find_slots(walk, count, walk.job.slots);
  if (!slots) {
    return false;
  }
  const uint32_t number = free_group(walk);
  Group& group = walk.groups[number];
  group.child.reset();
  group.live = true;
  group.at = walk.next;
  group.first_slot = *slots;
  group.threads = count;
  walk.threads.resize(std::max<size_t>(walk.threads.size(), *slots + count));
  fill_group(settings, walk, number, &outcome);
  if (observer_ != nullptr) {
    const std::optional<uint32_t> chosen = observer_->on_group(walk.next);
    if (chosen && *chosen < count) {
      observed_.slot = *slots + *chosen;
    }
  }
  advance(walk);
  return true;
}

void Dispatcher::set_observer(Observer* observer) {
  observer_ = observer;
  observed_ = {};
}

// Raises one Event for a kernel that breaks rules of the manual. The Event names the rules of the first such
// instruction.
void Dispatcher::check_kernel_rules(spec::GenId gen) const {
  if (events_ == nullptr) {
    return;
  }
  uint32_t broken_offset = 0;
  size_t count = 0;
  std::string names;
  kernel_->program->kernel().visit([&](uint32_t offset, const eu::Instruction& in) {
    const std::vector<eu::Rule> broken = in.op == eu::Op::illegal ? std::vector<eu::Rule>{} : eu::validate(gen, in);
    if (broken.empty() || count++ != 0) {
      return;
    }
    broken_offset = offset;
    for (const eu::Rule rule : broken) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", eu::name_of(rule));
    }
  });
  if (count != 0) {
    events_->on_event(
        {EventKind::undefined_behaviour, "EU", path_, broken_offset, count,
         fmt::format("kernel breaks rules of the manual but is executed: {}; {} instructions break a rule", names,
                     count)});
  }
}

// Runs a turn of each running group.
void Dispatcher::run_pass(const Generation& generation, const Settings& settings, Walk& walk,
                          message::Environment& environment) {
  at_work_.clear();
  for (uint32_t number = 0; number < walk.groups.size(); ++number) {
    if (walk.groups[number].live) {
      at_work_.push_back(number);
    }
  }
  turns_.assign(at_work_.size(), {});
  if (pool_ != nullptr && pool_->threads() > 1 && observer_ == nullptr && at_work_.size() > 1 && walk.exchanged == 0) {
    BackOff& back_off = back_off_[{walk.job.bases.instruction, walk.job.kernel}];
    if (back_off.serial_passes == 0) {
      const Pass pass{.generation = generation,
                      .kernels = kernels_,
                      .kernel = *kernel_,
                      .functions = functions_,
                      .environment = environment,
                      .walk = walk,
                      .events = events_,
                      .path = path_,
                      .restart = [&](uint32_t number) { fill_group(settings, walk, number, nullptr); }};
      parallel_pass_.run(*pool_, pass, at_work_, turns_, back_off);
      return;
    }
    --back_off.serial_passes;
  }
  Runner runner(*this, walk, environment);
  Sender sender(functions_);
  for (size_t i = 0; i < at_work_.size(); ++i) {
    LiveGroup live(walk, at_work_[i]);
    if (walk.exchanged != 0) {
      choose_kernel(walk, at_work_[i], environment);
    }
    environment.groups = &live;
    functions_.begin(generation, environment);
    run_turn(walk, at_work_[i], turns_[i], runner, sender, live);
    if (turns_[i].end != Turn::End::over) {
      break;
    }
  }
}

// Sets the kernel and the tables of a group: those of the job, or of a child thread.
void Dispatcher::choose_kernel(const Walk& walk, uint32_t number, message::Environment& environment) {
  const Group& group = walk.groups[number];
  const KernelState& kernel_state = group.child ? *group.child : walk.job;
  kernel_ =
      &kernels_.find(*environment.space, walk.job.bases.instruction, static_cast<uint32_t>(kernel_state.kernel), false);
  environment.binding_table = walk.job.tables.address(kernel_state.binding_table);
  environment.sampler_table = kernel_state.sampler_table;
}

// Starts children until none waits or no slot is free.
void Dispatcher::start_children(const Generation& generation, const Settings& settings, const Walk& walk,
                                memory::AddressSpace& space, Children& children, Outcome& outcome) {
  while (const KernelState* const kernel_state = children.start_next(settings)) {
    kernel_ = &kernels_.find(space, walk.job.bases.instruction, static_cast<uint32_t>(kernel_state->kernel), true);
    judge_kernel(generation.id());
    ++outcome.threads;
    outcome.channels += walk.job.simd;
  }
}

void Dispatcher::judge_kernel(spec::GenId gen) {
  if (!kernel_->judged) {
    kernel_->judged = true;
    check_kernel_rules(gen);
  }
}

Outcome Dispatcher::run(const Generation& generation, const Settings& settings, Walk& walk, memory::AddressSpace& space,
                        bool first) {
  const uint64_t already = alive(walk);
  functions_.take_work();
  kernels_.watch(wanted_.activity);
  Outcome outcome = run_part(generation, settings, walk, space, first);
  outcome.loaded = already + outcome.threads;
  if (work_ != nullptr) {
    functions_.take_work().add_to(*work_);
    work_->activity[static_cast<size_t>(oa::Stage::compute)].add(kernels_.end_watch());
  }
  return outcome;
}

Outcome Dispatcher::run_part(const Generation& generation, const Settings& settings, Walk& walk,
                             memory::AddressSpace& space, bool first) {
  constexpr size_t kMaxBackOffs = 1024;
  Outcome outcome;
  const Job& job = walk.job;
  if (observer_ != nullptr) {
    observed_ = {first ? std::nullopt : observed_.slot, &generation, &settings, &space};
    if (first) {
      observer_->on_dispatch(job);
    }
  }
  if (back_off_.size() > kMaxBackOffs) {
    back_off_.clear();
  }
  if (std::ranges::any_of(std::array{0, 1, 2}, [&](int axis) {
        const auto at = static_cast<size_t>(axis);
        return job.first[at] >= job.end[at];
      })) {
    return outcome;  // no group to start
  }
  if (first) {
    walk.next = job.first;
  }
  kernels_.trim();
  kernel_ = &kernels_.find(space, job.bases.instruction, static_cast<uint32_t>(job.kernel), first);
  judge_kernel(generation.id());
  Children children(generation, walk, space, events_, path_);
  const bool spawns = job.media && message_rules(generation.id()).spawner_rows != 0;
  message::Environment environment{.space = &space,
                                   .groups = nullptr,
                                   .exchange = job.media ? &children : nullptr,
                                   .urb = spawns ? &children : nullptr,
                                   .bases = job.bases,
                                   .binding_table = job.tables.address(job.binding_table),
                                   .sampler_table = job.sampler_table,
                                   .counts_work = wanted_.work};
  while (outcome.instructions < kPart && (stop_ == nullptr || !stop_->raised())) {
    while (std::ranges::count(walk.groups, true, &Group::live) < groups_at_once(job) &&
           start_group(settings, walk, outcome)) {
    }
    start_children(generation, settings, walk, space, children, outcome);
    if (!any_live(walk)) {
      return outcome;
    }
    run_pass(generation, settings, walk, environment);
    Turn all;
    for (size_t i = 0; i < turns_.size(); ++i) {
      const Turn& turn = turns_[i];
      walk.instructions += turn.used;
      outcome.instructions += turn.used;
      Group& group = walk.groups[at_work_[i]];
      group.begun = true;
      if (turn.end == Turn::End::fault || turn.end == Turn::End::illegal) {
        outcome.stop = turn.end == Turn::End::fault ? Stop::fault : Stop::illegal;
        outcome.ip = turn.ip;
        return outcome;
      }
      all.moved |= turn.moved;
      all.freed |= turn.freed;
      all.spent |= turn.spent;
      if (group.ended == group.threads) {
        group.live = false;
        for (uint32_t thread = 0; thread < group.threads; ++thread) {
          walk.threads[group.first_slot + thread].used = false;
        }
      }
    }
    const bool another = !all.freed && (all.spent || !all.moved) && start_group(settings, walk, outcome);
    if (!all.moved && !another && !children.can_start()) {
      outcome.stop = Stop::deadlock;
      return outcome;
    }
  }
  outcome.stop = any_live(walk) || !walk.all_started || !walk.waiting.empty() ? Stop::unfinished : Stop::finished;
  return outcome;
}

}  // namespace halogen::compute
