// Shows translation faults to software: fault registers, page requests, a stopped engine. Ice Lake PRM vol. 6, fault
// models, page requests and cached faults (seed 001). Registers (spec/registers/fault.toml, gtt.toml): Gen4 has the
// sticky PGTBL_ER, Gen6 has a register per engine, and from Gen8 on one register serves all, beside registers with the
// address. The queue of page requests in memory and the records of remapping faults are those of the IOMMU (iommu.h),
// which takes requests from here. Not modelled: the numbers of fault sources, which are not published (the caller gives
// them).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/event.h"
#include "memory/address_space.h"
#include "memory/fault.h"
#include "spec/descriptors.h"
#include "spec/device_model.h"

namespace halogen::memory {

// Values as the context descriptor encodes them.
enum class FaultModel : uint8_t {
  hang,      // legacy contexts: report the fault; the engine hangs, or skips the access if a register selects that
  halt,      // send a page request; the access waits for the response
  stream,    // send a page request and drop the access; the scheduler, which is software, may switch the context out
  carry_on,  // named by drivers, not supported by hardware
};

// The client whose access faulted. Gen4 reports it; later parts report the engine and a source number.
enum class FaultStream : uint8_t {
  command_fetch,
  cs,
  vertex_fetch,
  state_cache,
  sampler_cache,
  render_cache,
  cursor,
  overlay,
  display_a,
  display_b,
  host,
};

struct PageRequest {
  unsigned engine = 0;  // number in the device's list
  uint32_t pasid = 0;
  uint32_t context_id = 0;  // distinguishes the queues of one process
  uint8_t function = 0;
  uint16_t group = 0;
  uint64_t address = 0;  // of the page
  bool read = false;
  bool write = false;
  bool execute = false;
  bool privileged = false;
  bool streaming = false;

  bool operator==(const PageRequest&) const = default;
};

// Returns the request as VT-d 2.x writes it to memory.
std::array<uint32_t, 4> pack(const PageRequest& request, spec::GenId gen);

struct PageResponse {
  uint32_t pasid = 0;
  uint64_t address = 0;
  bool success = false;
};

class FaultListener {
 public:
  virtual ~FaultListener() = default;
  virtual void on_fault(unsigned /*engine*/, const Fault& /*fault*/) {}  // every reported fault
  virtual void on_resume(unsigned /*engine*/) {}                         // fault and halt: the response came
  virtual void on_catastrophic(unsigned /*engine*/, const Fault& /*fault*/) {}
  virtual void on_invalid_tile() {}  // an access to a tile that the tiled resource tables mark as invalid
  // `pending`: a fault of per-process tables is not served yet. `repair`: the fault model of its context continues.
  virtual void on_pending(unsigned /*engine*/, bool /*pending*/, bool /*repair*/) {}
};

// The properties of the context on an engine that decide about faults.
struct FaultContext {
  FaultModel model = FaultModel::hang;
  bool page_requests = false;  // the context can send them: advanced, and enabled in its context entry
  uint32_t pasid = 0;
  uint32_t context_id = 0;
  uint8_t function = 0;
  bool privileged = false;
  bool remapped = false;  // the IOMMU translates the context's requests and records their faults

  bool operator==(const FaultContext&) const = default;
};

// The IOMMU, which shows page requests and faults of advanced contexts to software.
class RemappingSink {
 public:
  virtual ~RemappingSink() = default;
  virtual void on_request_queued() = 0;                                                  // take_request() has one more
  virtual void on_remapping_fault(const FaultContext& context, const Fault& fault) = 0;  // that nothing repairs
};

// The state, as plain data.
struct FaultEngineState {
  FaultContext context;
  bool continue_after_fault = false;  // skip the access instead of hanging
  bool reset_expected = false;        // a tiled resource table could not be read: later results are garbage
  bool in_reset = false;
  std::optional<uint64_t> waiting;  // fault and halt: the page that the engine waits for
  std::optional<uint64_t> refused;  // a page whose response was not a success
  bool unserved = false;   // a fault of per-process tables was reported, and the fault register not cleared since
  bool pending = false;    // unserved or waiting, as the listener was last notified
  uint32_t fault_reg = 0;  // Gen6

