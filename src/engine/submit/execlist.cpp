#include "engine/submit/execlist.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/engine.h"
#include "hw/context.h"
#include "hw/mi.h"
#include "hw/mode.h"
#include "hw/ring.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;

constexpr unsigned kDwordBits = 32;
constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kStopped = ~uint64_t{0};  // value of timestamp_since while CTX_TIMESTAMP does not count
constexpr unsigned kMaxSteps = 64;           // of one prepare(); more than any queue needs

// Returns the element to run: the first valid one from `next` on.
std::optional<uint64_t> current(spec::GenId gen, ExecutionQueue& queue) {
  for (; queue.next < queue.count; ++queue.next) {
    if (descriptor_of(gen, queue.descriptors[queue.next]).valid) {
      return queue.descriptors[queue.next];
    }
  }
  return std::nullopt;
}

}  // namespace

ExeclistSubmission::ExeclistSubmission(Engine& engine) : engine_(engine), context_(engine), status_(engine) {
  for (const RegisterId id :
       {RegisterId::ELSP, RegisterId::EXECLIST_CONTROL, RegisterId::EXECLIST_STATUS, RegisterId::CTX_TIMESTAMP}) {
    engine.registers().attach(id, *this);
  }
  engine.registers().use({RegisterId::CCID, RegisterId::RING_HEAD_PREEMPT, RegisterId::BB_PREEMPT_ADDR,
                          RegisterId::BB_PREEMPT_ADDR_UDW, RegisterId::SBB_PREEMPT_ADDR,
                          RegisterId::SBB_PREEMPT_ADDR_UDW});
  if (engine.registers().has(RegisterId::EXECLIST_CONTROL)) {
    engine.registers().use({RegisterId::EXECLIST_SQ_CONTENTS});
  }
}

// Drivers for Gen11 and later do not set the enable bit. They disable the legacy ring instead.
bool ExeclistSubmission::enabled() const {
  const auto mode = engine_.registers().get<hw::GFX_MODE>();
  return mode.execlist_enable || mode.disable_legacy_mode;
}

bool ExeclistSubmission::prepare() {
  for (unsigned step = 0; step < kMaxSteps; ++step) {
    bool on = true;
    switch (engine_.state().execlist.phase) {
      case ContextPhase::none:
        on = take_from_idle();
        break;
      case ContextPhase::ring_context:
        on = restore_ring_context();
        break;
      case ContextPhase::engine_context:
        on = restore_engine_context();
        break;
      case ContextPhase::restored:
        on = run_restore_batch();
        break;
      case ContextPhase::indirect:
      case ContextPhase::batch:
        return true;
      case ContextPhase::running:
        look_at_stream();
        if (!engine_.in_command() && is_lite() && may_be_lite()) {
          on = lite_restore();
        } else if (engine_.state().execlist.leaving) {
          on = switch_context();
        } else {
          return true;
        }
        break;
    }
    if (!on) {
      return false;
    }
  }
  return false;  // continued in the next slice
}

// Decides whether the running context leaves.
void ExeclistSubmission::look_at_stream() {
  EngineState& state = engine_.state();
  if (!state.execlist.leaving && engine_.ring().empty()) {
    on_empty();
  } else if (!state.execlist.leaving && state.execlist.pending && state.wait.kind == WaitKind::rest) {
    leave();  // the rest of its last command was never written
  }
}

bool ExeclistSubmission::take_from_idle() {
  ExeclistState& list = engine_.state().execlist;
  if (!list.pending) {
    engine_.state().activity = Activity::idle;
    return false;
  }
  list.active = *std::exchange(list.pending, std::nullopt);
  list.current_list ^= 1;
  const std::optional<uint64_t> to = current(engine_.gen(), list.active);
  const memory::AccessResult reported = status_.report({.new_queue = true, .away = std::nullopt, .to = to});
  begin(to);
  if (!ok(reported)) {
    engine_.stopped_by_fault(reported);
    return false;
  }
  return true;
}

