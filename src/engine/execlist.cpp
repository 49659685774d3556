#include "engine/execlist.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/engine.h"
#include "hw/context.h"
#include "hw/execlist.h"
#include "hw/mi.h"
#include "hw/mi_display.h"
#include "hw/mi_flow.h"
#include "hw/mode.h"
#include "hw/ring.h"
#include "spec/packing.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;

constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr unsigned kDwordBits = 32;
constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kStopped = ~uint64_t{0};  // as the time from which on CTX_TIMESTAMP counts
constexpr unsigned kMostSteps = 64;          // of one look: more than any queue needs

hw::CONTEXT_DESCRIPTOR unpack(spec::GenId gen, uint64_t value) {
  const std::array<uint32_t, 2> dwords{static_cast<uint32_t>(value), static_cast<uint32_t>(value >> kDwordBits)};
  return hw::CONTEXT_DESCRIPTOR::unpack(gen, dwords);
}

// The element that is to run: the first valid one from `next` on.
std::optional<uint64_t> current(spec::GenId gen, ExecutionQueue& queue) {
  for (; queue.next < queue.count; ++queue.next) {
    if (unpack(gen, queue.descriptors[queue.next]).valid) {
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
}

bool ExeclistSubmission::enabled() const {
  return engine_.registers().get<hw::GFX_MODE>().execlist_enable;
}

// ---- what software does

uint32_t ExeclistSubmission::on_write(const RegisterWrite& write) {
  switch (write.slot.desc->id) {
    case RegisterId::ELSP:
      write_port(write.value);
      break;
    case RegisterId::EXECLIST_CONTROL: {
      const auto control = spec::unpack_register<hw::EXECLIST_CONTROL>(engine_.gen(), write.value & write.addressed);
      if (control.load) {
        load_submit_queue();
      }
      if (control.preempt_to_idle) {
        submit({});
      }
      break;
    }
    case RegisterId::CTX_TIMESTAMP:
      engine_.state().execlist.timestamp_since = engine_.now();
      break;
    default:
      break;
  }
  return write.next;
}

// Element 1 comes first, each with its upper dword first.
void ExeclistSubmission::write_port(uint32_t value) {
  ExeclistState& state = engine_.state().execlist;
  state.port[state.port_writes++] = value;
  if (state.port_writes < state.port.size()) {
    return;
  }
  state.port_writes = 0;
  ExecutionQueue queue;
  queue.count = 2;
  queue.descriptors[1] = uint64_t{state.port[0]} << kDwordBits | state.port[1];
  queue.descriptors[0] = uint64_t{state.port[2]} << kDwordBits | state.port[3];
  submit(queue);
}

void ExeclistSubmission::load_submit_queue() {
  ExecutionQueue queue;
  queue.count = ExecutionQueue::kMaxElements;
  for (unsigned element = 0; element < queue.count; ++element) {
    queue.descriptors[element] = engine_.registers().peek64(RegisterId::EXECLIST_SQ_CONTENTS, element);
  }
  submit(queue);
}

void ExeclistSubmission::submit(const ExecutionQueue& queue) {
  ExeclistState& state = engine_.state().execlist;
  if (!enabled()) {
    engine_.raise(EventKind::undefined_behaviour, "GFX_MODE", 0, queue.descriptors[0],
                  "a context was submitted while execlists are off");
    return;
  }
  if (state.pending && engine_.generation().submission() == SubmissionKind::execlist_port) {
    engine_.raise(EventKind::undefined_behaviour, "ELSP", 0, queue.descriptors[0],
                  "a third execlist: the one that waits is replaced");
  }
  state.pending = queue;
  state.pending_since = engine_.now();
  engine_.poke();
}

// ---- what the engine does

bool ExeclistSubmission::prepare() {
  for (unsigned step = 0; step < kMostSteps; ++step) {
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
        if (is_lite() && (engine_.state().arbitration || engine_.state().execlist.leaving)) {
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
  return false;  // the next slice goes on
}

// Does the running context leave?
void ExeclistSubmission::look_at_stream() {
  EngineState& state = engine_.state();
  if (!state.execlist.leaving && engine_.ring().empty()) {
    on_empty();
  } else if (!state.execlist.leaving && state.execlist.pending && state.wait.kind == WaitKind::rest) {
    leave();  // the rest of its last command never came
  }
}

bool ExeclistSubmission::take_from_idle() {
  ExeclistState& list = engine_.state().execlist;
  if (!list.pending) {
    engine_.state().activity = Activity::idle;
    return false;
  }
  list.active = *std::exchange(list.pending, std::nullopt);
  list.list ^= 1;
  const std::optional<uint64_t> to = current(engine_.gen(), list.active);
  const bool reported = status_.report({.new_queue = true, .away = std::nullopt, .to = to});
  begin(to);
  if (!reported) {
    engine_.stopped_by_fault();
    return false;
  }
  return true;
}

bool ExeclistSubmission::switch_context() {
  ExeclistState& list = engine_.state().execlist;
  const uint64_t away = *list.running;
  const GgttOffset address = unpack(engine_.gen(), away).logical_ring_context_address;
  engine_.registers().poke(RegisterId::CTX_TIMESTAMP, context_timestamp());
  list.timestamp_since = kStopped;
  if (list.reason != LeaveReason::complete) {
    engine_.stream_registers().record_preemption();
  }
  if (!context_.save(address)) {
    engine_.stopped_by_fault();
    return false;
  }
  engine_.spend(kSwitchTime);
  report_to_process(away, "context_save_finished_timestamp", ticks(engine_.now()));
  if (list.pending) {
    report_to_process(away, "preemption_request_timestamp", ticks(list.pending_since));
  }
  const bool new_queue = list.pending.has_value();
  if (new_queue) {
    list.active = *std::exchange(list.pending, std::nullopt);
    list.list ^= 1;
  } else {
    ++list.active.next;
  }
  const std::optional<uint64_t> to = current(engine_.gen(), list.active);
  const bool reported =
      status_.report({.new_queue = new_queue, .away = away, .to = to, .reason = list.reason, .polls = list.polls});
  begin(to);
  if (!reported) {
    engine_.stopped_by_fault();
    return false;
  }
  return true;
}

// A context comes into the engine, or the engine becomes idle.
void ExeclistSubmission::begin(std::optional<uint64_t> descriptor) {
  ExeclistState& list = engine_.state().execlist;
  StreamState stream = engine_.stream().state();
  stream.depth = 0;
  engine_.stream().restore(stream);
  engine_.state().wait = {};
  engine_.state().event.reset();  // a wait that is parsed again begins again
  list.leaving = false;
  list.polls = false;
  list.running = descriptor;
  list.timestamp_since = engine_.now();
  if (!descriptor) {
    list.phase = ContextPhase::none;
    auto current_id = engine_.registers().get<hw::CCID>();
    current_id.valid = false;
    engine_.registers().set(current_id);
    return;
  }
  report_to_process(*descriptor, "last_switch_timestamp", ticks(engine_.now()));
  engine_.services().begin_context();
  list.phase = ContextPhase::ring_context;
  list.image_dword = 0;
  list.indirect_done = false;
}

bool ExeclistSubmission::restore_ring_context() {
  ExeclistState& list = engine_.state().execlist;
  const GgttOffset address = unpack(engine_.gen(), *list.running).logical_ring_context_address;
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
  engine_.services().launch_context(*list.running);
  const bool inhibited = engine_.registers().get<hw::CTXT_SR_CTL>().engine_context_restore_inhibit;
  const bool whole = inhibited || result == LogicalContext::Result::ended;
  list.phase = whole ? ContextPhase::restored : ContextPhase::engine_context;
  list.image_dword = at;
  return true;
}

// Up to where the context wants commands of its own to run, and then the rest. The offset counts cache lines from the
// start of the ring context.
bool ExeclistSubmission::restore_engine_context() {
  ExeclistState& list = engine_.state().execlist;
  const GgttOffset address = unpack(engine_.gen(), *list.running).logical_ring_context_address;
  const auto indirect = engine_.registers().get<hw::INDIRECT_CTX>();
  const bool pause = indirect.size_cachelines != 0 && !list.indirect_done;
  uint32_t until = LogicalContext::kMostDwords;
  if (pause) {
    const uint32_t lines = engine_.registers().get<hw::INDIRECT_CTX_OFFSET>().offset_cachelines;
    until = std::clamp(lines * LogicalContext::kLineDwords, list.image_dword, LogicalContext::kMostDwords);
  }
  uint32_t at = list.image_dword;
  const auto result = context_.restore(address, at, until);
  if (result == LogicalContext::Result::stopped) {
    return false;
  }
  list.image_dword = result == LogicalContext::Result::ended ? LogicalContext::kMostDwords : at;
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

// Commands of the load: one level above an outermost one that is empty, so that their end is seen.
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
  report_to_process(*list.running, "context_restore_complete_timestamp", ticks(engine_.now()));
  if (!engine_.ring().enabled()) {
    engine_.raise(EventKind::undefined_behaviour, "RING_CTL", 0, *list.running, "a context whose ring is disabled");
    list.leaving = true;
    list.reason = LeaveReason::complete;
  } else if (!engine_.ring().usable()) {
    engine_.hang("a context whose head or tail lies outside its ring");
    return false;
  }
  return true;
}

bool ExeclistSubmission::lite_restore() {
  ExeclistState& list = engine_.state().execlist;
  const uint64_t running = *list.running;
  if (!context_.sample_tail(unpack(engine_.gen(), running).logical_ring_context_address)) {
    engine_.stopped_by_fault();
    return false;
  }
  list.active = *std::exchange(list.pending, std::nullopt);
  list.list ^= 1;
  const std::optional<uint64_t> to = current(engine_.gen(), list.active);
  list.running = to;
  list.leaving = false;
  engine_.spend(kCommandTime);
  if (!engine_.ring().usable()) {
    engine_.hang("the new tail lies outside the ring");
    return false;
  }
  if (!status_.report({.new_queue = true, .away = running, .to = to, .lite_restore = true})) {
    engine_.stopped_by_fault();
    return false;
  }
  return true;
}

// The pending queue starts with the context that runs, and it need not be restored.
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
  const auto next = unpack(engine_.gen(), *first);
  return !next.force_restore &&
         next.logical_ring_context_address == unpack(engine_.gen(), *list.running).logical_ring_context_address;
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

// With nothing else to run the engine becomes idle. A context may ask to be left waiting in the engine; a new queue
// takes its place all the same.
bool ExeclistSubmission::switches_on_wait(WaitKind kind) {
  EngineState& state = engine_.state();
  ExeclistState& list = state.execlist;
  if (list.phase != ContextPhase::running || !state.arbitration || is_lite() ||
      (kind != WaitKind::semaphore && kind != WaitKind::event)) {
    return false;
  }
  if (!list.pending && engine_.registers().get<hw::CTXT_SR_CTL>().inhibit_synchronous_context_switch) {
    return false;
  }
  const std::array<uint32_t, 1> header{state.header};
  list.leaving = true;
  list.reason = kind == WaitKind::semaphore ? LeaveReason::semaphore : event_reason();
  list.polls = kind == WaitKind::semaphore &&
               hw::MI_SEMAPHORE_WAIT::unpack(engine_.gen(), header).wait_mode == hw::SemaphoreWaitMode::POLLING_MODE;
  return true;
}

// The command tells what it waits for.
LeaveReason ExeclistSubmission::event_reason() const {
  const std::array<uint32_t, 1> header{engine_.state().header};
  const auto wait = hw::MI_WAIT_FOR_EVENT::unpack(engine_.gen(), header);
  if (wait.display_pipe_a_scan_line_wait_enable || wait.display_pipe_b_scan_line_wait_enable ||
      wait.display_pipe_c_scan_line_wait_enable) {
    return LeaveReason::scan_line;
  }
  if (wait.display_pipe_a_vertical_blank_wait_enable || wait.display_pipe_b_vertical_blank_wait_enable ||
      wait.display_pipe_c_vertical_blank_wait_enable) {
    return LeaveReason::vblank;
  }
  return LeaveReason::sync_flip;
}

// ---- what software sees

uint32_t ExeclistSubmission::on_read(const RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  switch (slot.desc->id) {
    case RegisterId::EXECLIST_STATUS:
      return static_cast<uint32_t>(status() >> (kDwordBits * slot.dword));
    case RegisterId::CTX_TIMESTAMP:
      return context_timestamp();
    default:
      return stored;
  }
}

uint64_t ExeclistSubmission::status() const {
  const ExeclistState& list = engine_.state().execlist;
  hw::EXECLIST_STATUS status;
  status.context_id = static_cast<uint32_t>(list.running.value_or(0) >> kDwordBits);
  const bool runs = list.running.has_value();
  if (engine_.generation().submission() == SubmissionKind::submit_queue) {
    status.idle = !runs && !list.pending;
    status.execution_queue_invalid = !runs && !list.pending;
  } else {
    const bool first = list.list == 0;
    status.execlist_0_active = runs && first;
    status.execlist_1_active = runs && !first;
    status.execlist_0_valid = first ? runs : list.pending.has_value();
    status.execlist_1_valid = first ? list.pending.has_value() : runs;
    status.execlist_queue_full = runs && list.pending;
    status.execlist_write_pointer = static_cast<uint8_t>(list.pending ? list.list : list.list ^ 1);
    status.current_execlist_pointer = list.list;
    status.arbitration_enable = engine_.state().arbitration;
    status.current_active_element =
        static_cast<hw::EXECLIST_STATUS::CurrentActiveElement>(runs ? 1 + std::min<uint8_t>(list.active.next, 1) : 0);
    status.last_context_switch_reason = static_cast<uint16_t>(list.last_switch);
  }
  uint64_t value = 0;
  static_cast<void>(spec::pack_register(status, engine_.gen(), value));
  return value;
}

// The engine's time stamp, while the context is in the engine.
uint32_t ExeclistSubmission::context_timestamp() const {
  const ExeclistState& list = engine_.state().execlist;
  const uint32_t stored = engine_.registers().peek(RegisterId::CTX_TIMESTAMP);
  if (!list.running || engine_.now() < list.timestamp_since) {
    return stored;
  }
  return stored + ticks(engine_.now()) - ticks(list.timestamp_since);
}

// TIMESTAMP at a virtual time, its lower dword.
uint32_t ExeclistSubmission::ticks(uint64_t nanoseconds) const {
  const uint64_t hz = engine_.generation().model().timestamp_hz;
  return static_cast<uint32_t>(nanoseconds / kNanosecondsPerSecond * hz +
                               nanoseconds % kNanosecondsPerSecond * hz / kNanosecondsPerSecond);
}

// The page in front of the image; where a generation has no place for the value, none is written.
void ExeclistSubmission::report_to_process(uint64_t descriptor, std::string_view field, uint32_t value) {
  const spec::Layout* const page = hw::PER_PROCESS_HARDWARE_STATUS_PAGE::kDesc.layout(engine_.gen());
  if (page == nullptr) {
    return;
  }
  const auto found = std::ranges::find(page->fields, field, &spec::FieldDesc::name);
  if (found == page->fields.end()) {
    return;
  }
  const GgttOffset base = unpack(engine_.gen(), descriptor).logical_ring_context_address;
  engine_.data_space(TableKind::global).store_value(GpuVa{base.value + found->first_bit / 8u}, value);
}

}  // namespace halogen::engine