  bool operator==(const FaultEngineState&) const = default;
};

struct FaultState {
  uint32_t fault_reg = 0;  // Gen8 on
  uint32_t tlb_data[2] = {};
  uint32_t arbiter_errors = 0;
  uint32_t page_table_errors = 0;        // Gen4
  std::vector<PageRequest> outstanding;  // without a response
  std::deque<PageRequest> queue;         // outstanding requests that software has not taken
  std::optional<PageRequest> held;       // waits in a register because the queue is full; blocks resets
  bool overflow = false;                 // the queue was full
  uint16_t next_group = 0;
  std::vector<FaultEngineState> engines;

  bool operator==(const FaultState&) const = default;
};

class FaultUnit {
 public:
  struct Config {
    unsigned queue_entries = 64;
  };

  FaultUnit(const spec::DeviceModel& model, const Config& config, EventSink& events, std::string path,
            FaultListener* listener = nullptr);

  // Reports a fault of an engine. Returns the fate of the access.
  FaultAction report(unsigned engine, uint8_t source_id, FaultStream stream, const Fault& fault);
  // Reports a fault of the CPU or the display, which have no command streamer: nothing stops. The listener gets
  // an engine number past the last one.
  void report_external(FaultStream stream, const Fault& fault);
  void report_large_page(unsigned engine, uint64_t address);

  void set_remapping(RemappingSink* sink) { remapping_ = sink; }

  void set_context(unsigned engine, const FaultContext& context);  // a new context waits for no page
  void update_context(unsigned engine, const FaultContext& context) { state_.engines[engine].context = context; }
  // Selects whether an access of a legacy context that faults is skipped instead of hanging the engine (GAB_CTL).
  void set_continue_after_fault(unsigned engine, bool on) { state_.engines[engine].continue_after_fault = on; }
  const FaultEngineState& engine(unsigned number) const { return state_.engines[number]; }

  // Page requests as software sees them.
  std::optional<PageRequest> take_request();
  size_t outstanding() const { return state_.outstanding.size(); }
  bool overflowed() const { return state_.overflow; }
  void clear_overflow() { state_.overflow = false; }
  // False: no request for the page is outstanding.
  bool respond(const PageResponse& response);

  // Resets an engine: it sends no new request, and sent requests stay. False: a held request blocks the completion.
  bool reset_engine(unsigned engine);
  void reset_device();  // resets registers and engines; requests in the system's queue stay

  bool owns(spec::RegisterId id) const;
  uint32_t read(spec::RegisterId id) const;
  void write(spec::RegisterId id, uint32_t value);

  const FaultState& state() const { return state_; }
  void restore(const FaultState& state) { state_ = state; }

 private:
  enum class Style : uint8_t { page_table_errors, per_engine, shared };

  FaultAction report_recoverable(unsigned engine, const Fault& fault);
  FaultAction give_up(unsigned engine, const Fault& fault);
  bool send(PageRequest& request);
  void record(unsigned engine, uint8_t source_id, FaultStream stream, const Fault& fault);
  void release_held();
  void tell_pending(unsigned engine);
  const FaultEngineState* engine_of(spec::RegisterId id) const;
  FaultEngineState* engine_of(spec::RegisterId id);
  void raise(EventKind kind, const Fault& fault, unsigned engine, std::string detail);

  const spec::DeviceModel* model_;
  Config config_;
  Style style_;
  EventSink* events_;
  std::string path_;
  FaultListener* listener_;
  RemappingSink* remapping_ = nullptr;
  FaultState state_;
};

}  // namespace halogen::memory
