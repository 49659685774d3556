// The kernel scenario on chips with execlists: contexts in their own address spaces, queues that replace each other,
// context status buffers, and the reset handshake of each engine.
#pragma once

#include <fmt/format.h>

#include "kernel_scenario.h"
#include "support/context_bench.h"

namespace halogen {

struct OwnsContextBench {
  explicit OwnsContextBench(std::string_view chip) : bench_(chip) {}
  ContextBench bench_;
};

class ExeclistScenario final : private OwnsContextBench, public KernelScenario {
 public:
  explicit ExeclistScenario(std::string_view chip) : OwnsContextBench(chip), KernelScenario(bench_) {}

 private:
  using Context = ContextBench::Context;

  static constexpr uint32_t kLong = 300, kShort = 5;
  static constexpr uint32_t kBoth = kUserCause | kSwitchCause;
  static constexpr uint64_t kBatches = 0x10'0000, kLogs = 0x20'0000;  // addresses in the process
  static constexpr uint32_t kResetCtl = 0xd0, kMask = 0xa8;

  // A batch in a context. It writes the dwords of its own log, with preemption points between them.
  struct Job {
    uint64_t log = 0;
    uint32_t count = 0;
    uint32_t start = 0;  // offset of the request in the ring
  };
  struct Worker {
    Context context;
    uint64_t batches = kBatches;
    uint64_t logs = kLogs;
    Job job;  // the last job
  };

