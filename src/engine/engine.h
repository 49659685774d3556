// A command streamer. It takes work from its ring or execlist port, parses it, executes the commands of the memory
// interface itself and hands the others to its back end. It runs in slices of virtual time; while a command waits,
// other engines continue. Software sees it through registers, memory and interrupts.
//
// The engine is the hub: parts (ring, execlist port, errors, ...) and command handlers (mi_*.cpp) work on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/event.h"
#include "base/fidelity.h"
#include "engine/backend/back_end.h"
#include "engine/engine_state.h"
#include "engine/errors.h"
#include "engine/mi/semaphores.h"
#include "engine/services.h"
#include "engine/stream/command.h"
#include "engine/stream/command_privilege.h"
#include "engine/stream/command_stream.h"
#include "engine/stream/fetch.h"
#include "engine/stream/preparser.h"
#include "engine/stream/stream_modes.h"
#include "engine/stream/stream_registers.h"
#include "engine/submit/ring.h"
#include "engine/submit/status_page.h"
#include "engine/watchdog.h"
#include "engine/work_done.h"
#include "gen/generation.h"
#include "hw/mode.h"
#include "mmio/register.h"
#include "mmio/registers.h"
#include "spec/unread.h"

namespace halogen::engine {

class ExeclistSubmission;
class HandlerTable;
class Submission;
struct WorkReport;

// Virtual time that a command of the streamer itself takes.
inline constexpr uint64_t kCommandTime = 10;

class Engine {
 public:
  Engine(const spec::EngineModel& model, mmio::MmioSpace& mmio, Services& services, std::string path);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const spec::EngineModel& model() const { return registers_.engine(); }

  // Runs until the engine's time reaches `until` or no work is left. The time is `until` afterwards, or later if a
  // command took longer. False: nothing was done.
  bool run(uint64_t until);
  // Tells the engine that a slice is over. `alone`: no other engine had work, so the next slice may be longer.
  void note_slice(bool alone, unsigned max) {
    const bool longer = alone && state_.activity == Activity::running;
    state_.lone_slices = longer ? static_cast<uint8_t>(std::min(state_.lone_slices + 1u, max)) : uint8_t{0};
  }
  // Moves the time of an engine without work forward.
  void catch_up(uint64_t now) { state_.time = std::max(state_.time, now); }
  // Wakes the engine, because a register, memory or an event that it may wait for has changed.
  void wake();
  // Delivers a semaphore signal for a context, by the upper dword of its descriptor. Rings have no contexts and take
  // every signal.
  void on_semaphore_signal(uint32_t context_id);

  void reset();  // the caller resets the engine's registers
  EngineState snapshot() const;
  void restore(const EngineState& state);
  void report(FidelityReport& report) const;

  // Accessors for the parts and the command handlers.
  EngineState& state() { return state_; }
  const EngineState& state() const { return state_; }
  mmio::Registers& registers() { return registers_; }
  const mmio::Registers& registers() const { return registers_; }
  Services& services() { return services_; }
  const spec::CommandTable& table() const { return table_; }
  CommandStream& stream() { return stream_; }
  Fetch& fetch() { return fetch_; }
  Ring& ring() { return ring_; }
  StreamRegisters& stream_registers() { return stream_registers_; }
  StatusPage& status_page() { return status_page_; }
  Errors& errors() { return errors_; }
  StreamModes& modes() { return modes_; }
  Watchdog& watchdog() { return watchdog_; }
  CommandPrivilege& privilege() { return privilege_; }
  BackEnd& back_end() { return *back_end_; }
  Submission& submission();
  ExeclistSubmission* execlists() { return execlist_submission_.get(); }  // null: the chip has no execlists
  const Generation& generation() const { return generation_; }
  spec::GenId gen() const { return generation_.id(); }
  const std::string& path() const { return path_; }

  LevelState& level() { return state_.levels[stream_.state().depth]; }
  const LevelState& level() const { return state_.levels[stream_.state().depth]; }
  bool in_batch() const { return stream_.state().depth != 0; }
  // Returns whether there is unfinished work.
  bool busy() const;
  // Returns whether per-process address space and run lists are enabled (mobile Gen4.5 part only).
  bool per_process_space() const;
  // Returns whether the chip gets per-process addresses from run lists and run lists are disabled or absent.
  bool lacks_process_space() const;
  // Returns the table that the running commands were fetched through.
  memory::TableKind fetched_from() const {
    return stream_.level().space == StreamSpace::ppgtt ? memory::TableKind::per_process : memory::TableKind::global;
  }
  memory::AddressSpace& data_space(memory::TableKind table, memory::Stream stream = memory::Stream::store_data) {
    return services_.space(stream, table);
  }
  // Accesses a register for a command, at the engine's time.
  uint32_t read_register(uint32_t offset);
  void write_register(uint32_t offset, uint32_t value, uint32_t lanes = mmio::kAllLanes);

