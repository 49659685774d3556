#include "oa/unit.h"

#include <algorithm>
#include <utility>

#include "base/ticks.h"
#include "gen/clock_rules.h"
#include "hw/tlb.h"
#include "oa/sampler.h"
#include "oa/work_share.h"

namespace halogen::oa {

namespace {

constexpr size_t kMaxSaved = 1024;  // contexts with counters; a guest can make any number of them

std::string_view render_of(const spec::DeviceModel& model) {
  for (const spec::EngineModel& engine : model.engines) {
    if (engine.engine_class == spec::EngineClass::render) {
      return engine.name;
    }
  }
  return {};
}

}  // namespace

Unit::Unit(const spec::DeviceModel& model, mmio::MmioSpace& mmio, Environment& environment, EventSink& events,
           std::string path)
    : model_(model),
      rules_(observation_rules(model.gen)),
      clock_hz_(clock_rules(model.id).render_hz()),
      eus_(EuArray::of(model.topology)),
      bank_(mmio.bank()),
      environment_(environment),
      events_(events),
      path_(std::move(path)),
      render_(render_of(model)),
      registers_(mmio, render_),
      hooks_(mmio.bank().map().slot_count()) {
  if (rules_.exists) {
    attach_all();
  }
}

void Unit::attach_all() {
  for (const std::string_view name : {"OACTXCONTROL",
                                      "OACTXID",
                                      "OACONTROL",
                                      "OADEBUG",
                                      "OATAILPTR",
                                      "OABUFFER",
                                      "OABUFFER_UDW",
                                      "OAG_OAGLBCTXCTRL",
                                      "OAG_OACONTROL",
                                      "OAG_OADEBUG",
                                      "OAG_OATAILPTR",
                                      "OAG_OABUFFER",
                                      "OAR_OACONTROL",
                                      "OASTARTTRIG1",
                                      "OASTARTTRIG2",
                                      "OASTARTTRIG3",
                                      "OASTARTTRIG4",
                                      "OAREPORTTRIG1",
                                      "OAREPORTTRIG2",
                                      "OAREPORTTRIG3",
                                      "OAREPORTTRIG4",
                                      "CEC_0",
                                      "CEC_1",
                                      "OAG_SCEC",
                                      "OAG_SPCTR_CNF",
                                      "EU_PERF_CNT_CTL0",
                                      "EU_PERF_CNT_CTL1",
                                      "EU_PERF_CNT_CTL2",
                                      "EU_PERF_CNT_CTL3",
                                      "EU_PERF_CNT_CTL4",
                                      "EU_PERF_CNT_CTL5",
                                      "EU_PERF_CNT_CTL6"}) {
    attach(name, Role::setting);
  }
  attach("OAHEADPTR", Role::head);
  attach("OAG_OAHEADPTR", Role::setting);  // OAG_OASTATUS has no wrap bits
  attach("OASTATUS", Role::status);
  attach("OAG_OASTATUS", Role::status);
  attach("OAPERF_A", Role::counter_a, true);
  attach("OAPERF_A32", Role::counter_a32, true);
  attach("OAPERF_TICKS", Role::ticks);
  attach("OAPERF_B", Role::counter_b, true);
  attach("OAPERF_C", Role::counter_c, true);
  attach("OAG_PERF_A", Role::counter_a);
  attach("OAG_PERF_A32", Role::counter_a32);
  attach("OAG_PERF_TICKS", Role::ticks);
  attach("OAG_PERF_B", Role::counter_b);
  attach("OAG_PERF_C", Role::counter_c);
  attach("NOA_DATA", Role::select);
  attach("NOA_WRITE", Role::word);
  attach("GDT_CHICKEN_BITS", Role::network_enable);
  attach("RPM_CONFIG1", Role::network_enable);
  attach("OA_TLB_INV_CR", Role::invalidate);
  if (rules_.frequency_reports) {
    attach("RPNSWREQ", Role::frequency);
  }
}

void Unit::attach(std::string_view name, Role role, bool context) {
  for (const mmio::RegisterSlot& slot : bank_.map().slots_of(name)) {
    hooks_[bank_.map().number_of(slot)] = {role, context};
  }
  bank_.attach(name, *this);
}

uint64_t Unit::clock_at(uint64_t ns) const {
  return ticks_after(ns, clock_hz_);
}

void Unit::raise(EventKind kind, std::string_view item, uint64_t address, uint64_t value, std::string detail) {
  events_.on_event({kind, item, path_, address, value, std::move(detail)});
}

// --- registers ---------------------------------------------------------------------------------------------------

uint32_t Unit::on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) {
  const Hook& hook = hooks_[bank_.map().number_of(slot)];
  switch (hook.role) {
    case Role::counter_a:
    case Role::counter_a32:
    case Role::counter_b:
    case Role::counter_c:
    case Role::ticks:
      advance_global(environment_.time_ns());
      advance_context(environment_.time_ns());
      looked_at_ = true;
      note_network();
      return static_cast<uint32_t>(counter_value(hook, slot) >> (32 * slot.dword));
    case Role::setting:
    case Role::status:
      advance_global(environment_.time_ns());
      return bank_.peek(slot, copy);  // the unit moves the tail and sets status bits
    case Role::none:
    case Role::head:
    case Role::select:
    case Role::word:
    case Role::network_enable:
    case Role::invalidate:
    case Role::frequency:
      break;
  }
  return stored;
}