  Worker create(std::string_view name) { return {bench_.create(name, ++last_id_), kBatches, kLogs, {}}; }
  Worker working(std::string_view name, uint32_t count) {
    Worker worker = create(name);
    add(worker, count);
    return worker;
  }
  Job& add(Worker& worker, uint32_t count, bool interrupts = true) {
    Job job{new_log(), count, static_cast<uint32_t>(worker.context.tail)};
    const uint64_t pages = (count * 24 + 4) / EngineBench::kPage + 1;
    const uint64_t batch = bench_.allocate(pages);
    for (uint64_t page = 0; page < pages; ++page) {
      bench_.map_process(worker.context, worker.batches + page * EngineBench::kPage, batch + page * EngineBench::kPage);
    }
    bench_.map_process(worker.context, worker.logs, job.log);
    std::vector<uint32_t> commands;
    for (uint32_t i = 0; i < count; ++i) {
      const auto at = static_cast<uint32_t>(worker.logs + 4 * i);
      for (const uint32_t dword : {0x1000'0002u, at, 0u, i + 1, kArb, 0u}) commands.push_back(dword);
    }
    commands.push_back(kEnd);
    bench_.poke(batch, commands);
    bench_.emit(worker.context, {0x1880'0101, static_cast<uint32_t>(worker.batches), 0, 0});
    if (interrupts) bench_.emit(worker.context, {kUser, 0});
    worker.batches += pages * EngineBench::kPage;
    worker.logs += EngineBench::kPage;
    worker.job = job;
    return worker.job;
  }
  std::vector<Worker> working_everywhere(uint32_t count) {
    std::vector<Worker> all;
    for (const spec::EngineModel& each : bench_.model.engines) all.push_back(working(each.name, count));
    return all;
  }
  void submit_all(const std::vector<Worker>& workers) {
    for (const Worker& worker : workers) bench_.submit({&worker.context});
  }
  using Statuses = std::vector<uint64_t>;
  Statuses once(const Context& context) { return {bench_.idle_to_active(context), bench_.complete_to_idle(context)}; }

  void begin() override {
    for (const spec::EngineModel& each : bench_.model.engines) set_up(each);
    handler_.install();
    const std::vector<Worker> workers = working_everywhere(kLong);
    submit_all(workers);
    EXPECT_EQ(done_of(workers[0].job.log, kLong), 0u) << "register writes only request work; it runs as time advances";
    advance(4000);
    for (const Worker& worker : workers) {
      expect_between(done_of(worker.job.log, kLong), kLong, worker.context.engine);
    }
    settle();
    for (const Worker& worker : workers) {
      expect_rest(worker.job.log, 0, kLong, worker.context.engine);
      EXPECT_EQ(bench_.statuses(worker.context.engine), once(worker.context)) << worker.context.engine;
    }
    EXPECT_EQ(handler_.serve(), expected(kBoth));
  }

  void interrupt() override {
    handler_.set_master(false);
    std::vector<Worker> workers = working_everywhere(1);
    submit_all(workers);
    settle();
    EXPECT_FALSE(handler_.pending()) << "the master interrupt is disabled";
    handler_.set_master(true);
    EXPECT_TRUE(handler_.pending()) << "the interrupt stays pending until the master is enabled";
    EXPECT_EQ(handler_.serve(), expected(kBoth));
    for (const Worker& worker : workers) {
      EXPECT_EQ(bench_.statuses(worker.context.engine), once(worker.context)) << worker.context.engine;
    }
    for (unsigned again = 0; again < 2; ++again) {  // after the acknowledge the same interrupt is raised again
      for (size_t i = 0; i < engine_count(); ++i) {
        add(workers[i], 1);
        bench_.submit({&workers[i].context});
        settle();
        EXPECT_EQ(handler_.serve(), expected(kBoth, [&](const auto& from) { return &from == &engine(i); }));
        EXPECT_EQ(bench_.statuses(engine(i).name), once(workers[i].context)) << engine(i).name;
      }
    }
  }

  // Each engine gets a new queue: its context leaves at the next MI_ARB_CHECK, and only the urgent context runs.
  void preempt() override {
    slow_ = working_everywhere(kLong);
    urgent_ = working_everywhere(kShort);
    submit_all(slow_);
    advance(3000);
    EXPECT_EQ(handler_.serve(), expected(kSwitchCause)) << "the contexts were switched in";
    submit_all(urgent_);
    settle();
    for (size_t i = 0; i < slow_.size(); ++i) {
      const std::string_view name = engine(i).name;
      expect_rest(urgent_[i].job.log, 0, kShort, name);
      left_at_.push_back(take_done(slow_[i].job.log, kLong));
      expect_between(left_at_[i], kLong, name);
      EXPECT_EQ(bench_.statuses(name), (Statuses{bench_.idle_to_active(slow_[i].context),
                                                 bench_.preempted(slow_[i].context, urgent_[i].context),
                                                 bench_.complete_to_idle(urgent_[i].context)}))
          << name;
    }
    EXPECT_EQ(handler_.serve(), expected(kBoth)) << "interrupts of the urgent contexts";
  }
  // Resubmits the first contexts from the images that hardware saved. Urgent work preempts them once more.
  void resume() override {
    submit_all(slow_);
    advance(2000);
    for (size_t i = 0; i < slow_.size(); ++i) {
      EXPECT_EQ(bench_.peek(slow_[i].job.log), 0u) << "not restarted";
      EXPECT_EQ(bench_.peek(slow_[i].job.log + 4 * left_at_[i]), left_at_[i] + 1) << "resumed where it was";
      EXPECT_EQ(bench_.peek(slow_[i].job.log + 4 * (kLong - 1)), 0u) << "not complete";
      add(urgent_[i], kShort);
      bench_.submit({&urgent_[i].context, &slow_[i].context});
    }
    settle();
    for (size_t i = 0; i < slow_.size(); ++i) {
      const std::string_view name = engine(i).name;
      expect_rest(slow_[i].job.log, left_at_[i], kLong, name);
      expect_rest(urgent_[i].job.log, 0, kShort, name);
      EXPECT_EQ(bench_.statuses(name), (Statuses{bench_.idle_to_active(slow_[i].context),
                                                 bench_.preempted(slow_[i].context, urgent_[i].context),
                                                 bench_.complete_to_element(urgent_[i].context, slow_[i].context),
                                                 bench_.complete_to_idle(slow_[i].context)}))
          << name;
    }
    EXPECT_EQ(handler_.serve(), expected(kBoth));
  }

  // ---- resets

  enum class Stuck : uint8_t { batch, wait, garbage };

  // A batch in the global table that writes to the log and restarts itself.
  void emit_endless_batch(Context& context, uint64_t log) {
    const uint64_t batch = bench_.allocate(1);
    std::vector<uint32_t> commands = ContextBench::store(log, 1);
    for (const uint32_t dword : {0x1880'0001u, static_cast<uint32_t>(batch), 0u}) commands.push_back(dword);
    bench_.poke(batch, commands);
    bench_.emit(context, {0x1880'0001, static_cast<uint32_t>(batch), 0, 0});
  }
  void emit_stuck(Context& context, Stuck how, uint64_t log) {
    switch (how) {
      case Stuck::batch:
        return emit_endless_batch(context, log);
      case Stuck::wait:
        return bench_.emit(context, bench_.wait_for(log, 5));
      case Stuck::garbage:
        return bench_.emit(context, {kGarbage, 0});
    }
  }
  // Initialises an engine as a driver does before first use.
  void set_up(const spec::EngineModel& each) {
    bench_.set_reg(each.name, ContextBench::kStatusPageAddress, static_cast<uint32_t>(bench_.status_page(each.name)));
    if (bench_.has_queue()) {  // no enable bit for execlists: drivers disable the legacy ring
      bench_.set_reg(each.name, ContextBench::kMode, 0x8000'0000);
      bench_.set_reg(each.name, ContextBench::kMode, 0x0008'0008);
    } else {
      bench_.set_reg(each.name, ContextBench::kMode, 0x8000'8000);
    }
    bench_.forget_statuses(each.name);
  }
  void reset_engine(const spec::EngineModel& victim) {
    bench_.set_reg(victim.name, kResetCtl, 0x0001'0001);
    settle_handshake(victim);
    bench_.write(0x941c, reset_bit(victim));
    EXPECT_EQ(bench_.read(0x941c), 0u) << "the reset is complete";
    bench_.set_reg(victim.name, kResetCtl, 0x0001'0000);
    for (const spec::EngineModel& each : bench_.model.engines) {
      if (reset_together(each, victim)) set_up(each);
    }
    handler_.unmask();
  }
  // The driver polls until the engine is ready. The other engines continue.
  void settle_handshake(const spec::EngineModel& victim) {
    for (unsigned poll = 0; poll < 10 && (bench_.reg(victim.name, kResetCtl) & 2) == 0; ++poll) advance(100);
    EXPECT_EQ(bench_.reg(victim.name, kResetCtl) & 3, 3u) << "ready";
  }

  void reset() override {
    constexpr Stuck kWays[] = {Stuck::batch, Stuck::wait, Stuck::garbage};
    for (size_t round = 0; round < std::size(kWays) * engine_count(); ++round) {
      reset_one(engine(round), kWays[round / engine_count()]);
    }
  }
  // The context of the victim has a completed request, an endless request and a request after it; another context is
  // queued. All other engines are busy.
  void reset_one(const spec::EngineModel& victim, Stuck how) {
    SCOPED_TRACE(fmt::format("{} stuck in {}", victim.name, static_cast<int>(how)));
    const uint64_t stuck = new_log();
    Worker guilty = create(victim.name);
    const Job before = add(guilty, kShort, false);
    emit_stuck(guilty.context, how, stuck);
    const Job behind = add(guilty, kShort);
    const Worker innocent = working(victim.name, kShort);
    std::vector<Worker> others;
    for (const spec::EngineModel& each : bench_.model.engines) {
      if (&each != &victim) others.push_back(working(each.name, kLong));
    }
    bench_.submit({&guilty.context, &innocent.context});
    submit_all(others);
    advance(4000);
    std::vector<uint32_t> done;
    for (const Worker& other : others) {
      done.push_back(take_done(other.job.log, kLong));
      expect_between(done.back(), kLong, other.context.engine);
    }
    EXPECT_EQ(take_done(before.log, kShort), kShort);
    EXPECT_EQ(done_of(behind.log, kShort), 0u) << "the engine is stuck";
    EXPECT_EQ(bench_.peek(stuck), how == Stuck::batch ? 1u : 0u);
    EXPECT_EQ(bench_.statuses(victim.name), Statuses{bench_.idle_to_active(guilty.context)});
    EXPECT_EQ(handler_.serve(), expected(kSwitchCause));
    reset_engine(victim);
    bench_.poke(stuck, 0);
    // The guilty request is skipped: the image gets the offset of the next request. Work that was reset together with
    // the victim restarts from the beginning, because nothing was saved.
    bench_.set_image(guilty.context, ContextBench::kImageHead, behind.start);
    bench_.submit({&guilty.context, &innocent.context});
    for (size_t i = 0; i < others.size(); ++i) {
      if (reset_together(bench_.engine_model(others[i].context.engine), victim)) {
        bench_.submit({&others[i].context});
        take_done_from(others[i].job.log, done[i]);
        done[i] = 0;
      }
    }
    settle();
    for (size_t i = 0; i < others.size(); ++i) {
      const Context& context = others[i].context;
      expect_rest(others[i].job.log, done[i], kLong, context.engine);
      EXPECT_EQ(bench_.statuses(context.engine), once(context)) << context.engine;
    }
    expect_rest(before.log, kShort, kShort, victim.name);
    expect_rest(behind.log, 0, kShort, victim.name);
    expect_rest(innocent.job.log, 0, kShort, victim.name);
    EXPECT_EQ(bench_.peek(stuck), 0u) << "the endless batch no longer runs";
    EXPECT_EQ(bench_.statuses(victim.name), (Statuses{bench_.idle_to_active(guilty.context),
                                                      bench_.complete_to_element(guilty.context, innocent.context),
                                                      bench_.complete_to_idle(innocent.context)}));
    EXPECT_EQ(handler_.serve(), expected(kBoth));
  }
  // Work between the last look and the reset.
  void take_done_from(uint64_t log, uint32_t from) {
    for (uint32_t i = from; i < kLong; ++i) bench_.poke(log + 4 * i, 0);
  }

  void reset_all() override {
    std::vector<uint64_t> spins;
    std::vector<Worker> workers;
    for (const spec::EngineModel& each : bench_.model.engines) {
      spins.push_back(new_log());
      workers.push_back(create(each.name));
      emit_endless_batch(workers.back().context, spins.back());
    }
    submit_all(workers);
    advance(4000);
    for (const uint64_t spin : spins) EXPECT_EQ(bench_.peek(spin), 1u);
    for (const spec::EngineModel& each : bench_.model.engines) {
      bench_.set_reg(each.name, kResetCtl, 0x0001'0001);
      settle_handshake(each);
    }
    bench_.write(0x941c, 1);
    EXPECT_EQ(bench_.read(0x941c), 0u) << "the reset is complete";
    for (const uint64_t spin : spins) bench_.poke(spin, 0);
    bench_.wake_all();
    for (const spec::EngineModel& each : bench_.model.engines) {
      bench_.set_reg(each.name, kResetCtl, 0x0001'0000);
      set_up(each);
    }
    handler_.unmask();
    handler_.set_master(true);
    handler_.serve();  // serves interrupts raised before the reset
    workers = working_everywhere(kLong);
    submit_all(workers);
    settle();
    for (size_t i = 0; i < workers.size(); ++i) {
      const Context& context = workers[i].context;
      expect_rest(workers[i].job.log, 0, kLong, context.engine);
      EXPECT_EQ(bench_.statuses(context.engine), once(context)) << context.engine;
      EXPECT_EQ(bench_.peek(spins[i]), 0u) << "the endless batch no longer runs";
    }
    EXPECT_EQ(handler_.serve(), expected(kBoth));
  }

  uint32_t last_id_ = 0;
  std::vector<Worker> slow_;
  std::vector<Worker> urgent_;
  std::vector<uint32_t> left_at_;
};

}  // namespace halogen
