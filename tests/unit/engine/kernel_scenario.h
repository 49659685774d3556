// A scenario of what a kernel does with a chip, in steps: set-up, work on all engines at once, preemption, resumption,
// interrupts with acknowledge, resets of busy engines, and a full reset. It uses only configuration space, BARs and
// memory. The steps may run on any host thread, one after the other, and the test chooses the thread on which time
// advances.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernel_irq.h"

namespace halogen {

// The final state of a run.
struct FinalState {
  uint64_t memory = 0;  // a hash
  device::DeviceState device;
  std::vector<std::string> events;
  std::vector<bool> line;                               // changes of the interrupt line
  std::vector<std::pair<uint64_t, uint32_t>> messages;  // interrupts as messages
  bool operator==(const FinalState&) const = default;
};

inline uint64_t hash_of(const TestHost& host) {
  uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const auto& [number, page] : host.pages) {
    for (const std::byte byte : *page) {
      hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100'0000'01b3;
    }
    hash = (hash ^ number) * 0x100'0000'01b3;
  }
  return hash;
}

class KernelScenario {
 public:
  // Runs a function on the device, on this or another host thread, and returns when it is done.
  using TimeRunner = std::function<void(const std::function<void()>&)>;

  static constexpr unsigned kSteps = 6;

  explicit KernelScenario(EngineBench& bench) : machine_(bench), handler_(bench) {}
  virtual ~KernelScenario() = default;
  KernelScenario(const KernelScenario&) = delete;
  KernelScenario& operator=(const KernelScenario&) = delete;

  void set_time_runner(TimeRunner runner) { time_runner_ = std::move(runner); }
  void step(unsigned number) {
    constexpr void (KernelScenario::*kAll[kSteps])() = {&KernelScenario::begin,   &KernelScenario::interrupt,
                                                        &KernelScenario::preempt, &KernelScenario::resume,
                                                        &KernelScenario::reset,   &KernelScenario::reset_all};
    (this->*kAll[number])();
  }
  FinalState final_state() const {
    FinalState final_state{
        hash_of(machine_.host), machine_.device->snapshot(), {}, machine_.host.line, machine_.host.messages};
    for (const Event& event : machine_.host.log.events()) final_state.events.push_back(event.to_string());
    return final_state;
  }

 protected:
  static constexpr uint32_t kArb = 0x0280'0000, kUser = 0x0100'0000, kEnd = 0x0500'0000;
  static constexpr uint32_t kGarbage = 0x7fff'ffff;  // not a command of any engine

  virtual void begin() = 0;      // work on all engines at once
  virtual void interrupt() = 0;  // the master interrupt, one engine after the other
  virtual void preempt() = 0;    // urgent work on all engines
  virtual void resume() = 0;     // preempted work, from where it stopped
  virtual void reset() = 0;      // one engine after the other, stuck in each way, while the others work
  virtual void reset_all() = 0;

  void advance(uint64_t nanoseconds) {
    run_timed([&] { machine_.device->advance(nanoseconds); });
  }
  void settle() {
    bool settled = false;
    run_timed([&] { settled = machine_.device->settle(); });
    EXPECT_TRUE(settled);
  }
  size_t engine_count() const { return machine_.model.engines.size(); }
  const spec::EngineModel& engine(size_t number) const { return machine_.model.engines[number % engine_count()]; }

  // Returns interrupts with these bits for every engine that can raise them and that `from` names.
  Causes expected(uint32_t bits, const std::function<bool(const spec::EngineModel&)>& from) const {
    Causes causes;
    for (const spec::EngineModel& each : machine_.model.engines) {
      if (from(each) && InterruptHandler::reaches(each)) causes[std::string(each.name)] = bits;
    }
    return causes;
  }
  Causes expected(uint32_t bits) const {
    return expected(bits, [](const spec::EngineModel&) { return true; });
  }

  // A page in which a job writes i + 1 into dword i, in order.
  uint64_t new_log() { return machine_.allocate(1); }
  // Returns how many dwords a job has written; checks that no later dword is written.
  uint32_t done_of(uint64_t log, uint32_t count) {
    uint32_t done = 0;
    while (done < count && machine_.peek(log + 4 * done) == done + 1) ++done;
    for (uint32_t i = done; i < count; ++i) EXPECT_EQ(machine_.peek(log + 4 * i), 0u) << "out of order";
    return done;
  }
  // The same, and clears the log, so that a repeated write is visible.
  uint32_t take_done(uint64_t log, uint32_t count) {
    const uint32_t done = done_of(log, count);
    for (uint32_t i = 0; i < done; ++i) machine_.poke(log + 4 * i, 0);
    return done;
  }
  // Checks that exactly the remaining dwords were written.
  void expect_rest(uint64_t log, uint32_t from, uint32_t count, std::string_view engine) {
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(machine_.peek(log + 4 * i), i < from ? 0u : i + 1) << engine << ", dword " << i;
    }
  }
  void expect_between(uint32_t done, uint32_t count, std::string_view engine) {
    EXPECT_GT(done, 0u) << engine;
    EXPECT_LT(done, count) << engine;
  }

  // Returns the bit of GDRST that resets an engine, from Gen6 on.
  uint32_t reset_bit(const spec::EngineModel& each) const {
    const bool late = machine_.model.gen == spec::GenId::gen11 || machine_.model.gen == spec::GenId::gen12;
    switch (each.engine_class) {
      case spec::EngineClass::video:
        return late ? 1u << (5 + each.instance) : 1u << 2;
      case spec::EngineClass::blit:
        return late ? 1u << 2 : 1u << 3;
      case spec::EngineClass::vebox:
        return late ? 1u << 13 : 1u << 4;
      default:
        return 1u << 1;  // render, and engines that are reset with it
    }
  }
  bool reset_together(const spec::EngineModel& one, const spec::EngineModel& other) const {
    return reset_bit(one) == reset_bit(other);
  }

  EngineBench& machine_;
  InterruptHandler handler_;

 private:
  void run_timed(const std::function<void()>& work) {
    if (time_runner_) {
      time_runner_(work);
    } else {
      work();
    }
  }

  TimeRunner time_runner_;
};

}  // namespace halogen