uint64_t Unit::counter_value(const Hook& hook, const mmio::RegisterSlot& slot) {
  const Counters& counters = domain(hook.context).state().counters;
  switch (hook.role) {
    case Role::counter_a:
      return counters.shown_a(slot.index);
    case Role::counter_a32:
      return counters.shown_a(kWideCounters + slot.index);
    case Role::counter_b:
      return counters.b[slot.index];
    case Role::counter_c:
      return counters.c[slot.index];
    default:
      return clock_at(environment_.time_ns());
  }
}

uint32_t Unit::on_write(const mmio::RegisterWrite& write) {
  const Hook& hook = hooks_[bank_.map().number_of(write.slot)];
  advance_global(environment_.time_ns());
  advance_context(environment_.time_ns());
  stale_ = true;
  switch (hook.role) {
    case Role::counter_a:
    case Role::counter_a32:
    case Role::counter_b:
    case Role::counter_c:
      write_counter(hook, write);
      break;
    case Role::head:
      if (write.next < write.old_value) {
        registers_.note_head_wrap();
      }
      break;
    case Role::select:
      add_write(state_.network, {NetworkWrite::Port::select, write.next});
      break;
    case Role::word:
      add_write(state_.network, {NetworkWrite::Port::word, write.next});
      break;
    case Role::network_enable:
      end_list(state_.network);
      break;
    case Role::invalidate:
      environment_.report_space(memory::TableKind::global).invalidate();
      break;
    case Role::frequency:
      configure();
      if (state_.enabled && settings_.frequency_reports) {
        write_buffer_report({.frequency = true});
      }
      break;
    case Role::none:
    case Role::setting:
    case Role::status:
    case Role::ticks:
      break;
  }
  return write.next;
}

void Unit::write_counter(const Hook& hook, const mmio::RegisterWrite& write) {
  Counters& counters = domain(hook.context).counters();
  const size_t index = write.slot.index;
  switch (hook.role) {
    case Role::counter_a: {
      const unsigned shift = 32u * write.slot.dword;
      const uint64_t kept = counters.shown_a(index) & ~(low_mask(32) << shift);
      counters.a[index] = (kept | uint64_t{write.next} << shift) & low_mask(kWideBits);
      break;
    }
    case Role::counter_a32:
      counters.a[kWideCounters + index] = write.next;
      break;
    case Role::counter_b:
      counters.b[index] = write.next;
      break;
    default:
      counters.c[index] = write.next;
      break;
  }
}

// --- work and contexts -------------------------------------------------------------------------------------------

void Unit::set_sampler(Sampler* sampler) {
  sampler_ = rules_.exists ? sampler : nullptr;
  if (sampler_ != nullptr) {
    sampler_->begin(clock_hz_, eus_, environment_.time_ns(), state_.running);
  }
}

CountsWanted Unit::counts_wanted() {
  configure();
  CountsWanted wanted;
  if (global_.config().counts || context_.config().counts) {
    wanted = {.work = true, .activity = std::ranges::any_of(flexible_, &FlexibleEvent::counts)};
  }
  if (sampler_ != nullptr) {
    wanted.work |= sampler_->wanted().work;
    wanted.activity |= sampler_->wanted().activity;
  }
  return wanted;
}

void Unit::add_work(const WorkSpan& span, bool render) {
  if (sampler_ != nullptr) {
    sampler_->add_work(span);
  }
  configure();
  if (!active() || span.end_ns < span.begin_ns) {
    return;
  }
  const Share share = share_of(span, {clock_at(span.begin_ns), clock_at(span.end_ns)}, flexible_, eus_, state_.rests);
  global_.add_work(share);
  if (render && rules_.split) {
    advance_context(span.begin_ns);
    context_.add_work(share);
  }
}