bool ExeclistSubmission::switch_context() {
  ExeclistState& list = engine_.state().execlist;
  const uint64_t away = *list.running;
  const GgttOffset address = descriptor_of(engine_.gen(), away).logical_ring_context_address;
  engine_.registers().poke(RegisterId::CTX_TIMESTAMP, context_timestamp());
  list.timestamp_since = kStopped;
  if (list.reason != LeaveReason::complete) {
    engine_.stream_registers().record_preemption();
  }
  if (const memory::AccessResult result = context_.save(address); !ok(result)) {
    engine_.stopped_by_fault(result);
    return false;
  }
  engine_.spend(kSwitchTime);
  report_to_process(away, &hw::PER_PROCESS_HARDWARE_STATUS_PAGE::context_save_finished_timestamp, ticks(engine_.now()));
  const bool new_queue = new_queue_may_come();
  if (new_queue) {
    report_to_process(away, &hw::PER_PROCESS_HARDWARE_STATUS_PAGE::preemption_request_timestamp,
                      ticks(list.pending_since));
    list.active = *std::exchange(list.pending, std::nullopt);
    list.current_list ^= 1;
  } else {
    ++list.active.next;
  }
  const std::optional<uint64_t> to = current(engine_.gen(), list.active);
  const memory::AccessResult reported = status_.report({.new_queue = new_queue,
                                                        .away = away,
                                                        .to = to,
                                                        .reason = list.reason,
                                                        .wait_detail = list.wait_detail,
                                                        .polls = list.polls});
  begin(to);
  if (!ok(reported)) {
    engine_.stopped_by_fault(reported);
    return false;
  }
  return true;
}

// Starts the restore of a context, or makes the engine idle.
void ExeclistSubmission::begin(std::optional<uint64_t> descriptor) {
  engine_.watchdog().settle();  // counts to the end of the save
  ExeclistState& list = engine_.state().execlist;
  StreamState stream = engine_.stream().state();
  stream.depth = 0;
  engine_.stream().restore(stream);
  engine_.state().wait = {};
  engine_.state().event.reset();  // a wait that is parsed again starts again
  list.leaving = false;
  list.polls = false;
  list.wait_detail = 0;
  list.running = descriptor;
  list.timestamp_since = engine_.now();
  if (!descriptor) {
    list.phase = ContextPhase::none;
    auto current_id = engine_.registers().get<hw::CCID>();
    current_id.valid = false;
    engine_.registers().set(current_id);
    tell_switch(ContextStep::Kind::idle, 0);
    return;
  }
  report_to_process(*descriptor, &hw::PER_PROCESS_HARDWARE_STATUS_PAGE::last_switch_timestamp, ticks(engine_.now()));
  tell_switch(ContextStep::Kind::begin, *descriptor);
  list.phase = ContextPhase::ring_context;
  list.image_dword = 0;
  list.indirect_done = false;
}

void ExeclistSubmission::tell_switch(ContextStep::Kind step, uint64_t descriptor) {
  engine_.services().on_context_switch({step, descriptor, engine_.now()});
}

bool ExeclistSubmission::restore_ring_context() {
  ExeclistState& list = engine_.state().execlist;
  const GgttOffset address = descriptor_of(engine_.gen(), *list.running).logical_ring_context_address;
  context_.forget();
  uint32_t at = 0;
  const auto result = context_.restore(address, at, LogicalContext::kRingDwords);
  if (result == LogicalContext::Result::stopped) {
    return false;
  }
  engine_.spend(kSwitchTime);
  hw::CCID current_id;
  current_id.context_address = address;
  current_id.valid = true;
  engine_.registers().set(current_id);
  tell_switch(ContextStep::Kind::launch, *list.running);
  const bool inhibited = engine_.registers().get<hw::CTXT_SR_CTL>().engine_context_restore_inhibit;
  const bool whole = inhibited || result == LogicalContext::Result::ended;
  list.phase = whole ? ContextPhase::restored : ContextPhase::engine_context;
  list.image_dword = at;
  return true;
}

