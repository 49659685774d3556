#include "engine/ring.h"

#include "engine/engine.h"
#include "hw/hwsp.h"
#include "hw/ring.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;

constexpr uint64_t kPage = 4096;

}  // namespace

Ring::Ring(Engine& engine) : engine_(engine) {
  for (const RegisterId id : {RegisterId::RING_TAIL, RegisterId::RING_HEAD, RegisterId::RING_START,
                              RegisterId::RING_CTL, RegisterId::UHPTR}) {
    engine.registers().attach(id, *this);
  }
}

bool Ring::enabled() const {
  return engine_.registers().get<hw::RING_CTL>().enable;
}

bool Ring::empty() const {
  const StreamLevel& level = engine_.stream().state().levels[0];
  return !engine_.in_batch() && level.address == level.end;
}

void Ring::adopt() {
  const auto start = engine_.registers().get<hw::RING_START>();
  const auto head = engine_.registers().get<hw::RING_HEAD>();
  const auto tail = engine_.registers().get<hw::RING_TAIL>();
  const auto control = engine_.registers().get<hw::RING_CTL>();
  const GpuVa base{start.starting_address.value};
  const uint64_t length = (uint64_t{control.buffer_length_pages_minus_1} + 1) * kPage;
  StreamLevel level{.space = StreamSpace::ggtt,
                    .address = base + head.head_offset % length,
                    .end = base + tail.tail_offset,
                    .wrap_to = base,
                    .wrap_at = base + length};
  if (head.head_offset >= length || tail.tail_offset >= length) {
    engine_.raise(EventKind::undefined_behaviour, "RING_HEAD", head.head_offset, tail.tail_offset,
                  "head or tail lies outside the ring");
  }
  StreamState state = engine_.stream().state();
  state.levels[0] = level;
  engine_.state().ring.first_wraps = head.wrap_count;
  engine_.stream().restore(state);
}

void Ring::report_head() {
  engine_.stream_registers().publish();
  engine_.status_page().write(4, engine_.registers().peek(RegisterId::RING_HEAD));
}

void Ring::report_head_at_borders() {}

uint32_t Ring::on_read(const RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  if (slot.desc->id == RegisterId::RING_HEAD) {
    engine_.stream_registers().publish();
    return engine_.registers().peek(RegisterId::RING_HEAD);
  }
  return stored;
}

uint32_t Ring::on_write(const RegisterWrite& write) {
  Registers& registers = engine_.registers();
  const RegisterId id = write.slot.desc->id;
  registers.poke(id, write.next);
  if (id == RegisterId::RING_START && !restoring_) {
    registers.poke(RegisterId::RING_HEAD, 0);
  } else if (id != RegisterId::RING_HEAD) {
    engine_.stream_registers().publish();  // the head register may be behind
    registers.poke(id, write.next);
  }
  if (!restoring_ && id != RegisterId::UHPTR) {
    adopt();
  }
  engine_.poke();
  return write.next;
}

bool RingSubmission::prepare() {
  if (!engine_.ring().enabled() || engine_.ring().empty()) {
    engine_.state().activity = Activity::idle;
    return false;
  }
  return true;
}

void RingSubmission::on_empty() {
  engine_.state().activity = Activity::idle;
}

bool RingSubmission::wants_switch() const {
  return false;
}

void RingSubmission::leave() {}

bool RingSubmission::switches_on_wait(WaitKind /*kind*/) {
  return false;
}

}  // namespace halogen::engine
