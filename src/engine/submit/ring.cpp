#include "engine/submit/ring.h"

#include <array>

#include "engine/context/legacy_context.h"
#include "engine/engine.h"
#include "hw/context.h"
#include "hw/mode.h"
#include "hw/ring.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kKilobyte = 1024;
constexpr uint64_t kQword = 8;
constexpr uint64_t kCacheLine = 64;

uint64_t length_of(const hw::RING_CTL& control) {
  return (uint64_t{control.buffer_length_pages_minus_1} + 1) * kPage;
}

// How often the head is reported by itself; 0: never.
uint64_t border_of(hw::AutoReportHead report) {
  switch (report) {
    case hw::AutoReportHead::OFF:
      return 0;
    case hw::AutoReportHead::EVERY_64KB:
      return 64 * kKilobyte;
    case hw::AutoReportHead::EVERY_4KB:
      return 4 * kKilobyte;
    case hw::AutoReportHead::EVERY_128KB:
      return 128 * kKilobyte;
  }
  return 0;
}

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
  return !engine_.in_batch() && level.address.value / kQword == level.end.value / kQword;
}

bool Ring::usable() const {
  const uint64_t length = length_of(engine_.registers().get<hw::RING_CTL>());
  return engine_.registers().get<hw::RING_TAIL>().tail_offset < length &&
         engine_.registers().get<hw::RING_HEAD>().head_offset < length;
}

void Ring::adopt() {
  const auto head = engine_.registers().get<hw::RING_HEAD>();
  const auto tail = engine_.registers().get<hw::RING_TAIL>();
  const uint64_t length = length_of(engine_.registers().get<hw::RING_CTL>());
  const GpuVa base{engine_.registers().get<hw::RING_START>().starting_address.value};
  StreamState state = engine_.stream().state();
  state.levels[0] = {.space = StreamSpace::ggtt,
                     .address = base + head.head_offset,
                     .end = base + tail.tail_offset,
                     .wrap_to = base,
                     .wrap_at = base + length};
  if (!usable()) {
    engine_.raise(EventKind::undefined_behaviour, "RING_HEAD", head.head_offset, tail.tail_offset,
                  "head or tail lies outside the ring");
  }
  engine_.state().levels[0] = {};
  engine_.state().ring.first_wraps = head.wrap_count;
  engine_.stream().restore(state);
  engine_.state().ring.reported = borders_passed();
}

void Ring::check_place(GpuVa address, size_t bytes) const {
  if (address + bytes > engine_.stream().state().levels[0].wrap_at) {
    engine_.raise(EventKind::undefined_behaviour, "RING_HEAD", address.value, bytes,
                  "a command lies across the end of the ring");
  }
}

// Seed 003 5.3.4.5: in one cache line the head may not be behind the tail, or the ring would look almost empty.
void Ring::check_tail() const {
  const uint64_t head = engine_.registers().get<hw::RING_HEAD>().head_offset;
  const uint64_t tail = engine_.registers().get<hw::RING_TAIL>().tail_offset;
  if (head / kCacheLine == tail / kCacheLine && head / kQword > tail / kQword) {
    engine_.raise(EventKind::undefined_behaviour, "RING_TAIL", head, tail, "head and tail share a cache line");
  }
}

// The head goes wherever the register says, also backwards, with the register's wrap count.
bool Ring::take_updated_head() {
  mmio::Registers& registers = engine_.registers();
  auto updated = registers.get<hw::UHPTR>();
  // Run lists look at the next context instead.
  if (!updated.valid || !engine_.state().arbitration || engine_.per_process_space()) {
    return false;
  }
  updated.valid = false;
  registers.set(updated);
  engine_.stream_registers().publish();
  const auto current = registers.get<hw::RING_HEAD>();
  const auto next = engine_.registers().from_raw<hw::RING_HEAD>(static_cast<uint32_t>(updated.head_pointer));
  if (next.head_offset == current.head_offset && next.wrap_count == current.wrap_count) {
    return false;
  }
  registers.set(next);
  adopt();
  return true;
}

// Whole borders between the start of the ring and the head, with all wraps: a change means that one was passed.
uint64_t Ring::borders_passed() const {
  const auto control = engine_.registers().get<hw::RING_CTL>();
  const uint64_t border = border_of(control.automatic_report_head);
  if (border == 0) {
    return 0;
  }
  const StreamLevel& level = engine_.stream().state().levels[0];
  const uint64_t each = (length_of(control) + border - 1) / border;
  return level.wraps * each + (level.address - level.wrap_to) / border;
}

memory::AccessResult Ring::report_head(uint64_t ahead) {
  const uint32_t head = engine_.stream_registers().ring_head(ahead);
  return engine_.status_page().reports_to_process() ? engine_.status_page().write_process(StatusPage::kRingHead, head)
                                                    : engine_.status_page().write(StatusPage::kRingHead, head);
}

void Ring::report_head_at_borders() {
  const auto control = engine_.registers().get<hw::RING_CTL>();
  if (!control.enable || control.automatic_report_head == hw::AutoReportHead::OFF) {
    return;
  }
  const uint64_t passed = borders_passed();
  if (passed != engine_.state().ring.reported) {
    engine_.state().ring.reported = passed;
    static_cast<void>(report_head(0));
  }
}

