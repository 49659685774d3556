#include "compute/walker.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bits.h"

namespace halogen::compute {
namespace {

constexpr size_t kPayloadGrf = 1;  // behind r0
constexpr uint32_t kKib = 1024;
constexpr uint32_t kThreadNumberMask = 0x1ff;

void put(eu::Thread& thread, size_t dword, uint32_t value) {
  std::memcpy(thread.grf.data() + dword * sizeof(value), &value, sizeof(value));
}

void put_header(const Settings& settings, const Job& job, const std::array<uint32_t, 3>& group, uint32_t slot,
                eu::Thread& thread) {
  put(thread, 1, group[0]);
  put(thread, 3, job.sampler_table | settings.scratch_code);
  put(thread, 4, job.binding_table);
  const uint64_t scratch = settings.scratch_base + (uint64_t{slot} * kKib << settings.scratch_code);
  put(thread, 5, (static_cast<uint32_t>(scratch) & ~(kKib - 1)) | (slot & kThreadNumberMask));
  put(thread, 6, group[1]);
  put(thread, 7, group[2]);
}

void put_constants(const Job& job, uint32_t number, eu::Thread& thread) {
  constexpr size_t kRoom_B = (eu::kGrfs - kPayloadGrf) * eu::kGrfBytes;
  const std::span<const std::byte> all(job.constants);
  const size_t shared_B = job.shared_grfs * eu::kGrfBytes;
  const size_t own_B = job.thread_grfs * eu::kGrfBytes;
  const std::span shared = all.first(shared_B);
  const std::span own = all.subspan(shared_B + number * own_B, own_B);
  size_t at = 0;
  for (const std::span<const std::byte> part : {job.own_first ? own : shared, job.own_first ? shared : own}) {
    const size_t take = std::min(part.size(), kRoom_B - at);
    if (take == 0) {
      continue;
    }
    std::memcpy(thread.grf.data() + kPayloadGrf * eu::kGrfBytes + at, part.data(), take);
    at += take;
  }
}

uint32_t mask_of(const Job& job, uint32_t number) {
  auto mask = static_cast<uint32_t>(low_mask(job.simd));
  if (number % job.threads[0] == job.threads[0] - 1) {
    mask &= job.right_mask;
  }
  if (number / job.threads[0] % job.threads[1] == job.threads[1] - 1) {
    mask &= job.bottom_mask;
  }
  return mask;
}

// X runs fastest. Rows after the first start at zero.
void advance(Walk& walk) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (++walk.next[axis] < walk.job.end[axis]) {
      return;
    }
    walk.next[axis] = 0;
  }
  walk.all_started = true;
}

// So many free slots in a row from `first` on, or nothing.
std::optional<uint32_t> find_slots(const Walk& walk, uint32_t count) {
  uint32_t run = 0;
  for (uint32_t slot = 0; slot < walk.job.slots; ++slot) {
    run = slot < walk.threads.size() && walk.threads[slot].used ? 0 : run + 1;
    if (run == count) {
      return slot + 1 - count;
    }
  }
  return std::nullopt;
}

bool any_live(const Walk& walk) {
  return std::ranges::any_of(walk.groups, &Group::live);
}

}  // namespace

// The groups at work, as messages see them.
class Walker::Live final : public message::Groups {
 public:
  explicit Live(Walk& walk) : walk_(walk) {}

  std::span<std::byte> local_memory(uint32_t group) override {
    return group < walk_.groups.size() ? std::span(walk_.groups[group].local) : std::span<std::byte>();
  }
  void arrive(eu::Thread& thread) override {
    if (thread.group >= walk_.groups.size()) {
      return;
    }
    Group& group = walk_.groups[thread.group];
    const uint32_t wanted = walk_.job.barrier_threads != 0 ? walk_.job.barrier_threads : group.threads;
    ++arrivals;
    if (++group.arrived < wanted) {
      return;
    }
    group.arrived = 0;
    for (uint32_t i = 0; i < group.threads; ++i) {
      ++walk_.threads[group.first_slot + i].thread.notification[0];
    }
  }

  uint64_t arrivals = 0;

 private:
  Walk& walk_;
};

Walker::Walker() = default;
Walker::~Walker() = default;

void Walker::report(FidelityReport& report) const {
  functions_.report(report);
  kernels_.report(report);
}

void Walker::start_group(const Settings& settings, Walk& walk, Outcome& outcome) {
  const Job& job = walk.job;
  const uint32_t count = job.group_threads();
  const std::optional<uint32_t> slots = find_slots(walk, count);
  if (walk.all_started || !slots) {
    return;
  }
  const auto free = std::ranges::find(walk.groups, false, &Group::live);
  const auto number = static_cast<uint32_t>(free - walk.groups.begin());
  if (free == walk.groups.end()) {
    walk.groups.emplace_back();
  }
  Group& group = walk.groups[number];
  group = {.live = true, .first_slot = *slots, .threads = count};
  group.local.resize(job.local_B);
  walk.threads.resize(std::max<size_t>(walk.threads.size(), *slots + count));
  for (uint32_t i = 0; i < count; ++i) {
    ThreadSlot& slot = walk.threads[*slots + i];
    slot.used = true;
    slot.thread = {};
    eu::Thread& thread = slot.thread;
    put_header(settings, job, walk.next, *slots + i, thread);
    put_constants(job, i, thread);
    thread.control[0] = job.control;
    thread.group = number;
    thread.number = i;
    const uint32_t mask = mask_of(job, i);
    thread.start(static_cast<uint32_t>(job.kernel), mask);
    outcome.channels += static_cast<uint64_t>(std::popcount(mask));
  }
  if (observer_ != nullptr) {
    const std::optional<uint32_t> chosen = observer_->on_group(walk.next);
    if (chosen && *chosen < count) {
      sight_.slot = *slots + *chosen;
    }
  }
  advance(walk);
}

