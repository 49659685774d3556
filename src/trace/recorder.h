// Records what software does with a device, at register level, as an AUB trace. The software is a guest in a virtual
// machine, or a driver. A second device (trace/simulator.h) goes through the same accesses as a replay will: the trace
// must contain everything that the second device would otherwise miss. A page of system memory is written to the trace
// when the device is about to access it and its content differs from that of the second device. A register write is
// recorded after the work that it starts is done. While recording, that work is done before the software continues, so
// that memory does not change during the work.
//
// Usage: call `watch` before the first access to the device, and `on_page` from Host::map_memory. Call `before_write`
// and `after_write` around every write to a BAR, with Device::settle before the latter. Call `after_config_write` and
// `after_reset` after those events, and `before_time` and `after_time` around other time that passes.
//
// Both devices have the same virtual time. After each write that starts work their memory must be equal: the recorder
// made it equal before the write, and only the device has written since. A difference means that the replay differs
// from the run, and `finish` reports it. Work of engines while other time passes runs concurrently with the software,
// which may write the same pages, so that work is counted as unjudged. Local memory, which is never corrected, is
// compared at the end, or treated like system memory if a visitor reports what software wrote to it (`watch_local`).
// Software with several threads may also write during work that a write starts (`watch_threads`): then only bytes that
// the second device changed are compared.
//
// Limits: writes through tiled views of the aperture are recorded as writes to the mapped pages; endless work runs for
// a tenth of a second of virtual time at every access, so traces of hangs take long to record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spec/device_model.h"
#include "trace/aub_writer.h"
#include "trace/byte_sink.h"
#include "trace/simulator.h"

namespace halogen::trace {

struct RecordedRun {
  uint64_t memory_hash = 0;  // hash of all memory after a replay
  uint64_t commands = 0;     // executed by a replay
  uint64_t comparisons = 0;  // comparisons of the two devices' memory
  uint64_t unjudged = 0;     // concurrent work that was not, or not completely, compared
  uint64_t differences = 0;  // pages that differ between device and replay
  std::string fault;         // message for the first difference; empty: a replay does the same as the device
};

// Returns the number of commands executed by all engines.
uint64_t commands_of(device::Device& device);

class Recorder {
 public:
  // `table_enabled`, `local_tables`: as in the device's options. `settle_limit`: the argument of its Device::settle,
  // which a player of the trace needs too if it is not the default.
  static Result<std::unique_ptr<Recorder>> create(const spec::DeviceModel& model, std::unique_ptr<ByteSink> sink,
                                                  bool table_enabled, bool local_tables,
                                                  std::string_view text = "halogen vm",
                                                  uint64_t settle_limit = device::Device::kSettleLimit);

  // Sets the recorded device, which must outlive `finish`. Without it time is not tracked and nothing is compared.
  void watch(device::Device& device) {
    device_ = &device;
    simulator_->device().stop_flag().set_watch([&device] { return device.stop_flag().raised(); });
  }
  // Sets the visitor of what software wrote to local memory without a BAR; called before work. Empty: there are no such
  // writes.
  using Visitor = std::function<void(uint64_t address, std::span<const std::byte> bytes)>;
  void watch_local(std::function<void(const Visitor&)> visit) { visit_local_ = std::move(visit); }

  // Sets the function that returns whether other threads may write memory now; called before work. Empty: they do not.
  void watch_threads(std::function<bool()> others) { others_write_ = std::move(others); }

  // Call when the device accesses a page of system memory for the first time. The bytes must stay at this address.
  void on_page(uint64_t address, std::span<const std::byte> bytes);
  void forget(uint64_t address, uint64_t bytes);  // pages of system memory that no longer exist
  void before_write(unsigned bar, uint64_t offset);
  void after_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value);
  // Records entries of the global table; `offset` is in bytes. With local memory, large updates are skipped, because a
  // driver's initialisation of the whole table would be most of the trace.
  void after_entries(uint64_t offset, std::span<const std::byte> entries);
  void after_config_write(uint32_t offset, unsigned bytes, uint32_t value);
  void after_reset();  // function-level reset: AUB has no record for it, so engines are reset as a driver would do it
  void before_time();
  void after_time();
  void pass(uint64_t nanoseconds);  // replaces before_time() and after_time() if no device is watched

  // Completes the trace. An error: it cannot be written.
  Result<RecordedRun> finish();

 private:
  struct Page {
    std::span<const std::byte> theirs;
    std::span<std::byte> ours;        // of the second device
    std::vector<std::byte> before{};  // copy of `ours` at the start of the work; empty: no other writer
    bool differs() const;
    bool is_by_others() const;  // true: the work changed none of the bytes that differ
  };

  Recorder() = default;

  void catch_up();  // copies what software wrote
  void catch_up(uint64_t address, const Page& page);
  void find_local_differences(const Visitor& found);
  void remember(Page& page) const;
  void keep_time();
  void compare(uint64_t offset);
  void compare_local();
  void report_difference(std::string_view memory, uint64_t address, const std::string& when);
  void enable_local_tables();

  std::unique_ptr<ByteSink> sink_;
  std::unique_ptr<aub::Writer> writer_;
  std::unique_ptr<Simulator> simulator_;
  device::Device* device_ = nullptr;
  std::map<uint64_t, Page> pages_;
  std::function<void(const Visitor&)> visit_local_;
  std::function<bool()> others_write_;
  std::optional<unsigned> local_bar_;
  bool table_enabled_ = false;
  bool local_tables_ = false;
  bool caught_up_ = false;     // memory was equal before the current write
  bool others_ = false;        // other threads may write meanwhile
  bool works_beside_ = false;  // engines have work while time passes
  uint64_t commands_before_ = 0;
  RecordedRun run_;
};

}  // namespace halogen::trace
