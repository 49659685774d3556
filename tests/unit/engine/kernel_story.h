// What a kernel does with a chip, in steps: set-up, work on all engines at once, preemption, resumption, interrupts
// that it acknowledges, resets of engines in the middle of their work, a reset of everything, and on. Only
// configuration space, BARs and memory are used. The steps may be taken from any thread, one after the other; who lets
// time pass may be chosen too.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernel_irq.h"

namespace halogen {

// How a run ended.
struct Ending {
  uint64_t memory = 0;  // a hash
  device::DeviceState device;
  std::vector<std::string> events;
  std::vector<bool> line;                               // changes of the interrupt line
  std::vector<std::pair<uint64_t, uint32_t>> messages;  // interrupts as messages
  bool operator==(const Ending&) const = default;
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

class KernelStory {
 public:
  // Does something with the device, here or on another thread, and comes back when it is done.
  using Clockwork = std::function<void(const std::function<void()>&)>;

  static constexpr unsigned kSteps = 6;

  explicit KernelStory(EngineBench& bench) : machine_(bench), handler_(bench) {}
  virtual ~KernelStory() = default;
  KernelStory(const KernelStory&) = delete;
  KernelStory& operator=(const KernelStory&) = delete;

  void set_clockwork(Clockwork clockwork) { clockwork_ = std::move(clockwork); }
  void step(unsigned number) {
    constexpr void (KernelStory::*kAll[kSteps])() = {&KernelStory::begin,   &KernelStory::interrupt,
                                                     &KernelStory::preempt, &KernelStory::resume,
                                                     &KernelStory::reset,   &KernelStory::reset_all};
    (this->*kAll[number])();
  }
  Ending ending() const {
    Ending ending{hash_of(machine_.host), machine_.device->snapshot(), {}, machine_.host.line, machine_.host.messages};
    for (const Event& event : machine_.host.log.events()) ending.events.push_back(event.to_string());
    return ending;
  }

 protected:
  static constexpr uint32_t kArb = 0x0280'0000, kUser = 0x0100'0000, kEnd = 0x0500'0000;
  static constexpr uint32_t kGarbage = 0x7fff'ffff;  // no command of any engine

  virtual void begin() = 0;      // work on all engines at once
  virtual void interrupt() = 0;  // masters, one engine after the other
  virtual void preempt() = 0;    // urgent work on all engines
  virtual void resume() = 0;     // what was interrupted, from where it was
  virtual void reset() = 0;      // one engine after the other, stuck in all ways, while the others work
  virtual void reset_all() = 0;

  void advance(uint64_t nanoseconds) {
    run_clockwork([&] { machine_.device->advance(nanoseconds); });
  }
  void settle() {
    bool settled = false;
    run_clockwork([&] { settled = machine_.device->settle(); });
    EXPECT_TRUE(settled);
  }
  size_t engine_count() const { return machine_.model.engines.size(); }
  const spec::EngineModel& engine(size_t number) const { return machine_.model.engines[number % engine_count()]; }

  // Interrupts with these bits, from exactly the engines that can and that `from` names.
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

  // A page in which the work of a job writes i + 1 into dword i, in order.
  uint64_t new_log() { return machine_.allocate(1); }
  // How far a job has come: all before is done, nothing behind.
  uint32_t done_of(uint64_t log, uint32_t count) {
    uint32_t done = 0;
    while (done < count && machine_.peek(log + 4 * done) == done + 1) ++done;
    for (uint32_t i = done; i < count; ++i) EXPECT_EQ(machine_.peek(log + 4 * i), 0u) << "out of order";
    return done;
  }
  // The same, and forgets it: what is done again shows.
  uint32_t take_done(uint64_t log, uint32_t count) {
    const uint32_t done = done_of(log, count);
    for (uint32_t i = 0; i < done; ++i) machine_.poke(log + 4 * i, 0);
    return done;
  }
  // Exactly what was left has been done since.
  void expect_rest(uint64_t log, uint32_t from, uint32_t count, std::string_view engine) {
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(machine_.peek(log + 4 * i), i < from ? 0u : i + 1) << engine << ", dword " << i;
    }
  }
  // In the middle of its work.
  void expect_between(uint32_t done, uint32_t count, std::string_view engine) {
    EXPECT_GT(done, 0u) << engine;
    EXPECT_LT(done, count) << engine;
  }

  // The bit of GDRST that resets an engine, from Gen6 on.
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
        return 1u << 1;  // render, and what stands behind it
    }
  }
  bool reset_together(const spec::EngineModel& one, const spec::EngineModel& other) const {
    return reset_bit(one) == reset_bit(other);
  }

  EngineBench& machine_;
  InterruptHandler handler_;

 private:
  void run_clockwork(const std::function<void()>& work) {
    if (clockwork_) {
      clockwork_(work);
    } else {
      work();
    }
  }

  Clockwork clockwork_;
};

}  // namespace halogen