// Restores the engine context. If the context has INDIRECT_CTX commands, the restore pauses at their offset, runs them
// and continues. The offset counts cache lines from the start of the ring context.
bool ExeclistSubmission::restore_engine_context() {
  ExeclistState& list = engine_.state().execlist;
  const GgttOffset address = descriptor_of(engine_.gen(), *list.running).logical_ring_context_address;
  const auto indirect = engine_.registers().get<hw::INDIRECT_CTX>();
  const bool pause = indirect.size_cachelines != 0 && !list.indirect_done;
  uint32_t until = context_.max_dwords();
  if (pause) {
    const uint32_t lines = engine_.registers().get<hw::INDIRECT_CTX_OFFSET>().offset_cachelines;
    until = std::clamp(lines * LogicalContext::kLineDwords, list.image_dword, context_.max_dwords());
  }
  uint32_t at = list.image_dword;
  const auto result = context_.restore(address, at, until);
  if (result == LogicalContext::Result::stopped) {
    return false;
  }
  list.image_dword = result == LogicalContext::Result::ended ? context_.max_dwords() : at;
  if (!pause) {
    list.phase = ContextPhase::restored;
    return true;
  }
  list.indirect_done = true;
  list.phase = ContextPhase::indirect;
  const GpuVa start{indirect.address.value};
  run_commands(start, start + indirect.size_cachelines * kLineBytes);
  return true;
}

bool ExeclistSubmission::run_restore_batch() {
  const auto batch = engine_.registers().get<hw::BB_PER_CTX_PTR>();
  if (!batch.valid) {
    return start_ring();
  }
  engine_.state().execlist.phase = ContextPhase::batch;
  run_commands(GpuVa{batch.address.value}, std::nullopt);
  return true;
}

// Runs commands of a context load. They are a level above an empty outermost level, so that their end is noticed.
void ExeclistSubmission::run_commands(GpuVa start, std::optional<GpuVa> end) {
  StreamState stream{};
  stream.levels[0] = {.space = StreamSpace::ggtt, .address = start, .end = start};
  stream.levels[1] = {.space = StreamSpace::ggtt, .address = start, .end = end.value_or(StreamLevel::kNoEnd)};
  stream.depth = 1;
  engine_.stream().restore(stream);
  engine_.state().levels = {};
}

bool ExeclistSubmission::start_ring() {
  ExeclistState& list = engine_.state().execlist;
  list.phase = ContextPhase::running;
  engine_.state().levels = {};
  engine_.stream_registers().adopt();
  report_to_process(*list.running, &hw::PER_PROCESS_HARDWARE_STATUS_PAGE::context_restore_complete_timestamp,
                    ticks(engine_.now()));
  if (!engine_.ring().enabled()) {
    engine_.raise(EventKind::undefined_behaviour, "RING_CTL", 0, *list.running,
                  "ring of the submitted context disabled");
    list.leaving = true;
    list.reason = LeaveReason::complete;
  } else if (!engine_.ring().usable()) {
    engine_.hang("head or tail outside the ring of the context");
    return false;
  }
  return true;
}

bool ExeclistSubmission::lite_restore() {
  ExeclistState& list = engine_.state().execlist;
  const uint64_t running = *list.running;
  const GgttOffset address = descriptor_of(engine_.gen(), running).logical_ring_context_address;
  if (const memory::AccessResult result = context_.sample_tail(address); !ok(result)) {
    engine_.stopped_by_fault(result);
    return false;
  }
  list.active = *std::exchange(list.pending, std::nullopt);
  list.current_list ^= 1;
  const std::optional<uint64_t> to = current(engine_.gen(), list.active);
  list.running = to;
  tell_switch(ContextStep::Kind::rename, *to);
  list.leaving = false;
  list.polls = false;
  list.wait_detail = 0;
  engine_.spend(kCommandTime);
  if (const auto next = descriptor_of(engine_.gen(), *to); next.force_page_directory_restore) {
    reload_tables(next, *to);
  }
  if (!engine_.ring().usable()) {
    engine_.hang("new tail outside the ring");
    return false;
  }
  const memory::AccessResult reported =
      status_.report({.new_queue = true, .away = running, .to = to, .lite_restore = true});
  if (!ok(reported)) {
    engine_.stopped_by_fault(reported);
    return false;
  }
  if (const auto batch = engine_.registers().get<hw::BB_PER_CTX_PTR>(); batch.valid && batch.force) {
    engine_.stream_registers().publish();  // saves the position where the stream continues after the batch
    return run_restore_batch();
  }
  return true;
}

