// The registers of an execlist port: submissions in, status and timestamps out.
#include <algorithm>
#include <array>

#include "engine/engine.h"
#include "engine/submit/execlist.h"
#include "hw/execlist.h"
#include "hw/mi.h"
#include "spec/first_bit.h"
#include "spec/packing.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;

constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr unsigned kDwordBits = 32;

}  // namespace

uint32_t ExeclistSubmission::on_write(const mmio::RegisterWrite& write) {
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

// Element 1 is written first. The upper dword of each element precedes its lower dword.
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
                  "context submitted while execlists are disabled");
    return;
  }
  if (state.pending && engine_.generation().submission() == SubmissionKind::execlist_port) {
    engine_.raise(EventKind::undefined_behaviour, "ELSP", 0, queue.descriptors[0],
                  "execlist submitted while two are pending; the waiting one is replaced");
  }
  state.pending = queue;
  state.pending_since = engine_.now();
  engine_.wake();
}

uint32_t ExeclistSubmission::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
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
    const bool first = list.current_list == 0;
    status.execlist_0_active = runs && first;
    status.execlist_1_active = runs && !first;
    status.execlist_0_valid = first ? runs : list.pending.has_value();
    status.execlist_1_valid = first ? list.pending.has_value() : runs;
    status.execlist_queue_full = runs && list.pending;
    status.execlist_write_pointer = static_cast<uint8_t>(list.pending ? list.current_list : list.current_list ^ 1);
    status.current_execlist_pointer = list.current_list;
    status.arbitration_enable = engine_.state().arbitration;
    status.current_active_element =
        static_cast<hw::EXECLIST_STATUS::CurrentActiveElement>(runs ? 1 + std::min<uint8_t>(list.active.next, 1) : 0);
    status.last_context_switch_reason = static_cast<uint16_t>(list.last_switch);
  }
  uint64_t value = 0;
  static_cast<void>(spec::pack_register(status, engine_.gen(), value));
  return value;
}

// Returns CTX_TIMESTAMP, which counts while the context is in the engine.
uint32_t ExeclistSubmission::context_timestamp() const {
  const ExeclistState& list = engine_.state().execlist;
  const uint32_t stored = engine_.registers().peek(RegisterId::CTX_TIMESTAMP);
  if (!list.running || engine_.now() < list.timestamp_since) {
    return stored;
  }
  return stored + ticks(engine_.now()) - ticks(list.timestamp_since);
}

// Returns the lower dword of TIMESTAMP at a virtual time.
uint32_t ExeclistSubmission::ticks(uint64_t nanoseconds) const {
  const uint64_t hz = engine_.generation().model().timestamp_hz;
  return static_cast<uint32_t>(nanoseconds / kNanosecondsPerSecond * hz +
                               nanoseconds % kNanosecondsPerSecond * hz / kNanosecondsPerSecond);
}

// Writes a value to the page in front of the image, if the generation has a field for it.
void ExeclistSubmission::report_to_process(uint64_t descriptor, ProcessReport field, uint32_t value) {
  const std::optional<unsigned> first_bit = spec::first_bit_of(engine_.gen(), field);
  if (!first_bit) {
    return;
  }
  const GgttOffset base = descriptor_of(engine_.gen(), descriptor).logical_ring_context_address;
  const GpuVa at{base.value + *first_bit / 8};
  // If the page is not mapped, the report is lost and the submission continues.
  static_cast<void>(engine_.data_space(memory::TableKind::global).store_value(at, value));
}

}  // namespace halogen::engine
