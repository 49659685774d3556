// Plays an AUB trace on a device: registers, page tables and memory are written as the records say, submissions run to
// their end, polls and comparisons are checked, delays pass in virtual time, dumps are written where the user allows.
//
// A few bytes of a trace may ask for much: what repeats a pattern and what is dumped is limited for the whole trace.
//
// Left out, and counted by kind: comparisons by CRC (the sum is not public), dumps for tools of their own formats and
// of W-tiled surfaces, predicates, register spaces outside the device. Tilings of single writes are kept but not
// applied.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/aub_records.h"
#include "trace/simulator.h"

namespace halogen::trace {

struct PlayCounts {
  uint64_t records = 0;
  uint64_t register_writes = 0;
  uint64_t memory_writes = 0;
  uint64_t memory_bytes = 0;
  uint64_t checks = 0;         // polls and comparisons
  uint64_t failed_checks = 0;  // that did not hold
  uint64_t ignored_polls = 0;  // that timed out, and the trace says to go on
  uint64_t unchecked = 0;      // expectations that cannot be checked; among the skipped
  uint64_t unmapped = 0;       // writes with a part that nothing took
  uint64_t dumps = 0;          // files written
  uint64_t skipped = 0;        // records of a kind that is left out
};

class Player final : public aub::Visitor {
 public:
  // Null: the device that the trace names.
  explicit Player(const spec::DeviceModel* model = nullptr, EventSink* events = nullptr);

  // Before the first record. A copy of all that is played goes to the writer.
  void record_to(aub::Writer* writer) { recorder_ = writer; }
  // Where records that dump memory may write; empty: nowhere. File names of a trace never leave the folder.
  void allow_dumps(std::filesystem::path folder) { dump_folder_ = std::move(folder); }
  void set_budget(PageBudget* budget) { options_.budget = budget; }  // of memory; null: a machine's own
  void set_executor(eu::ExecutorKind kind) { options_.executor = kind; }
  void set_settle_limit(uint64_t nanoseconds) { options_.settle_limit = nanoseconds; }

  void on(const aub::Place& place, const aub::Record& record) override;
  // After the last record.
  void finish();

  // Why the trace cannot be played; empty: it can.
  const std::string& failure() const { return failure_; }
  // A poll timed out and the trace says to stop then.
  bool aborted() const { return aborted_; }
  bool wants_more() const { return failure_.empty() && !aborted_; }
  const PlayCounts& counts() const { return counts_; }
  // Expectations that did not hold, as sentences; the first of them.
  const std::vector<std::string>& faults() const { return faults_; }
  const std::map<std::string, uint64_t, std::less<>>& skipped() const { return skipped_; }

  Simulator* simulator() { return simulator_.get(); }
  device::Device* device() { return simulator_ == nullptr ? nullptr : &simulator_->device(); }

  // Memory as the trace sees it.
  bool read(aub::MemorySpace space, uint64_t address, std::span<std::byte> into) {
    return simulator_->read_memory(space, address, into);
  }

 private:
  struct Handler;

  static constexpr size_t kMaxFaults = 20;
  static constexpr uint64_t kMaxRepeated = uint64_t{256} << 20;  // bytes, written or compared
  static constexpr uint64_t kMaxDumped = uint64_t{1} << 30;      // bytes
  static constexpr uint64_t kMaxDumps = 4096;
  static constexpr uint64_t kPollStep = 1'000'000;  // virtual time between two looks
  static constexpr unsigned kPollSteps = 100;

  void choose(const spec::DeviceModel* model, const std::string& what);
  void start(const spec::DeviceModel& model);
  void store(aub::MemorySpace space, uint64_t address, std::span<const std::byte> data, uint64_t bytes, uint8_t hint);
  void run_block(const aub::ClassicBlock& block);
  void check(bool held, const std::function<std::string()>& sentence);
  // Looks until it holds or time is up.
  bool poll(const std::function<bool()>& holds);
  void poll_ended(bool held, bool ignore, const std::function<std::string()>& sentence);
  void skip(std::string_view kind);
  void skip_check(std::string_view kind);
  bool allows_repeated(uint64_t bytes);
  struct DumpArea {
    aub::MemorySpace space{};
    uint64_t address = 0;
    uint64_t width = 0;  // bytes
    uint64_t height = 0;
    uint64_t pitch = 0;
    aub::Tiling tiling{};
  };
  void dump(const DumpArea& area, std::string_view name);
  void read_row(const DumpArea& area, uint64_t y, std::span<std::byte> into);

  const spec::DeviceModel* model_;
  SimulatorOptions options_;
  aub::Writer* recorder_ = nullptr;
  std::filesystem::path dump_folder_;
  std::unique_ptr<Simulator> simulator_;
  aub::Place place_;
  std::string failure_;
  bool aborted_ = false;
  bool stored_difference_ = false;  // of a comparison in parts
  bool in_parts_ = false;           // its last part has not come yet
  uint64_t repeated_ = 0;           // bytes that patterns made
  uint64_t dumped_ = 0;             // bytes
  PlayCounts counts_;
  std::vector<std::string> faults_;
  std::map<std::string, uint64_t, std::less<>> skipped_;
};

}  // namespace halogen::trace