// Reloads the page tables of a context that stays in the engine.
void ExeclistSubmission::reload_tables(const hw::CONTEXT_DESCRIPTOR& descriptor, uint64_t raw) {
  tell_switch(ContextStep::Kind::begin, raw);
  context_.restore_tables(descriptor.logical_ring_context_address);
  tell_switch(ContextStep::Kind::launch, raw);
  engine_.stream().invalidate();
}

// Returns whether a new queue replaces the active one when the running context leaves. If the context is complete while
// arbitration is disabled, the next element of its own queue runs first, because an element boundary is a preemption
// point only while arbitration is enabled. DG1 PRM vol. 13, Preemption (seed 000).
bool ExeclistSubmission::new_queue_may_come() const {
  const EngineState& state = engine_.state();
  if (!state.execlist.pending) {
    return false;
  }
  ExecutionQueue rest = state.execlist.active;
  ++rest.next;
  return state.arbitration || state.execlist.reason != LeaveReason::complete || !current(engine_.gen(), rest);
}

// Returns whether a lite restore is allowed. A stream can disable arbitration for everything but lite restores.
bool ExeclistSubmission::may_be_lite() const {
  const EngineState& state = engine_.state();
  return state.arbitration || state.lite_restores || (state.execlist.leaving && new_queue_may_come());
}

// Returns whether the pending queue starts with the running context and does not force its restore.
bool ExeclistSubmission::is_lite() const {
  const ExeclistState& list = engine_.state().execlist;
  if (!list.pending || !list.running) {
    return false;
  }
  ExecutionQueue queue = *list.pending;
  const std::optional<uint64_t> first = current(engine_.gen(), queue);
  if (!first || *first >> kDwordBits != *list.running >> kDwordBits) {
    return false;
  }
  const auto next = descriptor_of(engine_.gen(), *first);
  return !next.force_restore &&
         next.logical_ring_context_address == descriptor_of(engine_.gen(), *list.running).logical_ring_context_address;
}

void ExeclistSubmission::on_empty() {
  ExeclistState& list = engine_.state().execlist;
  switch (list.phase) {
    case ContextPhase::indirect:
      list.phase = ContextPhase::engine_context;
      break;
    case ContextPhase::batch:
      start_ring();
      break;
    case ContextPhase::running:
      list.leaving = true;
      list.reason = LeaveReason::complete;
      break;
    case ContextPhase::none:
    case ContextPhase::ring_context:
    case ContextPhase::engine_context:
    case ContextPhase::restored:
      break;
  }
}

bool ExeclistSubmission::wants_switch() const {
  const EngineState& state = engine_.state();
  return state.execlist.phase == ContextPhase::running && state.execlist.pending.has_value() && state.arbitration &&
         !is_lite();
}

void ExeclistSubmission::leave() {
  ExeclistState& list = engine_.state().execlist;
  list.leaving = true;
  list.reason = list.pending ? LeaveReason::preempted : LeaveReason::complete;
}

// If there is no other work, the engine becomes idle. A context can ask to stay in the engine while it waits; a new
// queue replaces it anyway.
bool ExeclistSubmission::switches_on_wait(const UnmetWait& wait) {
  EngineState& state = engine_.state();
  ExeclistState& list = state.execlist;
  if (list.phase != ContextPhase::running || !state.arbitration || is_lite()) {
    return false;
  }
  const bool stays = wait.keeps_engine || engine_.registers().get<hw::CTXT_SR_CTL>().inhibit_synchronous_context_switch;
  if (!list.pending && stays) {
    return false;
  }
  list.leaving = true;
  list.reason = wait.reason;
  list.wait_detail = wait.detail;
  list.polls = wait.polls;
  return true;
}

}  // namespace halogen::engine
