// The kernel scenario on chips with legacy rings. Urgent work preempts through the updated head pointer, or through the
// run list of GM45's render ring.
#pragma once

#include <fmt/format.h>

#include "flow_bench.h"
#include "kernel_scenario.h"

namespace halogen {

struct OwnsFlowBench {
  explicit OwnsFlowBench(std::string_view chip) : bench_(chip) {}
  FlowBench bench_;
};

class RingScenario final : private OwnsFlowBench, public KernelScenario {
 public:
  explicit RingScenario(std::string_view chip) : OwnsFlowBench(chip), KernelScenario(bench_) {}

 private:
  static constexpr uint32_t kRequestDwords = 8;  // no request wraps at the end of a ring
  static constexpr uint32_t kLong = 400, kShort = 4;
  static constexpr uint32_t kGfxModeAt = 0x520, kCurrentContext = 0x190, kNextContext = 0x198;

  // Requests in the ring of an engine. Each writes a dword of the log and has a preemption point.
  struct Job {
    uint64_t log = 0;
    uint32_t count = 0;
    std::vector<uint32_t> starts;  // offset of each request in the ring
    uint32_t end = 0;
  };

  void emit_padded(std::string_view name, FlowBench::Dwords dwords) {
    dwords.resize((dwords.size() + kRequestDwords - 1) / kRequestDwords * kRequestDwords, 0);
    bench_.emit(name, dwords);
  }
  Job emit_job(std::string_view name, uint32_t count, bool interrupts = true) {
    Job job{new_log(), count, {}, 0};
    for (uint32_t i = 0; i < count; ++i) {
      job.starts.push_back(static_cast<uint32_t>(bench_.ring_tail(name)));
      emit_padded(name, FlowBench::join({bench_.store(job.log + 4 * i, i + 1), {kArb}}));
    }
    if (interrupts) emit_padded(name, {kUser});
    job.end = static_cast<uint32_t>(bench_.ring_tail(name));
    return job;
  }
  void submit_all() {
    for (const spec::EngineModel& each : bench_.model.engines) bench_.submit(each.name);
  }

  void begin() override {
    handler_.install();
    std::vector<Job> jobs;
    for (const spec::EngineModel& each : bench_.model.engines) {
      bench_.start_ring(each.name);
      jobs.push_back(emit_job(each.name, kLong));
    }
    submit_all();
    EXPECT_EQ(done_of(jobs[0].log, kLong), 0u) << "register writes only request work; it runs as time advances";
    advance(4000);
    for (size_t i = 0; i < jobs.size(); ++i) {
      expect_between(done_of(jobs[i].log, kLong), kLong, engine(i).name);
    }
    EXPECT_FALSE(handler_.pending());
    settle();
    for (size_t i = 0; i < jobs.size(); ++i) expect_rest(jobs[i].log, 0, kLong, engine(i).name);
    EXPECT_EQ(handler_.serve(), expected(kUserCause));
  }

  void interrupt() override {
    handler_.set_master(false);
    for (const spec::EngineModel& each : bench_.model.engines) emit_padded(each.name, {kUser});
    submit_all();
    settle();
    EXPECT_FALSE(handler_.pending()) << "the master interrupt is disabled";
    handler_.set_master(true);
    EXPECT_TRUE(handler_.pending()) << "the interrupt stays pending until the master is enabled";
    EXPECT_EQ(handler_.serve(), expected(kUserCause));
    for (unsigned again = 0; again < 2; ++again) {  // after the acknowledge the same interrupt is raised again
      for (const spec::EngineModel& each : bench_.model.engines) {
        emit_padded(each.name, {kUser});
        bench_.submit(each.name);
        settle();
        EXPECT_EQ(handler_.serve(), expected(kUserCause, [&](const auto& from) { return &from == &each; }));
      }
    }
  }

  // ---- preemption

  bool has_run_list(const spec::EngineModel& each) const {
    return bench_.model.has(spec::Feature::run_lists) && each.engine_class == spec::EngineClass::render;
  }

