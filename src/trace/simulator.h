// A device and its memory behind the interface of a simulator: registers by offset, memory by physical address, page
// table entries; everything is written from outside, and work is done at once. AUB traces and TBX share it. All input
// passes through this class, so it can record everything as an AUB trace; when played, the trace makes the same calls
// in the same order.
//
// Differences from real hardware: the client places everything in memory, registers never sleep, the global table is
// enabled, and local memory answers at every address.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "memory/page_format.h"
#include "trace/aub_records.h"
#include "trace/aub_writer.h"
#include "trace/ggtt_objects.h"
#include "trace/trace_host.h"

namespace halogen::trace {

struct SimulatorOptions {
  EventSink* events = nullptr;
  PageBudget* budget = nullptr;  // of system and local memory, shared with other simulators
  std::string name = "gpu0";
  unsigned threads = 1;  // DeviceOptions::threads
  eu::ExecutorKind executor = eu::ExecutorKind::interpreter;
  bool check_rules = false;                              // DeviceOptions::check_rules
  uint64_t settle_limit = device::Device::kSettleLimit;  // longest virtual time of work that one write starts
  const StopFlag* stop = nullptr;                        // ends the device's work early; null: none
};

class Simulator {
 public:
  static Result<std::unique_ptr<Simulator>> create(const spec::DeviceModel& model,
                                                   const SimulatorOptions& options = {});
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  const spec::DeviceModel& model() const { return device_->model(); }
  device::Device& device() { return *device_; }
  TraceHost& host() { return host_; }

  // Records all further input, starting with the version record. Null: stops.
  void record_to(aub::Writer* writer, std::string_view text = "halogen");
  // Records something other than an access: a comment or an expectation of the client.
  void note(const aub::Record& record) {
    if (recorder_ != nullptr) recorder_->write(record);
  }

  // Writes a register and runs the work that the write starts to its end. False: the device lacks the register space.
  bool write_register(aub::RegisterSpace space, uint32_t offset, unsigned bytes, uint64_t value);
  std::optional<uint64_t> read_register(aub::RegisterSpace space, uint32_t offset, unsigned bytes);

  // Writes memory. False: a part was not written (no page, or memory is used up).
  bool write_memory(aub::MemorySpace space, uint64_t address, std::span<const std::byte> data, uint8_t hint = 0);
  // Reads memory without an effect on the device. Unmapped memory reads zero.
  bool read_memory(aub::MemorySpace space, uint64_t address, std::span<std::byte> into);
  // Contexts whose commands were executed, the latest at the end. Of the contexts of one submission, only the last is
  // listed.
  struct SeenContext {
    unsigned engine = 0;
    uint32_t image = 0;  // address of its logical context in the global table; 0: none
    memory::WalkContext walk;
  };
  const std::vector<SeenContext>& contexts() const { return contexts_; }
  // Reads memory at an address of a context.
  bool read_context(const SeenContext& context, uint64_t address, std::span<std::byte> into);

  // Chooses the memory for a read by physical address that does not name its memory.
  aub::MemorySpace space_of_read(uint64_t address, size_t bytes);

  // Entries of the global table.
  unsigned entry_bytes() const { return entry_bytes_; }
  uint64_t read_entry(uint64_t index);

  // Runs commands in the global address space as a ring of the first engine of that class, or of the first engine.
  bool run_ring(spec::EngineClass engine_class, uint64_t address, uint64_t bytes);

  void advance(uint64_t nanoseconds);  // requested by the client; recorded
  void pass(uint64_t nanoseconds);     // part of another recorded input
  bool settle();                       // likewise part of another recorded input
  // Settles on request of the client if there is work left. A trace records it as a comment.
  static constexpr std::string_view kFinishNote = "halogen: finish";
  bool finish();
  bool busy() const;  // an engine is not idle
  // Resets to the state after power-on, except for memory. A trace records it as a comment, which is played as a reset.
  static constexpr std::string_view kResetNote = "halogen: reset";
  void reset();

  // Returns a hash of all memory, system and local, and the global table. Equal content at equal addresses gives equal
  // hashes.
  uint64_t memory_hash() const;

 private:
  explicit Simulator(const SimulatorOptions& options)
      : budget_(options.budget), host_(options.events, options.budget) {}

  void bring_up();
  void read_pages(GgttObjects::Pool pool, uint64_t address, std::span<std::byte> into);
  bool store_entries(uint64_t offset, std::span<const std::byte> data);
  bool transfer_through(const memory::WalkContext& walked, uint64_t address, std::span<std::byte> into,
                        std::span<const std::byte> from);
  memory::WalkContext process_walk();
  void note_engines();
  void note_context(unsigned engine);

  PageBudget* budget_;
  uint64_t local_pages_ = 0;  // part of the budget used for local memory
  TraceHost host_;
  std::unique_ptr<device::Device> device_;
  std::optional<memory::PageFormats> formats_;
  std::optional<GgttObjects> objects_;  // present if the device has local memory
  uint64_t object_base_ = 0;            // offset in local memory for pages behind the global table
  unsigned entry_bytes_ = 8;
  unsigned last_engine_ = 0;  // the last engine that executed a command
  std::vector<uint64_t> commands_;
  std::vector<SeenContext> contexts_;
  uint64_t settle_limit_ = device::Device::kSettleLimit;
  aub::Writer* recorder_ = nullptr;
};

}  // namespace halogen::trace