uint32_t Ring::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  switch (slot.desc->id) {
    case RegisterId::RING_HEAD:
      engine_.stream_registers().publish_head();
      return engine_.registers().peek(RegisterId::RING_HEAD);
    case RegisterId::RING_TAIL:
      return read_tail(stored);
    case RegisterId::RING_CTL:
      return read_control(stored);
    default:
      return stored;
  }
}

// The semaphore of the ring: the reader that finds it clear owns it until the tail is written.
uint32_t Ring::read_tail(uint32_t stored) {
  mmio::Registers& registers = engine_.registers();
  if (registers.get<hw::INSTPM>().ring_buffer_mutex_enable) {
    auto tail = registers.get<hw::RING_TAIL>();
    tail.in_use = true;
    registers.set(tail);
    return stored;
  }
  auto tail = registers.get<hw::RING_TAIL>();
  tail.in_use = false;
  return engine_.registers().raw(tail);
}

// Where the register has one bit for both kinds of wait, it shows both.
uint32_t Ring::read_control(uint32_t stored) const {
  const EngineState& state = engine_.state();
  if (!state.wait.holds_stream()) {
    return stored;
  }
  auto control = engine_.registers().from_raw<hw::RING_CTL>(stored);
  control.rb_wait = state.wait.kind == WaitKind::event;
  control.semaphore_wait = state.wait.kind == WaitKind::semaphore;
  std::array<uint32_t, 1> value{};
  if (!control.pack(engine_.gen(), value)) {
    control.rb_wait = true;
    control.semaphore_wait = false;
    return engine_.registers().raw(control);
  }
  return value[0];
}

// A one written to the bit of a wait ends it. The command that waits is parsed once more and then counts as done.
void Ring::cancel_wait(uint32_t written) {
  if (!engine_.state().wait.holds_stream()) {
    return;
  }
  const auto asked = engine_.registers().from_raw<hw::RING_CTL>(written);
  const auto shown = engine_.registers().from_raw<hw::RING_CTL>(read_control(0));
  if ((asked.rb_wait && shown.rb_wait) || (asked.semaphore_wait && shown.semaphore_wait)) {
    engine_.state().ring.cancel_wait = true;
  }
}

// UNDEFINED unless the ring is empty. Here what ran is forgotten: a ring that is enabled again starts at its head.
void Ring::disabled() {
  if (engine_.in_batch() || !empty()) {
    engine_.raise(EventKind::undefined_behaviour, "RING_CTL", engine_.stream().level().address.value, 0,
                  "a ring that is not empty was disabled");
  }
  StreamState stream = engine_.stream().state();
  stream.depth = 0;
  engine_.stream().restore(stream);
}

uint32_t Ring::on_write(const mmio::RegisterWrite& write) {
  mmio::Registers& registers = engine_.registers();
  const RegisterId id = write.slot.desc->id;
  if (restoring_) {
    return write.next;
  }
  registers.poke(id, write.old_value);  // put the old value back: enabled() and publish() read the register
  const bool was_enabled = enabled();
  if (was_enabled) {
    engine_.stream_registers().publish();  // the head register may be behind
  }
  uint32_t next = write.next;
  if (id == RegisterId::RING_TAIL) {
    auto tail = engine_.registers().from_raw<hw::RING_TAIL>(next);
    tail.in_use = false;
    next = registers.raw(tail);
  } else if (id == RegisterId::RING_CTL) {
    cancel_wait(write.value & write.addressed);
    if (was_enabled && !engine_.registers().from_raw<hw::RING_CTL>(next).enable) {
      disabled();
    }
  } else if (id == RegisterId::RING_START) {
    registers.poke(RegisterId::RING_HEAD, 0);
  }
  registers.poke(id, next);
  if (id != RegisterId::UHPTR && enabled()) {
    if (id == RegisterId::RING_TAIL) {
      check_tail();
    }
    adopt();
  }
  engine_.poke();
  return next;
}

bool RingSubmission::prepare() {
  Ring& ring = engine_.ring();
  const bool between =
      ring.empty() || (engine_.in_batch() && engine_.state().wait.kind != WaitKind::event &&
                       engine_.level().arbitration == Arbitration::between_commands && !engine_.in_command());
  if (engine_.state().ring.leaving || (ring.enabled() && between && wants_switch())) {
    leave();
  }
  if (!ring.enabled() || (ring.empty() && !ring.take_updated_head()) || ring.empty()) {
    engine_.state().activity = Activity::idle;
    return false;
  }
  if (!engine_.in_batch() && !ring.usable()) {  // nothing sensible to parse until software corrects it
    engine_.wait(WaitKind::rest);
    return false;
  }
  return true;
}

void RingSubmission::on_empty() {}  // the next look finds out

// Run lists: the next context waits in RNCID.
bool RingSubmission::wants_switch() const {
  return engine_.per_process_space() && engine_.state().arbitration && engine_.registers().get<hw::RNCID>().valid;
}

void RingSubmission::leave() {
  engine_.state().ring.leaving = false;
  switch_run_list_context(engine_);
}

// A wait for an event inside a batch suspends arbitration (seed 003 1.21).
bool RingSubmission::switches_on_wait(const VainWait& wait) {
  engine_.state().ring.leaving = wants_switch() && !(wait.kind == WaitKind::event && engine_.in_batch());
  return engine_.state().ring.leaving;
}

}  // namespace halogen::engine
