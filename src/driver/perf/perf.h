// The performance counters of a device: metric sets, limits, and its one stream. A thread watches the stream's
// descriptor: it tells poll(2) when reports are there, and closes the stream with its last descriptor. All functions
// are called with the driver's lock held, except stop().
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "driver/core/driver.h"
#include "driver/hw/command_writer.h"
#include "driver/perf/oa_unit.h"
#include "driver/perf/perf_config.h"
#include "driver/perf/perf_limits.h"
#include "driver/perf/perf_stream.h"

namespace halogen::driver {

// The properties with which a program opens a stream.
struct PerfProperties {
  bool has_context = false;
  uint64_t context = 0;
  bool samples = false;
  int config = 0;
  hw::OaReportFormat format{};
  uint32_t report_bytes = 0;  // 0: no format was given
  bool periodic = false;
  uint8_t exponent = 0;
  bool holds_preemption = false;
  bool has_sseu = false;
  uint64_t poll_ns = 5'000'000;
};

class Perf {
 public:
  Perf(Driver& driver, const PerfPaths& paths);
  ~Perf();
  Perf(const Perf&) = delete;
  Perf& operator=(const Perf&) = delete;

  bool exists() const { return unit_ != nullptr; }  // the device has counters whose reports go to a buffer
  // Returns whether a context can have counters that no other context sees.
  bool counts_apart() const { return unit_->counts_apart(); }
  PerfConfigs& configs() { return configs_; }
  const PerfLimits& limits() const { return limits_; }
  bool is_open();  // whether a stream is open; closes one that programs have abandoned

  // Opens the stream. Returns a descriptor of the program or a negative errno. `context`: null for all contexts.
  int open(Driver::Lock& lock, const PerfProperties& properties, const ContextRef& context, uint32_t flags);
  // Returns the stream of a descriptor. Null: the descriptor is not the stream's.
  PerfStreamRef find(int descriptor) const;
  int read(Driver::Lock& lock, PerfStream& stream, int descriptor, uint64_t address, uint64_t bytes);
  int control(PerfStream& stream, int descriptor, unsigned long request, uint64_t argument);
  // Returns how many nanoseconds of an idle device may pass at once. A program that reads all the time must get its
  // turn before the buffer is full.
  uint64_t longest_step() const;
  // Lets a stream's time pass for a program that polls, if the device's clock does not follow the host's. `ns`: at
  // most.
  void pass_time(PerfStream& stream, uint64_t ns);
  // Called after the device has worked. If the render engine has become idle, a context switch makes the unit write a
  // report, because programs wait for a report that is later than their work.
  void after_step();

  void stop();  // ends the thread

 private:
  int prepare(PerfStream::Parts& parts, const PerfProperties& properties, const ContextRef& context);
  int make_stream(PerfStream::Parts parts, uint32_t flags, Descriptor& program_end);
  int start_watching();
  void watch();
  void wake() const;  // makes the thread poll the stream again
  void poll_stream();
  bool is_abandoned(const PerfStream& stream) const;
  void close_stream();
  EngineQueue& render() const;
  std::shared_ptr<EngineContext> own_context();
  CommandWriter writer() const { return {driver_.model(), render().engine()}; }
  static void load(CommandWriter& commands, const std::vector<RegisterValue>& values);
  static void load(CommandWriter& commands, const PerfConfig& config);
  // Sets registers for contexts to come, and adds commands that set them in the contexts that exist.
  void set_for_all(const std::vector<RegisterValue>& values, CommandWriter& commands, Request& request);
  // Null: out of memory.
  RequestRef submit(RequestRef request, std::shared_ptr<EngineContext> context, CommandWriter& commands);
  bool configure(Driver::Lock& lock, const PerfStream& stream);
  int wait(Driver::Lock& lock, PerfStream& stream);
  uint64_t period_of(const PerfStream& stream) const;
  int change_config(PerfStream& stream, uint64_t id);

  Driver& driver_;
  std::unique_ptr<OaUnit> unit_;
  PerfConfigs configs_;
  PerfLimits limits_;
  std::shared_ptr<Space> space_;        // of own_
  std::shared_ptr<EngineContext> own_;  // executes what belongs to no program
  PerfStreamRef stream_;                // null: closed
  uint64_t quiet_number_ = 0;           // the last request of own_

  std::thread thread_;
  Descriptor wake_;
  std::atomic<bool> stop_ = false;
};

}  // namespace halogen::driver