  void preempt() override {
    for (const spec::EngineModel& each : bench_.model.engines) {
      if (has_run_list(each)) make_contexts(each.name);
      slow_.push_back(emit_job(each.name, kLong));
    }
    submit_all();
    advance(4000);
    for (const spec::EngineModel& each : bench_.model.engines) {
      if (has_run_list(each)) {
        urgent_.push_back(ask_for_context(each.name));
        continue;
      }
      // The urgent requests lie after the tail; the head jumps there at the next MI_ARB_CHECK.
      urgent_.push_back(emit_job(each.name, kShort));
      bench_.set_reg(each.name, kUhptr, urgent_.back().starts[0] | 1);
      bench_.submit(each.name);
    }
    settle();
    for (size_t i = 0; i < slow_.size(); ++i) {
      expect_rest(urgent_[i].log, 0, kShort, engine(i).name);
      left_at_.push_back(take_done(slow_[i].log, kLong));
      expect_between(left_at_[i], kLong, engine(i).name);
      take_done(urgent_[i].log, kShort);
      EXPECT_EQ(bench_.reg(engine(i).name, kUhptr) & 1, 0u);
    }
    EXPECT_EQ(handler_.serve(), expected(kUserCause)) << "interrupts of the urgent requests";
  }
  // Returns to the first request that is not complete. The urgent requests, which the ring would execute again, are
  // overwritten.
  void resume() override {
    for (size_t i = 0; i < slow_.size(); ++i) {
      const std::string_view name = engine(i).name;
      if (has_run_list(engine(i))) {  // hardware knows where to resume
        EXPECT_EQ(bench_.reg(name, kCurrentContext), contexts_[1] | 1);
        bench_.set_reg(name, kNextContext, static_cast<uint32_t>(contexts_[0]) | 1);
        continue;
      }
      for (uint32_t at = urgent_[i].starts[0]; at != urgent_[i].end; at += 4) {
        bench_.poke(bench_.ring_start(name) + at, 0);
      }
      bench_.set_reg(name, kUhptr, slow_[i].starts[left_at_[i]] | 1);
    }
    settle();
    for (size_t i = 0; i < slow_.size(); ++i) {
      expect_rest(slow_[i].log, left_at_[i], kLong, engine(i).name);
      expect_rest(urgent_[i].log, kShort, kShort, engine(i).name);
    }
    EXPECT_EQ(handler_.serve(), expected(kUserCause)) << "interrupts of the remaining requests";
    for (const spec::EngineModel& each : bench_.model.engines) {
      if (has_run_list(each)) bench_.set_reg(each.name, kGfxModeAt, 0x8000'0000);
      bench_.start_ring(each.name);
    }
  }

  // Two contexts of a run list. The second context runs first, so that it has an image.
  void make_contexts(std::string_view name) {
    for (uint64_t& context : contexts_) context = bench_.allocate(8);
    bench_.set_reg(name, kGfxModeAt, 0x8000'8000);
    bench_.set_reg(name, kCurrentContext, static_cast<uint32_t>(contexts_[1]) | 1);
    bench_.start_ring(name);
    bench_.set_reg(name, kNextContext, static_cast<uint32_t>(contexts_[0]) | 1);
    emit_padded(name, {kArb});
    bench_.submit(name);
    settle();
    EXPECT_EQ(bench_.reg(name, kCurrentContext), contexts_[0] | 1);
    urgent_ring_ = bench_.ring_start(name);
    urgent_tail_ = bench_.ring_tail(name);
    bench_.start_ring(name);
  }
  // Adds requests to the ring of the second context, writes the new tail to its image, and switches to it.
  Job ask_for_context(std::string_view name) {
    Job job{new_log(), kShort, {}, 0};
    for (uint32_t i = 0; i < kShort; ++i) put_urgent(FlowBench::join({bench_.store(job.log + 4 * i, i + 1), {kArb}}));
    put_urgent({kUser});
    const uint32_t tail_register = bench_.engine_model(name).mmio_base + EngineBench::kTail;
    bool found = false;
    for (uint64_t at = contexts_[1]; bench_.peek(at) == 0x1100'0001;
         at += 12) {  // one MI_LOAD_REGISTER_IMM per register
      if (bench_.peek(at + 4) == tail_register) {
        bench_.poke(at + 8, static_cast<uint32_t>(urgent_tail_));
        found = true;
      }
    }
    EXPECT_TRUE(found) << "the image holds no tail";
    bench_.set_reg(name, kNextContext, static_cast<uint32_t>(contexts_[1]) | 1);
    return job;
  }
  void put_urgent(FlowBench::Dwords dwords) {
    dwords.resize(kRequestDwords, 0);
    bench_.poke(urgent_ring_ + urgent_tail_, dwords);
    urgent_tail_ += kRequestDwords * 4;
  }

  // ---- resets

  enum class Stuck : uint8_t { batch, wait, garbage };

  // A batch that writes to the log and restarts itself.
  void emit_endless_batch(std::string_view name, uint64_t log) {
    const uint64_t batch = bench_.allocate(1);
    bench_.poke(batch, FlowBench::join({bench_.store(log, 1), bench_.batch(batch)}));
    emit_padded(name, bench_.batch(batch));
  }
  // Gen4 has no semaphores: the ring waits for a condition code.
  void emit_wait(std::string_view name, uint64_t log) {
    if (bench_.model.gen == spec::GenId::gen4) {
      bench_.set_reg(name, 0x28, 0x0001'0001);
      emit_padded(name, {kWaitForEvent | 1u << 9});
    } else {
      emit_padded(name, {0x0b50'0001, 5, static_cast<uint32_t>(log)});  // until memory is greater than 5
    }
  }
  void emit_stuck(std::string_view name, Stuck how, uint64_t log) {
    switch (how) {
      case Stuck::batch:
        return emit_endless_batch(name, log);
      case Stuck::wait:
        return emit_wait(name, log);
      case Stuck::garbage:
        return emit_padded(name, {kGarbage});
    }
  }
  void reset_engine(const spec::EngineModel& each) {
    if (bench_.is_gen4()) {
      const uint32_t domain = each.engine_class == spec::EngineClass::render ? 1 : 3;
      bench_.device->config_write(0xc0, 1, domain << 2 | 1);
      bench_.device->config_write(0xc0, 1, 0);  // Gen4 stays in reset until this write
      EXPECT_EQ(bench_.device->config_read(0xc0, 1) & 3, 0u) << "the reset is complete";
      bench_.enable_table();
    } else {
      bench_.write(0x941c, reset_bit(each));
      EXPECT_EQ(bench_.read(0x941c), 0u) << "the reset is complete";
    }
    EXPECT_EQ(bench_.reg(each.name, EngineBench::kControl) & 1, 0u) << each.name;
    handler_.unmask();
  }

  void reset() override {
    constexpr Stuck kWays[] = {Stuck::batch, Stuck::wait, Stuck::garbage};
    for (size_t round = 0; round < std::size(kWays) * engine_count(); ++round) {
      reset_one(engine(round), kWays[round / engine_count()]);
    }
  }
  void reset_one(const spec::EngineModel& victim, Stuck how) {
    SCOPED_TRACE(fmt::format("{} stuck in {}", victim.name, static_cast<int>(how)));
    const uint64_t stuck = new_log();
    Job before;
    uint32_t left = 0;
    std::vector<Job> jobs;
    for (const spec::EngineModel& each : bench_.model.engines) {
      if (&each == &victim) {
        before = emit_job(each.name, kShort, false);
        left = static_cast<uint32_t>(bench_.ring_tail(each.name));
        emit_stuck(each.name, how, stuck);
      }
      jobs.push_back(emit_job(each.name, kLong));
    }
    submit_all();
    advance(4000);
    std::vector<uint32_t> done;
    for (size_t i = 0; i < jobs.size(); ++i) {
      done.push_back(take_done(jobs[i].log, kLong));
      if (&engine(i) == &victim) {
        EXPECT_EQ(done[i], 0u) << "the ring is stuck";
      } else {
        expect_between(done[i], kLong, engine(i).name);
      }
    }
    EXPECT_EQ(take_done(before.log, kShort), kShort);
    const uint32_t head = bench_.reg(victim.name, EngineBench::kHead) & 0x1f'fffc;
    EXPECT_GE(head, left) << "the head is at the stuck request";
    EXPECT_LE(head, left + 8);
    EXPECT_EQ(bench_.peek(stuck), how == Stuck::batch ? 1u : 0u);
    bench_.poke(stuck, 0);
    reset_engine(victim);
    // A new ring with the requests that followed the stuck request.
    bench_.start_ring(victim.name);
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (&engine(i) == &victim) jobs[i] = emit_job(victim.name, kLong);
    }
    bench_.submit(victim.name);
    settle();
    for (size_t i = 0; i < jobs.size(); ++i) expect_rest(jobs[i].log, done[i], kLong, engine(i).name);
    expect_rest(before.log, kShort, kShort, victim.name);
    EXPECT_EQ(bench_.peek(stuck), 0u) << "the endless batch no longer runs";
    EXPECT_EQ(handler_.serve(), expected(kUserCause));
  }

  void reset_all() override {
    std::vector<uint64_t> spins;
    for (const spec::EngineModel& each : bench_.model.engines) {
      spins.push_back(new_log());
      emit_endless_batch(each.name, spins.back());
    }
    submit_all();
    advance(4000);
    for (const uint64_t spin : spins) {
      EXPECT_EQ(bench_.peek(spin), 1u);
      bench_.poke(spin, 0);
    }
    if (bench_.is_gen4()) {
      bench_.device->config_write(0xc0, 1, 1);
      bench_.device->config_write(0xc0, 1, 0);
      EXPECT_EQ(bench_.device->config_read(0xc0, 1) & 3, 0u);
      bench_.enable_table();
    } else {
      bench_.write(0x941c, 1);
      EXPECT_EQ(bench_.read(0x941c), 0u);
      bench_.wake_all();
    }
    handler_.unmask();
    handler_.set_master(true);
    std::vector<Job> jobs;
    for (const spec::EngineModel& each : bench_.model.engines) {
      EXPECT_EQ(bench_.reg(each.name, EngineBench::kControl) & 1, 0u) << each.name;
      bench_.start_ring(each.name);
      jobs.push_back(emit_job(each.name, kLong));
    }
    submit_all();
    settle();
    for (size_t i = 0; i < jobs.size(); ++i) {
      expect_rest(jobs[i].log, 0, kLong, engine(i).name);
      EXPECT_EQ(bench_.peek(spins[i]), 0u) << "the endless batch no longer runs";
    }
    EXPECT_EQ(handler_.serve(), expected(kUserCause));
  }

  std::vector<Job> slow_;
  std::vector<Job> urgent_;
  std::vector<uint32_t> left_at_;
  uint64_t contexts_[2] = {};
  uint64_t urgent_ring_ = 0;
  uint64_t urgent_tail_ = 0;
};

}  // namespace halogen