void Unit::add_time(const TimeSpan& span, bool render) {
  if (!rules_.exists) {
    return;
  }
  configure();
  const bool busy = rules_.busy_counts_all || (render && span.use == EngineTime::works);
  if (sampler_ != nullptr && busy) {
    sampler_->add_busy(span.begin_ns, span.end_ns);
  }
  if (!active() || span.end_ns <= span.begin_ns) {
    return;
  }
  const ClockRange range{clock_at(span.begin_ns), clock_at(span.end_ns)};
  if (busy) {
    global_.add_busy(range);
  }
  if (render && rules_.split) {
    context_.add_busy(range);
  }
}

void Unit::leave_context(uint64_t time_ns) {
  advance_context(time_ns);
  state_.left = true;
  stale_ = true;
}

void Unit::load_context(uint64_t time_ns, uint64_t descriptor) {
  if (!rules_.exists) {
    return;
  }
  const ContextTag before = std::exchange(state_.running, {.valid = true, .descriptor = descriptor});
  const bool stays = before.valid && before.image() == state_.running.image();  // only its page tables are loaded again
  note_change({time_ns, state_.running, !stays});
  if (rules_.split) {
    advance_context(time_ns);
    if (before.image() != state_.running.image()) {
      keep_counters(before.image());
    }
  }
  state_.left = false;
  stale_ = true;  // the context has its own enables
}

// Exchanges the counters of the render engine's unit with those of the context that runs now.
void Unit::keep_counters(uint32_t image) {
  const auto saved_of = [this](uint32_t context_image) {
    return std::ranges::find(state_.saved, context_image, &SavedCounters::image);
  };
  if (context_.state().counters != Counters{}) {
    if (state_.saved.size() >= kMaxSaved) {
      raise(EventKind::unsupported, "OAR_OACONTROL", state_.saved.front().image, kMaxSaved,
            "more contexts with counters than the model keeps: the oldest counters are dropped");
      state_.saved.erase(state_.saved.begin());
    }
    state_.saved.push_back({image, context_.state().counters});
  }
  context_.counters() = {};
  if (const auto known = saved_of(state_.running.image()); known != state_.saved.end()) {
    context_.counters() = known->counters;
    state_.saved.erase(known);
  }
}

void Unit::rename_context(uint64_t time_ns, uint64_t descriptor) {
  if (rules_.exists && state_.running.valid) {
    state_.running.descriptor = descriptor;
    note_change({time_ns, state_.running, false});
  }
}

void Unit::unload_context(uint64_t time_ns) {
  if (!rules_.exists) {
    return;
  }
  leave_context(time_ns);
  state_.running.valid = false;  // the values stay in the unit until another context is loaded
  note_change({time_ns, state_.running, false});
}

void Unit::note_change(const ContextChange& change) {
  state_.changes.push_back(change);
  if (sampler_ != nullptr) {
    sampler_->change_context(change.time_ns, change.to);
  }
}

// --- state -------------------------------------------------------------------------------------------------------

void Unit::reset() {
  if (!rules_.exists) {
    return;
  }
  const uint64_t now = environment_.time_ns();
  state_ = {.now_ns = now, .context_now_ns = now};
  global_.restore({.clock = clock_at(now)});
  context_.restore({.clock = clock_at(now)});
  forget_settings();
  if (sampler_ != nullptr) {
    sampler_->change_context(now, {});
  }
}

// Forgets all settings, because the registers have changed as a whole. The next configure() reads all of them.
void Unit::forget_settings() {
  settings_ = {};
  flexible_ = {};
  global_.configure({});
  context_.configure({});
  stale_ = true;
}

void Unit::reset_context() {
  if (!rules_.exists) {
    return;
  }
  state_.running = {};
  state_.left = false;
  note_change({environment_.time_ns(), {}, false});
  if (rules_.split) {
    context_.restore({.clock = clock_at(environment_.time_ns())});
  }
  stale_ = true;
}

void Unit::report(FidelityReport& report) const {
  if (looked_at_) {
    report.touch(FidelityKind::reg, rules_.split ? "OAG_PERF_A" : "OAPERF_A", FidelityClass::approximate,
                 "misses of caches and hierarchical tests count zero; EU events are the model's own", /*count=*/0);
  }
}

UnitState Unit::state() const {
  UnitState state = state_;
  state.global = global_.state();
  state.context = context_.state();
  return state;
}

void Unit::restore(const UnitState& state) {
  state_ = state;
  global_.restore(state.global);
  context_.restore(state.context);
  forget_settings();
  set_sampler(sampler_);  // time may have moved back
}

}  // namespace halogen::oa
