// What a kernel does with a chip, in steps: set-up, work on all engines at once, preemption, interrupts, a hang, a
// reset, and on. Only configuration space, BARs and memory are used. The steps may be taken from any thread, one after
// the other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/context_bench.h"

namespace halogen {

// How a run ended.
struct Ending {
  uint64_t memory = 0;  // a hash
  DeviceState device;
  size_t events = 0;
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

// Interrupts of every engine, as far up as the line.
inline void enable_interrupts(EngineBench& bench) {
  switch (bench.model.gen) {
    case spec::GenId::gen4:
    case spec::GenId::gen4_5:
      bench.write(0x20a8, 0);
      bench.write(0x20a0, 0x2 | 0x20);  // user interrupts of the render and the video streamer
      return;
    case spec::GenId::gen6:
      for (const spec::EngineModel& each : bench.model.engines) bench.set_reg(each.name, 0xa8, 0);
      bench.write(0x44014, 0);
      bench.write(0x4401c, 0xffff'ffff);
      bench.write(0x4400c, 0x8000'0000);
      return;
    case spec::GenId::gen8:
    case spec::GenId::gen9:
      for (const spec::EngineModel& each : bench.model.engines) bench.set_reg(each.name, 0xa8, 0);
      for (uint32_t bank = 0; bank < 4; ++bank) {
        bench.write(0x44304 + 0x10 * bank, 0);
        bench.write(0x4430c + 0x10 * bank, 0xffff'ffff);
      }
      bench.write(0x44200, 0x8000'0000);
      return;
    default:
      for (const uint32_t enable : {0x190030u, 0x190034u, 0x190048u}) bench.write(enable, 0xffff'ffff);
      for (uint32_t mask = 0x190090; mask <= 0x190104; mask += 4) bench.write(mask, 0);
      bench.write(0x190010, 0x8000'0000);
      if (bench.model.name == "dg1") bench.write(0x190008, 0x8000'0000);
  }
}

class KernelStory {
 public:
  static constexpr unsigned kSteps = 4;

  virtual ~KernelStory() = default;
  virtual void step(unsigned number) = 0;
  virtual Ending ending() const = 0;

 protected:
  static constexpr uint32_t kUserInterrupt = 0x0100'0000, kArbCheck = 0x0280'0000, kBatchEnd = 0x0500'0000;
  static constexpr uint32_t kGarbage = 0x7fff'ffff;  // no command of any engine

  static bool line(const EngineBench& bench) { return !bench.host.line.empty() && bench.host.line.back(); }
  static Ending ending_of(const EngineBench& bench) {
    return {hash_of(bench.host), bench.device->snapshot(), bench.host.log.events().size()};
  }
};

// Legacy rings.
class RingStory final : public KernelStory {
 public:
  explicit RingStory(std::string_view chip) : bench_(chip) {}

  void step(unsigned number) override {
    constexpr void (RingStory::*kAll[kSteps])() = {&RingStory::begin, &RingStory::work, &RingStory::hang,
                                                   &RingStory::come_back};
    (this->*kAll[number])();
  }
  Ending ending() const override { return ending_of(bench_); }

 private:
  void begin() {
    enable_interrupts(bench_);
    data_ = bench_.allocate(1);
    unsigned number = 0;
    for (const spec::EngineModel& each : bench_.model.engines) {
      bench_.start_ring(each.name);
      for (uint32_t i = 0; i < 200; ++i) {
        // Bit 22: graphics address on the first parts, the global table on the later ones.
        bench_.emit(each.name, {0x1040'0002, 0, static_cast<uint32_t>(data_ + 8 * number), i + 1});
      }
      bench_.emit(each.name, {kUserInterrupt});
      ++number;
    }
    for (const spec::EngineModel& each : bench_.model.engines) bench_.submit(each.name);
    EXPECT_FALSE(line(bench_));  // register writes ask, time does
    bench_.device->advance(500);
    number = 0;
    for (const spec::EngineModel& each : bench_.model.engines) {  // side by side: all have begun, none is done
      EXPECT_GT(bench_.peek(data_ + 8 * number), 0u) << each.name;
      EXPECT_LT(bench_.peek(data_ + 8 * number++), 200u) << each.name;
    }
  }
  void work() {
    EXPECT_TRUE(bench_.device->settle());
    for (unsigned number = 0; number < bench_.model.engines.size(); ++number) {
      EXPECT_EQ(bench_.peek(data_ + 8 * number), 200u);
    }
    EXPECT_TRUE(line(bench_));
  }
  // A parse error: the engine stands, and its head shows where.
  void hang() {
    bench_.emit("rcs0", {kGarbage, 0});
    bench_.submit("rcs0");
    EXPECT_TRUE(bench_.device->settle());
    EXPECT_EQ(bench_.reg("rcs0", 0x68), kGarbage);
    EXPECT_NE(bench_.reg("rcs0", EngineBench::kHead) & 0x1f'fffc, bench_.ring_tail("rcs0"));
  }
  void come_back() {
    if (bench_.model.gen == spec::GenId::gen6) {
      bench_.write(0x941c, 2);
    } else {
      bench_.device->config_write(0xc0, 1, 1);  // render domain
      bench_.enable_table();
    }
    EXPECT_EQ(bench_.reg("rcs0", EngineBench::kControl) & 1, 0u);
    bench_.start_ring("rcs0");
    bench_.run("rcs0", {0x1040'0002, 0, static_cast<uint32_t>(data_ + 0x100), 0x600d});
    EXPECT_EQ(bench_.peek(data_ + 0x100), 0x600du);
  }

  EngineBench bench_;
  uint64_t data_ = 0;
};

// Execlists.
class ExeclistStory final : public KernelStory {
 public:
  explicit ExeclistStory(std::string_view chip) : bench_(chip) {}

  void step(unsigned number) override {
    constexpr void (ExeclistStory::*kAll[kSteps])() = {&ExeclistStory::begin, &ExeclistStory::preempt,
                                                       &ExeclistStory::hang, &ExeclistStory::come_back};
    (this->*kAll[number])();
  }
  Ending ending() const override { return ending_of(bench_); }

 private:
  using Context = ContextBench::Context;

  // A context whose batch, in its own tables, counts in memory and lets others in between.
  Context counting(std::string_view engine, uint32_t id, uint32_t stores) {
    constexpr uint64_t kBatch = 0x10'0000;
    constexpr uint64_t kData = 0x20'0000;
    Context context = bench_.create(engine, id);
    const uint64_t batch = bench_.allocate(4);
    for (uint64_t page = 0; page < 4; ++page) {
      bench_.map_process(context, kBatch + page * 0x1000, batch + page * 0x1000);
    }
    bench_.map_process(context, kData, data_);
    std::vector<uint32_t> commands;
    for (uint32_t i = 0; i < stores; ++i) {
      for (const uint32_t dword : {0x1000'0002u, static_cast<uint32_t>(kData + 8 * id), 0u, i + 1, kArbCheck, 0u}) {
        commands.push_back(dword);
      }
    }
    commands.push_back(kBatchEnd);
    bench_.poke(batch, commands);
    bench_.emit(context, {0x1880'0101, static_cast<uint32_t>(kBatch), 0, 0, kUserInterrupt, 0});
    return context;
  }
  uint32_t count_of(uint32_t id) { return bench_.peek(data_ + 8 * id); }

  void begin() {
    enable_interrupts(bench_);
    data_ = bench_.allocate(1);
    uint32_t id = 1;
    for (const spec::EngineModel& each : bench_.model.engines) {
      slow_.push_back(counting(each.name, id++, 300));
      urgent_.push_back(counting(each.name, id++, 5));
    }
    for (const Context& context : slow_) bench_.submit({&context});
    bench_.device->advance(4000);
    for (uint32_t number = 0; number < slow_.size(); ++number) {
      EXPECT_GT(count_of(2 * number + 1), 0u) << slow_[number].engine;
      EXPECT_LT(count_of(2 * number + 1), 300u) << slow_[number].engine;
    }
  }
  // Each engine gets a new queue: its context leaves at the next arbitration check and comes after the urgent one.
  void preempt() {
    for (size_t number = 0; number < slow_.size(); ++number) bench_.submit({&urgent_[number], &slow_[number]});
    EXPECT_TRUE(bench_.device->settle());
    for (uint32_t number = 0; number < slow_.size(); ++number) {
      EXPECT_EQ(count_of(2 * number + 1), 300u) << slow_[number].engine;
      EXPECT_EQ(count_of(2 * number + 2), 5u) << slow_[number].engine;
      const std::vector<uint64_t> expected = {
          bench_.idle_to_active(slow_[number]), bench_.preempted(slow_[number], urgent_[number]),
          bench_.complete_to_element(urgent_[number], slow_[number]), bench_.complete_to_idle(slow_[number])};
      EXPECT_EQ(bench_.statuses(slow_[number].engine), expected) << slow_[number].engine;
    }
    EXPECT_TRUE(line(bench_));
  }
  // One engine hangs, the others do not care.
  void hang() {
    Context bad = bench_.create("rcs0", 60);
    bench_.emit(bad, {kGarbage, 0});
    const Context good = counting("bcs0", 61, 7);
    bench_.submit({&bad});
    bench_.submit({&good});
    EXPECT_TRUE(bench_.device->settle());
    EXPECT_EQ(count_of(61), 7u);
    EXPECT_EQ(bench_.reg("rcs0", 0x68), kGarbage);
  }
  // A reset through its own handshake.
  void come_back() {
    bench_.set_reg("rcs0", 0xd0, 0x0001'0001);
    EXPECT_TRUE(bench_.device->settle());
    EXPECT_EQ(bench_.reg("rcs0", 0xd0) & 2, 2u);
    bench_.write(0x941c, 2);
    EXPECT_EQ(bench_.read(0x941c) & 2, 0u);
    bench_.set_reg("rcs0", 0xd0, 0x0001'0000);
    bench_.set_reg("rcs0", ContextBench::kStatusPageAddress, static_cast<uint32_t>(bench_.status_page("rcs0")));
    bench_.set_reg("rcs0", ContextBench::kMode, 0x8000'8000);
    const Context after = counting("rcs0", 62, 9);
    bench_.submit({&after});
    EXPECT_TRUE(bench_.device->settle());
    EXPECT_EQ(count_of(62), 9u);
  }

  ContextBench bench_;
  uint64_t data_ = 0;
  std::vector<Context> slow_;
  std::vector<Context> urgent_;
};

inline std::unique_ptr<KernelStory> make_story(const spec::DeviceModel& model) {
  if (model.has(spec::Feature::execlists)) return std::make_unique<ExeclistStory>(model.name);
  return std::make_unique<RingStory>(model.name);
}
inline std::unique_ptr<KernelStory> make_story(const std::string& chip) {
  return make_story(*spec::find_device(chip));
}

}  // namespace halogen
