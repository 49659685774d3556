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

// Returns the interval of automatic head reports in bytes. 0: disabled.
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
                  "head or tail outside the ring");
  }
  engine_.state().levels[0] = {};
  engine_.state().ring.first_wraps = head.wrap_count;
  engine_.stream().restore(state);
  engine_.state().ring.reported = borders_passed();
}

void Ring::check_end_of_ring(GpuVa address, size_t bytes) const {
  if (address + bytes > engine_.stream().state().levels[0].wrap_at) {
    engine_.raise(EventKind::undefined_behaviour, "RING_HEAD", address.value, bytes,
                  "command crosses the end of the ring");
  }
}

// G45 PRM vol. 1b 5.3.4.5 (seed 003): if head and tail share a cache line, the head must not be after the tail, or the
// ring would look almost empty.
void Ring::check_tail() const {
  const uint64_t head = engine_.registers().get<hw::RING_HEAD>().head_offset;
  const uint64_t tail = engine_.registers().get<hw::RING_TAIL>().tail_offset;
  if (head / kCacheLine == tail / kCacheLine && head / kQword > tail / kQword) {
    engine_.raise(EventKind::undefined_behaviour, "RING_TAIL", head, tail,
                  "head after the tail in the same cache line");
  }
}

// Sets the head to the value of UHPTR, including the wrap count. The head may move backwards.
bool Ring::take_updated_head() {
  mmio::Registers& registers = engine_.registers();
  auto updated = registers.get<hw::UHPTR>();
  // With run lists an arbitration point loads the next context instead.
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

// Returns the number of report intervals between the start of the ring and the head, including all wraps. A change
// means that a border was passed.
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

// RING_TAIL is a mutex: the reader that finds `in_use` clear owns it until the tail is written.
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

// Adds the wait bits to RING_CTL. If the register has one bit for both kinds of wait, that bit shows both.
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

// Ends a wait if software writes 1 to its bit. The waiting command is parsed once more and then counts as done.
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

// Disabling a ring that is not empty is UNDEFINED. The model drops the running commands: a ring that is enabled again
// starts at its head.
void Ring::disabled() {
  if (engine_.in_batch() || !empty()) {
    engine_.raise(EventKind::undefined_behaviour, "RING_CTL", engine_.stream().level().address.value, 0,
                  "ring disabled while it is not empty");
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
    engine_.stream_registers().publish();  // the head register may be out of date
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
  engine_.wake();
  return next;
}

RingSubmission::RingSubmission(Engine& engine) : engine_(engine) {
  if (engine.generation().has(spec::Feature::run_lists)) {
    engine.registers().use({RegisterId::RCCID, RegisterId::RNCID, RegisterId::CXT_SIZE, RegisterId::PROBE_SLOT_VALID});
  }
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
  if (!engine_.in_batch() && !ring.usable()) {  // no valid commands until software corrects the registers
    engine_.wait(WaitKind::rest);
    return false;
  }
  return true;
}

void RingSubmission::on_empty() {}  // prepare() sees that the ring is empty

// Returns whether run lists are enabled, arbitration allows a switch, and RNCID holds the next context.
bool RingSubmission::wants_switch() const {
  return engine_.per_process_space() && engine_.state().arbitration && engine_.registers().get<hw::RNCID>().valid;
}

void RingSubmission::leave() {
  engine_.state().ring.leaving = false;
  switch_run_list_context(engine_);
}

// Returns whether the next context is loaded instead of the wait. A wait for an event inside a batch suspends
// arbitration: G45 PRM vol. 1b 1.21 (seed 003).
bool RingSubmission::switches_on_wait(const UnmetWait& wait) {
  engine_.state().ring.leaving = wants_switch() && !(wait.kind == WaitKind::event && engine_.in_batch());
  return engine_.state().ring.leaving;
}

}  // namespace halogen::engine
