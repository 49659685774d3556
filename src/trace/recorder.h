// Records what software does with a device of its own, at register level, as an AUB trace: a guest in a virtual
// machine, or a driver. A second device, as a replay will have it, lives through the same (trace/simulator.h): what the
// trace must hold is what that one would miss. Pages of system memory are written into the trace when the device is
// about to touch them and they differ from what the second device has; registers when software writes them, after the
// work that they start is done. While recording, that is before the software goes on, so that no work sees memory
// change under it.
//
// How it is used: before the first access `watch` the device; Host::map_memory tells `on_page`; around every write of a
// BAR stand `before_write` and `after_write`, with Device::settle before the latter; `after_config_write`,
// `after_reset`; around time that passes otherwise `before_time` and `after_time`.
//
// Both devices keep the same virtual time. After each write that starts work their memory must be the same: before it
// the recorder made it so, and nobody but the device has written since. Where it is not, the replay is not the run, and
// `finish` says so. What engines do in time that passes otherwise happens beside the software, which may write the same
// pages: it is counted, and not judged. Local memory, which nothing corrects, is compared at the end; where somebody
// tells what software wrote into it (`watch_local`), it is treated as system memory is. Software with several threads
// may write beside a write that starts work, too (`watch_threads`): then only bytes count that the second device
// changed.
//
// Left out: tiled views of the aperture are recorded as the pages they end in; work that never ends is run for a tenth
// of a second of virtual time at every access, so traces of hangs take long.
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
  uint64_t memory_hash = 0;  // of all memory, as a replay gives it
  uint64_t commands = 0;     // that a replay executes
  uint64_t comparisons = 0;  // of the two devices' memory, after work
  uint64_t unjudged = 0;     // stretches of work beside the software that were not compared, or not wholly
  uint64_t differences = 0;  // pages that the device and a replay left with different bytes
  std::string fault;         // a sentence about the first of them; empty: a replay does what the device did
};

// Executed by all engines.
uint64_t commands_of(device::Device& device);

class Recorder {
 public:
  // `table_enabled`, `local_tables`: as the device's options say. `settle_limit`: what its Device::settle is
  // given, and what a player of the trace must be told, where it is not the usual one.
  static Result<std::unique_ptr<Recorder>> create(const spec::DeviceModel& model, std::unique_ptr<ByteSink> sink,
                                                  bool table_enabled, bool local_tables,
                                                  std::string_view text = "halogen vm",
                                                  uint64_t settle_limit = device::Device::kSettleLimit);

  // The device that is recorded, which must outlive `finish`. Without it times are not kept and nothing is compared.
  void watch(device::Device& device) { device_ = &device; }
  // Who knows what software wrote into local memory without a BAR; asked before work. Empty: nobody does so.
  using Visitor = std::function<void(uint64_t address, std::span<const std::byte> bytes)>;
  void watch_local(std::function<void(const Visitor&)> visit) { visit_local_ = std::move(visit); }

  // Whether others than who calls may write memory now; asked before work. Empty: nobody does.
  void watch_threads(std::function<bool()> others) { others_write_ = std::move(others); }

  // The device looks at a page of system memory for the first time; the bytes stay where they are.
  void on_page(uint64_t address, std::span<const std::byte> bytes);
  void forget(uint64_t address, uint64_t bytes);  // pages of system memory that are gone
  void before_write(unsigned bar, uint64_t offset);
  void after_write(unsigned bar, uint64_t offset, unsigned bytes, uint64_t value);
  // Entries of the global table, many at once; `offset` in its bytes. Where there is local memory, only some: what a
  // driver does to the whole table at its start would be most of the trace.
  void after_entries(uint64_t offset, std::span<const std::byte> entries);
  void after_config_write(uint32_t offset, unsigned bytes, uint32_t value);
  void after_reset();  // of the whole function; a trace has no word for it: engines are reset as a driver would
  void before_time();
  void after_time();
  void pass(uint64_t nanoseconds);  // instead of these two, where no device is watched

  // The trace is whole up to here. An error: it cannot be written.
  Result<RecordedRun> finish();

 private:
  struct Page {
    std::span<const std::byte> theirs;
    std::span<std::byte> ours;        // of the second device
    std::vector<std::byte> before{};  // of ours, when the work began; empty: nobody else writes
    bool differs() const;
    bool is_by_others() const;  // no byte that differs is one that the work changed
  };

  Recorder() = default;

  void catch_up();  // with what the software wrote
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
  bool caught_up_ = false;     // memory was the same before the write that is under way
  bool others_ = false;        // may write meanwhile
  bool works_beside_ = false;  // engines have work in the time that passes
  uint64_t commands_before_ = 0;
  RecordedRun run_;
};

}  // namespace halogen::trace