  // Holds the stream, so that the command is parsed again later. If software has cancelled the wait, the stream
  // advances instead.
  Next wait(WaitKind kind, uint32_t detail = 0, std::optional<uint64_t> until = std::nullopt);
  // Stops the engine until it is reset.
  Next hang(std::string_view reason);
  // Stops the engine until it is reset, because a stop was requested where its command cannot continue later.
  Next stop_in_command() {
    state_.activity = Activity::hung;
    return Next::hold();
  }
  // Handles an access that did not happen: the command is repeated, at once or after the page response, or never.
  Next stopped_by_fault(memory::AccessResult result);
  // Returns what follows the last access of a command.
  Next after(memory::AccessResult result) { return ok(result) ? Next::advance() : stopped_by_fault(result); }
  // Ends a part of a long command. The command is parsed again for the next part.
  Next continue_later() {
    did_part_ = true;
    return Next::hold();
  }
  // Returns whether a long command is unfinished. No other command may run before it ends.
  bool in_command() const { return state_.long_command.is_of(stream_.level().address.value, state_.commands); }

  // Returns whether a register write of the running command has reset the engine, so that there is no next command.
  bool was_reset() const { return was_reset_; }

  // Reports the time since the last report to the units that observe the engine.
  void report_time(oa::EngineTime use) {
    if (state_.time > time_reported_) {
      add_time(use, state_.time - time_reported_);
      services_.report_time({.begin_ns = time_reported_, .end_ns = state_.time, .use = use});
      time_reported_ = state_.time;
    }
  }
  // Advances virtual time by the time of a part of a draw, dispatch or blit, and adds its counts.
  void account(const WorkReport& report);
  const WorkDone& work_done() const { return work_done_; }
  const TimeSpent& time_spent() const { return time_spent_; }

  void spend(uint64_t nanoseconds) { state_.time += nanoseconds; }
  uint64_t now() const { return state_.time; }
  void raise(EventKind kind, std::string_view item, uint64_t address, uint64_t value, std::string detail) const;
  // Marks the command as approximate, or as not implemented.
  void approximate(const spec::CommandDesc& desc, std::string_view reason);
  void unsupported(const spec::CommandDesc& desc);

 private:
  friend class CommandDispatcher;
  struct CommandCount {
    uint64_t count = 0;
    FidelityClass fidelity = FidelityClass::exact;
    std::string reason;
  };

  void handle(StreamStop stop);
  void leave_stream();
  void stopped_at_hole();
  bool wait_continues(uint64_t until);
  void add_time(oa::EngineTime use, uint64_t nanoseconds) {
    time_spent_.busy += nanoseconds;
    if (use != oa::EngineTime::waits) return;
    if (state_.wait.kind == WaitKind::event) time_spent_.waits_for_event += nanoseconds;
    if (state_.wait.kind == WaitKind::semaphore) time_spent_.waits_for_signal += nanoseconds;
  }

  std::string path_;
  Generation generation_;
  Services& services_;
  mmio::Registers registers_;
  mmio::Register<hw::GFX_MODE> graphics_mode_;
  const spec::CommandTable& table_;
  const HandlerTable& handlers_;
  PreParser preparser_{*this};
  Fetch fetch_;
  CommandStream stream_;
  EngineState state_;
  StreamRegisters stream_registers_;
  Ring ring_;
  StatusPage status_page_;
  Errors errors_;
  StreamModes modes_;
  Watchdog watchdog_;
  Semaphores semaphores_;
  CommandPrivilege privilege_;
  std::unique_ptr<BackEnd> back_end_;
  std::unique_ptr<Submission> ring_submission_;
  std::unique_ptr<ExeclistSubmission> execlist_submission_;
  std::vector<CommandCount> counts_;  // by CommandId
  spec::UnreadFields unread_;         // of commands; back ends have those of states
  uint64_t unknown_commands_ = 0;
  WorkDone work_done_;
  TimeSpent time_spent_;
  uint64_t time_reported_ = 0;
  bool was_reset_ = false;  // since run() began
  bool did_part_ = false;   // of a long command, since the stream was last resumed
};

}  // namespace halogen::engine
