#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/process_space.h"
#include "engine/statistics.h"
#include "engine/stream/command_dispatcher.h"
#include "engine/submit/execlist.h"
#include "engine/submit/submission.h"
#include "engine/video_work.h"
#include "engine/work_report.h"
#include "hw/ring.h"

namespace halogen::engine {

Engine::Engine(const spec::EngineModel& model, mmio::MmioSpace& mmio, Services& services, std::string path)
    : path_(std::move(path)),
      generation_(mmio.generation()),
      services_(services),
      registers_(mmio, model),
      graphics_mode_(process_space_mode(mmio, model)),
      table_(spec::CommandTable::get(generation_.model().id, model.engine_class)),
      handlers_(HandlerTable::instance()),
      fetch_(services),
      stream_(table_, fetch_),
      stream_registers_(*this),
      ring_(*this),
      status_page_(*this),
      errors_(*this),
      modes_(*this),
      watchdog_(*this),
      semaphores_(*this),
      privilege_(*this, generation_.model().id),
      back_end_(make_back_end(model)),
      ring_submission_(std::make_unique<RingSubmission>(*this)),
      counts_(spec::commands().size()) {
  handlers_.use_registers(registers_);
  fetch_.set_preparser(preparser_);
  fetch_.set_stops_at_holes(generation_.has(spec::Feature::no_fault_model));
  if (generation_.has_execlists()) {
    execlist_submission_ = std::make_unique<ExeclistSubmission>(*this);
  }
}

Engine::~Engine() = default;

Submission& Engine::submission() {
  if (execlist_submission_ != nullptr && execlist_submission_->enabled()) {
    return *execlist_submission_;
  }
  return *ring_submission_;
}

// A register write can make the engine busy before the next run().
bool Engine::busy() const {
  const bool execlists = execlist_submission_ != nullptr && execlist_submission_->enabled();
  if (state_.activity != Activity::running || execlists) {
    return state_.activity != Activity::idle;
  }
  return ring_.enabled() && (!ring_.empty() || registers_.get<hw::UHPTR>().valid);
}

bool Engine::per_process_space() const {
  return has_process_space(generation_.model(), graphics_mode_);
}

bool Engine::lacks_process_space() const {
  return generation_.has(spec::Feature::process_space_by_run_lists) && !per_process_space();
}

// Returns whether a semaphore wait continues: nothing has signalled the engine, and its next poll is not due. If the
// poll is due, moves the time to it.
bool Engine::wait_continues(uint64_t until) {
  if (state_.activity != Activity::waiting || state_.wait.kind != WaitKind::semaphore) {
    return false;
  }
  if (!state_.wait.until || *state_.wait.until >= until) {
    return true;
  }
  state_.time = std::max(state_.time, *state_.wait.until);
  report_time(oa::EngineTime::waits);
  return false;
}

bool Engine::run(uint64_t until) {
  if (state_.time >= until) {
    return state_.activity == Activity::running;  // a long command is still running
  }
  stream_.invalidate();  // page tables may have changed since the last run
  bool progress = false;
  was_reset_ = false;
  time_reported_ = state_.time;
  while (state_.time < until) {
    const uint64_t began = state_.time;
    const bool stays = state_.activity == Activity::hung || modes_.stopped() || wait_continues(until);
    const bool runs = !stays && submission().prepare();
    report_time(oa::EngineTime::switches);
    if (!runs) {
      progress |= state_.time != began;
      break;
    }
    if (state_.time >= until) {  // a context switch took the rest of the slice
      state_.activity = Activity::running;
      progress = true;
      break;
    }
    state_.activity = Activity::running;
    state_.wait = {};
    CommandDispatcher dispatcher(*this);
    // If a long command is resumed, only that command runs, so that a pending preemption is considered right after it.
    const uint64_t budget = in_command() ? 1 : (until - state_.time + kCommandTime - 1) / kCommandTime;
    const uint64_t before = state_.commands;
    handle(stream_.run(dispatcher, budget));
    report_time(oa::EngineTime::works);
    state_.ring.cancel_wait = false;
    progress |= state_.commands != before || std::exchange(did_part_, false);
    ring_.report_head_at_borders();
    if (state_.activity == Activity::waiting && state_.wait.kind == WaitKind::event && state_.wait.until &&
        *state_.wait.until > state_.time && *state_.wait.until < until) {
      state_.time = *state_.wait.until;  // the next check is due in this slice
      report_time(oa::EngineTime::waits);
      continue;
    }
    if (state_.activity != Activity::running || was_reset_ || services_.stop().raised()) {
      break;
    }
  }
  state_.time = std::max(state_.time, until);
  if (state_.activity != Activity::idle) {
    report_time(state_.activity == Activity::waiting ? oa::EngineTime::waits : oa::EngineTime::works);
  }
  watchdog_.settle();
  stream_registers_.publish();
  return progress;
}

void Engine::handle(StreamStop stop) {
  switch (stop) {
    case StreamStop::budget:
    case StreamStop::left:
    case StreamStop::held:
      break;  // the visitor has set the engine's state
    case StreamStop::stopped:
      leave_stream();
      break;
    case StreamStop::exhausted:
      if (in_batch() && !state_.execlist.restoring()) {
        errors_.raise(ErrorKind::instruction);
        hang("physical batch buffer without an end in its page");
      } else {
        submission().on_empty();
      }
      break;
    case StreamStop::truncated:
      // In a ring, the tail lies inside a command. In a batch, the next page is missing or a physical batch has reached
      // its end.
      if (in_batch() && stream_.level().end != StreamLevel::kNoEnd) {
        if (state_.execlist.restoring()) {
          raise(EventKind::undefined_behaviour, "INDIRECT_CTX", stream_.level().address.value, state_.header,
                "command crosses the end of INDIRECT_CTX and is skipped");
        }
        handle(StreamStop::exhausted);
      } else if (in_batch()) {
        stopped_at_hole();
      } else {
        wait(WaitKind::rest);
      }
      break;
    case StreamStop::unmapped:
      stopped_at_hole();
      break;
    case StreamStop::too_deep:
      hang("batch buffers nested too deeply");
      break;
  }
}

// Handles a fetch that found no page: a fault that software can repair, or a hang.
void Engine::stopped_at_hole() {
  if (generation_.has(spec::Feature::no_fault_model)) {
    hang("command fetched from an unmapped page");
  } else {
    stopped_by_fault(fetch_.result());
  }
}

// Handles a command that ends its context, or one that is an arbitration point.
void Engine::leave_stream() {
  if (state_.ring.end_context) {
    state_.ring.end_context = false;
    StreamState stream = stream_.state();
    stream.depth = 0;
    stream_.restore(stream);
    submission().on_empty();
  } else if (submission().wants_switch()) {
    submission().leave();
  }
}

void Engine::wake() {
  if (state_.activity == Activity::idle || state_.activity == Activity::waiting) {
    state_.activity = Activity::running;  // the next run() checks the condition again
  }
}

void Engine::on_semaphore_signal(uint32_t context_id) {
  const std::optional<uint64_t>& running = state_.execlist.running;
  if (!running || static_cast<uint32_t>(*running >> 32) == context_id) {
    wake();
  }
}

Next Engine::wait(WaitKind kind, uint32_t detail, std::optional<uint64_t> until) {
  if (state_.ring.cancel_wait && (kind == WaitKind::event || kind == WaitKind::semaphore)) {
    state_.ring.cancel_wait = false;
    return Next::advance();
  }
  state_.activity = Activity::waiting;
  state_.wait = {kind, detail, until};
  return Next::hold();
}

Next Engine::hang(std::string_view reason) {
  state_.activity = Activity::hung;
  raise(EventKind::undefined_behaviour, {}, stream_.level().address.value, state_.header, std::string(reason));
  return Next::hold();
}

Next Engine::stopped_by_fault(memory::AccessResult result) {
  spend(kCommandTime);
  switch (result) {
    case memory::AccessResult::ok:
    case memory::AccessResult::stopped:
      break;
    case memory::AccessResult::hung:
      state_.activity = Activity::hung;
      break;
    case memory::AccessResult::waits_for_page:
      return wait(WaitKind::page);
  }
  return Next::hold();
}

void Engine::account(const WorkReport& report) {
  const uint64_t begin = now();
  spend(report.time_ns);
  work_done_.amount += report.done.amount;
  work_done_.progress += report.done.progress;
  add_statistics(registers_, gen(), report);
  if (report.counts != nullptr) {
    services_.report_work({.begin_ns = begin, .end_ns = now(), .counts = *report.counts});
  }
  if (report.target_write) {
    services_.on_target_write(report.target_write->base, report.target_write->first_line, report.target_write->lines);
  }
}

uint32_t Engine::read_register(uint32_t offset) {
  report_time(oa::EngineTime::works);
  services_.set_time(state_.time);
  return registers_.mmio().read_dword(offset, mmio::MmioSpace::Origin::command_streamer);
}

void Engine::write_register(uint32_t offset, uint32_t value, uint32_t lanes) {
  services_.set_time(state_.time);
  registers_.mmio().write_dword(offset, value, lanes, mmio::MmioSpace::Origin::command_streamer);
}

void Engine::reset() {
  const uint64_t time = state_.time;
  state_ = {};
  state_.time = time;
  state_.watchdog.counted_to = time;
  stream_.restore(state_.stream);
  was_reset_ = true;
  errors_.reset();
  back_end_->reset();
  stream_registers_.publish();
}

EngineState Engine::snapshot() const {
  EngineState state = state_;
  state.stream = stream_.state();
  return state;
}

void Engine::restore(const EngineState& state) {
  state_ = state;
  stream_.restore(state.stream);
  back_end_->reset();
}

void Engine::raise(EventKind kind, std::string_view item, uint64_t address, uint64_t value, std::string detail) const {
  services_.on_event({kind, item, path_, address, value, std::move(detail)});
}

void Engine::approximate(const spec::CommandDesc& desc, std::string_view reason) {
  CommandCount& count = counts_[static_cast<size_t>(desc.id)];
  if (count.fidelity == FidelityClass::exact) {
    count.fidelity = FidelityClass::approximate;
    count.reason = reason;
  }
}

void Engine::unsupported(const spec::CommandDesc& desc) {
  CommandCount& count = counts_[static_cast<size_t>(desc.id)];
  if (count.fidelity != FidelityClass::unsupported) {  // one Event per command is enough
    count.fidelity = FidelityClass::unsupported;
    count.reason = is_video(model().engine_class) ? kVideoNotExecuted : "not implemented";
    raise(EventKind::unsupported, desc.name, stream_.level().address.value, state_.header, std::string(count.reason));
  }
}

void Engine::report(FidelityReport& report) const {
  for (const spec::CommandDesc* desc : spec::commands()) {
    const CommandCount& count = counts_[static_cast<size_t>(desc->id)];
    if (count.count != 0) {
      report.touch(FidelityKind::command, desc->manual_name, count.fidelity, count.reason, count.count);
    }
  }
  back_end_->report(report);
  unread_.report(report);
  if (unknown_commands_ != 0) {
    report.touch(FidelityKind::command, "unknown", FidelityClass::unsupported, "no description in spec/",
                 unknown_commands_);
  }
}

}  // namespace halogen::engine
