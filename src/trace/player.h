// Plays an AUB trace on a device: writes registers, page tables and memory as the records say, runs submissions to
// their end, checks polls and comparisons, waits for delays in virtual time, and writes dumps where the user allows it.
//
// A few bytes of a trace can request much work, so repeated patterns and dumps are limited per trace.
//
// Skipped, and counted by kind: comparisons by CRC (the checksum is not public), dumps in formats of other tools, dumps
// of W-tiled surfaces, predicates, register spaces outside the device. The tiling of a single write is recorded but not
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
  uint64_t failed_checks = 0;  // failed polls and comparisons
  uint64_t ignored_polls = 0;  // timed out, but the trace says to continue
  uint64_t unchecked = 0;      // checks that are not supported; also counted as skipped
  uint64_t unmapped = 0;       // writes of which a part hit unmapped memory
  uint64_t dumps = 0;          // files written
  uint64_t skipped = 0;        // records of an unsupported kind
};

class Player final : public aub::Visitor {
 public:
  // `model` null: the device that the trace names.
  explicit Player(const spec::DeviceModel* model = nullptr, EventSink* events = nullptr);

  // Copies everything that is played to the writer. Call before the first record.
  void record_to(aub::Writer* writer) { recorder_ = writer; }
  // Sets the folder for records that dump memory; empty: no dumps. File names of a trace cannot leave the folder.
  // `replace`: dumps may replace files that exist; otherwise the replay fails there.
  void allow_dumps(std::filesystem::path folder, bool replace = false) {
    dump_folder_ = std::move(folder);
    replaces_dumps_ = replace;
  }
  void set_budget(PageBudget* budget) { options_.budget = budget; }  // null: a limit of its own
  void check_rules() { options_.check_rules = true; }
  void set_executor(eu::ExecutorKind kind) { options_.executor = kind; }
  // Sets a flag that ends the device's work early. Records are ignored while it is raised. Null: none.
  void set_stop(const StopFlag* stop) { options_.stop = stop; }
  void set_settle_limit(uint64_t nanoseconds) { options_.settle_limit = nanoseconds; }

  void on(const aub::Place& place, const aub::Record& record) override;
  // Counts a comparison whose last part is missing. Call after the last record.
  void finish();

  // Returns why the trace cannot be played. Empty: it can.
  const std::string& failure() const { return failure_; }
  // Returns whether a poll timed out and the trace says to stop.
  bool aborted() const { return aborted_; }
  bool wants_more() const { return failure_.empty() && !aborted_ && !stopped(); }
  bool stopped() const { return options_.stop != nullptr && options_.stop->raised(); }
  const PlayCounts& counts() const { return counts_; }
  // Returns messages for the first failed checks.
  const std::vector<std::string>& faults() const { return faults_; }
  const std::map<std::string, uint64_t, std::less<>>& skipped() const { return skipped_; }

  Simulator* simulator() { return simulator_.get(); }
  device::Device* device() { return simulator_ == nullptr ? nullptr : &simulator_->device(); }

  // Reads memory as the trace addresses it.
  bool read(aub::MemorySpace space, uint64_t address, std::span<std::byte> into) {
    return simulator_->read_memory(space, address, into);
  }

 private:
  struct Handler;

  static constexpr size_t kMaxFaults = 20;
  static constexpr uint64_t kMaxRepeated = uint64_t{256} << 20;  // bytes, written or compared
  static constexpr uint64_t kMaxDumped = uint64_t{1} << 30;      // bytes
  static constexpr uint64_t kMaxDumps = 4096;
  static constexpr uint64_t kPollStep = 1'000'000;  // virtual time between two polls
  static constexpr unsigned kPollSteps = 100;

  void choose(const spec::DeviceModel* model, const std::string& what);
  void start(const spec::DeviceModel& model);
  void store(aub::MemorySpace space, uint64_t address, std::span<const std::byte> data, uint64_t bytes, uint8_t hint);
  void run_block(const aub::ClassicBlock& block);
  void check(bool held, const std::function<std::string()>& sentence);
  // Polls until the condition holds or time runs out.
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
  bool replaces_dumps_ = false;
  std::unique_ptr<Simulator> simulator_;
  aub::Place place_;
  std::string failure_;
  bool aborted_ = false;
  bool stored_difference_ = false;  // a part of the current comparison has differed
  bool in_parts_ = false;           // its last part is still missing
  uint64_t repeated_ = 0;           // bytes produced by repeated patterns
  uint64_t dumped_ = 0;             // bytes
  PlayCounts counts_;
  std::vector<std::string> faults_;
  std::map<std::string, uint64_t, std::less<>> skipped_;
};

}  // namespace halogen::trace
