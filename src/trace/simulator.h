// A device and the machine around it as simulators show them: registers by offset, memory by physical address, page
// table entries, all written from outside, with the work done at once. Doors that speak so (AUB traces, TBX) share it.
// Everything that comes in can be recorded as an AUB trace here, which is the one place that all of it passes; played
// again, the trace makes the same calls in the same order.
//
// A simulator's machine differs from a real one: everything is placed by the client, registers never sleep, the
// global table is on, and local memory answers at every address.
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
  PageBudget* budget = nullptr;  // of memory, system and local, shared with other machines
  std::string name = "gpu0";
  unsigned threads = 1;  // DeviceOptions::threads
  eu::ExecutorKind executor = eu::ExecutorKind::interpreter;
  uint64_t settle_limit = device::Device::kSettleLimit;  // virtual time that one write may start work for
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

  // From now on everything that comes in is written there, from the version record on. Null: no more.
  void record_to(aub::Writer* writer, std::string_view text = "halogen");
  // A record that is no access: comments, and what a client expected.
  void note(const aub::Record& record) {
    if (recorder_ != nullptr) recorder_->write(record);
  }

  // False: a register space that the device does not have. Writes run what they start to its end.
  bool write_register(aub::RegisterSpace space, uint32_t offset, unsigned bytes, uint64_t value);
  std::optional<uint64_t> read_register(aub::RegisterSpace space, uint32_t offset, unsigned bytes);

  // False: nothing took a part of it (no page there, or memory is used up).
  bool write_memory(aub::MemorySpace space, uint64_t address, std::span<const std::byte> data, uint8_t hint = 0);
  // Reads have no effect on the device; what is not there reads zero.
  bool read_memory(aub::MemorySpace space, uint64_t address, std::span<std::byte> into);
  // Contexts whose commands were executed, the one that ran last at the end. Of those that one submission names
  // together, the last.
  struct SeenContext {
    unsigned engine = 0;
    uint32_t image = 0;  // its logical context's address in the global table; 0: it has none
    memory::WalkContext walk;
  };
  const std::vector<SeenContext>& contexts() const { return contexts_; }
  // Memory by an address of one of them.
  bool read_context(const SeenContext& context, uint64_t address, std::span<std::byte> into);

  // A read by physical address that does not say which memory it means; says which was taken.
  aub::MemorySpace space_of_read(uint64_t address, size_t bytes);

  // Entries of the global table.
  unsigned entry_bytes() const { return entry_bytes_; }
  uint64_t read_entry(uint64_t index);

  // Commands that lie in the global address space run as a ring of an engine of that class (or of the first engine).
  bool run_ring(spec::EngineClass engine_class, uint64_t address, uint64_t bytes);

  void advance(uint64_t nanoseconds);  // as a client asks for it
  void pass(uint64_t nanoseconds);     // as part of something else that is recorded
  bool settle();                       // the same
  // Settles because a client asks for it, where there is something left to do: a comment stands for it in a trace.
  static constexpr std::string_view kFinishNote = "halogen: finish";
  bool finish();
  bool busy() const;  // an engine has work, done or not
  // As after power-on, but for memory. A trace has no record for it: a comment stands for it, and is played as one.
  static constexpr std::string_view kResetNote = "halogen: reset";
  void reset();

  // Of everything in memory, system and local, the global table too: the same for the same bytes at the same places.
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
  uint64_t local_pages_ = 0;  // taken from it for the device's own memory
  TraceHost host_;
  std::unique_ptr<device::Device> device_;
  std::optional<memory::PageFormats> formats_;
  std::optional<GgttObjects> objects_;  // where there is local memory
  uint64_t object_base_ = 0;            // where in local memory the pages behind the global table go
  unsigned entry_bytes_ = 8;
  unsigned last_engine_ = 0;  // that did something
  std::vector<uint64_t> commands_;
  std::vector<SeenContext> contexts_;
  uint64_t settle_limit_ = device::Device::kSettleLimit;
  aub::Writer* recorder_ = nullptr;
};

}  // namespace halogen::trace