void Walker::set_observer(Observer* observer) {
  observer_ = observer;
  sight_ = {};
}

eu::ThreadStatus Walker::run_turn(Walk& walk, uint32_t slot, uint64_t& used) {
  eu::Thread& thread = walk.threads[slot].thread;
  const uint64_t before = thread.instructions;
  eu::ThreadStatus status{};
  if (observer_ != nullptr && sight_.slot == slot) [[unlikely]] {
    status = run_observed(thread, {.gen = sight_.generation->id(),
                                   .job = walk.job,
                                   .settings = *sight_.settings,
                                   .thread = thread,
                                   .kernel = *kernel_->kernel,
                                   .tables = sight_.space->context()});
  } else {
    status = executor_->run(thread, *kernel_->kernel, kTurn, functions_, kernel_->counts.get());
  }
  used = thread.instructions - before;
  walk.instructions += used;
  return status;
}

// A turn like any other, an instruction at a time.
eu::ThreadStatus Walker::run_observed(eu::Thread& thread, const Moment& moment) {
  for (uint64_t done = 0; done < kTurn; ++done) {
    observer_->before_instruction(moment);
    const eu::ThreadStatus status = executor_->run(thread, *kernel_->kernel, 1, functions_, kernel_->counts.get());
    if (status == eu::ThreadStatus::running) {
      continue;
    }
    if (status != eu::ThreadStatus::blocked) {
      sight_.slot.reset();
      observer_->on_end(moment);
    }
    return status;
  }
  return thread.status;
}

Outcome Walker::run(const Generation& generation, const Settings& settings, Walk& walk, AddressSpace& space,
                    bool first) {
  Outcome outcome;
  const Job& job = walk.job;
  if (observer_ != nullptr) {
    sight_ = {first ? std::nullopt : sight_.slot, &generation, &settings, &space};
    if (first) {
      observer_->on_dispatch(job);
    }
  }
  if (executor_ == nullptr) {
    executor_ = eu::make_interpreter(generation.id());
  }
  if (std::ranges::any_of(std::array{0, 1, 2}, [&](int axis) {
        const auto at = static_cast<size_t>(axis);
        return job.first[at] >= job.end[at];
      })) {
    return outcome;  // nothing to start
  }
  if (first) {
    walk.next = job.first;
  }
  kernel_ = &kernels_.find(*executor_, generation.id(), space, settings.bases.instruction,
                           static_cast<uint32_t>(job.kernel), first);
  Live live(walk);
  functions_.begin(generation, {.space = &space,
                                .groups = &live,
                                .bases = settings.bases,
                                .binding_table = settings.bases.surface + job.binding_table,
                                .sampler_table = job.sampler_table});
  while (outcome.instructions < kPart) {
    if (!any_live(walk)) {
      if (walk.all_started) {
        return outcome;
      }
      start_group(settings, walk, outcome);
    }
    const uint64_t arrived = live.arrivals;
    bool moved = false;  // somebody did something
    bool freed = false;  // somebody ended
    bool spent = false;  // somebody used up a turn
    for (Group& group : walk.groups) {
      for (uint32_t i = 0; group.live && i < group.threads; ++i) {
        const eu::Thread& thread = walk.threads[group.first_slot + i].thread;
        if (thread.status == eu::ThreadStatus::ended) {
          continue;
        }
        uint64_t used = 0;
        const eu::ThreadStatus status = run_turn(walk, group.first_slot + i, used);
        outcome.instructions += used;
        moved |= used > 1;
        switch (status) {
          case eu::ThreadStatus::ended:
            ++group.ended;
            freed = moved = true;
            break;
          case eu::ThreadStatus::faulted:
          case eu::ThreadStatus::illegal:
            outcome.stop = status == eu::ThreadStatus::faulted ? Stop::fault : Stop::illegal;
            outcome.ip = thread.ip;
            return outcome;
          case eu::ThreadStatus::running:
            spent = true;
            break;
          case eu::ThreadStatus::blocked:
            break;
        }
      }
      if (group.live && group.ended == group.threads) {
        group.live = false;
        for (uint32_t i = 0; i < group.threads; ++i) {
          walk.threads[group.first_slot + i].used = false;
        }
      }
    }
    moved |= live.arrivals != arrived;
    const uint64_t started = outcome.channels;
    if (!freed && (spent || !moved)) {
      start_group(settings, walk, outcome);
    }
    if (!moved && outcome.channels == started && any_live(walk)) {
      outcome.stop = Stop::deadlock;
      return outcome;
    }
  }
  outcome.stop = any_live(walk) || !walk.all_started ? Stop::unfinished : Stop::finished;
  return outcome;
}

}  // namespace halogen::compute
