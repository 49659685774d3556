#include "interrupt/interrupt_unit.h"

#include <fmt/format.h>

#include "base/check.h"
#include "hw/interrupt.h"

namespace halogen::interrupt {

// --- what comes in -----------------------------------------------------------------------------------------------

uint32_t InterruptUnit::cause_bits(unsigned engine, EngineCause cause) {
  const auto number = static_cast<size_t>(cause);
  const uint32_t bits = engine < engines_.size() && number < interrupt::kCauseCount ? engines_[engine].bits[number] : 0;
  if (bits == 0 && cause != EngineCause::page_fault) {  // on Gen6 only the render engine has that cause
    note(EventKind::unsupported, {}, 0, number, fmt::format("engine {} has no interrupt for this cause", engine));
  }
  return bits;
}

void InterruptUnit::raise(unsigned engine, EngineCause cause) {
  const uint32_t bits = cause_bits(engine, cause);
  if (bits == 0) {
    return;
  }
  const interrupt::CauseKind kind = interrupt::cause_names()[static_cast<size_t>(cause)].kind;
  if (kind == interrupt::CauseKind::toggle) {
    set_level(engine, cause, (levels_[engine] & bits) == 0);
  } else if (kind_ != InterruptKind::one_bank) {
    send(engine, bits & ~levels_[engine]);
  } else if ((banks_[*engines_[engine].bank].status() & bits) == 0) {
    // The event is pending until software has acknowledged it; another event before that has no effect (G45 PRM vol. 1b
    // 5.4.7, seed 003).
    set_level(engine, cause, true);
    if (kind == interrupt::CauseKind::level) {
      set_level(engine, cause, false);
    }
  }
}

// The engine has its own status, in which an event is too short to be visible.
void InterruptUnit::send(unsigned engine, uint32_t bits) {
  const EnginePlace& place = engines_[engine];
  report_status(engine, bits, levels_[engine]);
  if (place.bank) {
    banks_[*place.bank].pulse(bits & ~place.mask.raw32());
  } else if (bits != 0 && place.message_class) {
    const hw::INTERRUPT_MESSAGE message{.vf_id = 0,
                                        .instance = model_.engines[engine].instance,
                                        .engine_class = *place.message_class,
                                        .data = static_cast<uint16_t>(bits)};
    uint32_t dword = 0;
    check(static_cast<bool>(message.pack(gen_, std::span(&dword, 1))), "a vector has 16 bits");
    collapsed_.deliver(dword);
  }
  evaluate();
}

void InterruptUnit::set_level(unsigned engine, EngineCause cause, bool holds) {
  const uint32_t bits = cause_bits(engine, cause);
  const uint32_t before = bits == 0 ? 0 : levels_[engine];
  const uint32_t after = holds ? before | bits : before & ~bits;
  if (before == after) {
    return;
  }
  const EnginePlace& place = engines_[engine];
  if (kind_ != InterruptKind::one_bank && (place.events & bits) != 0) {
    send(engine, bits & after);
    return;
  }
  levels_[engine] = after;
  if (place.bank) {
    if (kind_ != InterruptKind::one_bank) {
      report_status(engine, bits, after);
    }
    update_engines(*place.bank);
    evaluate();
  } else if (holds) {
    send(engine, bits);
  } else {
    report_status(engine, bits, after);
  }
}

void InterruptUnit::report_status(unsigned engine, uint32_t changed, uint32_t status) {
  const EnginePlace& place = engines_[engine];
  if (!place.status_mask.exists()) {
    return;
  }
  if ((changed & ~place.unreported & ~place.status_mask.raw32()) != 0) {
    listener_.on_status_report(engine, status);
  }
}

void InterruptUnit::set_bank_status(size_t bank, uint32_t bits, uint32_t value) {
  const uint32_t before = banks_[bank].status();
  if (!banks_[bank].set_status(bits, value) || kind_ != InterruptKind::one_bank) {
    return;
  }
  const uint32_t after = banks_[bank].status();
  for (unsigned engine = 0; engine < engines_.size(); ++engine) {
    report_status(engine, before ^ after, after);
  }
}

void InterruptUnit::update_engines(size_t bank) {
  uint32_t bits = 0;
  uint32_t value = 0;
  for (size_t i = 0; i < engines_.size(); ++i) {
    if (engines_[i].bank == bank) {
      bits |= engines_[i].all;
      value |= engines_[i].mask.exists() ? levels_[i] & ~engines_[i].mask.raw32() : levels_[i];
    }
  }
  set_bank_status(bank, bits, value);
}

bool InterruptUnit::display(DisplayCause cause, unsigned pipe, unsigned plane, bool holds) {
  const auto number = static_cast<size_t>(cause);
  if (number >= interrupt::kDisplayCauseCount || pipe >= interrupt::kPipes || plane >= interrupt::kPlanes ||
      display_[number][pipe][plane].bits == 0) {
    return false;
  }
  const InterruptSource& source = display_[number][pipe][plane];
  if (!interrupt::is_flip(cause) || kind_ == InterruptKind::one_bank) {
    set_source(source, holds);
  } else if (!holds) {
    pulse_source(source);  // flip done
  }
  return true;
}

bool InterruptUnit::display_event(DisplayCause cause, unsigned pipe, unsigned plane) {
  return display(cause, pipe, plane, true) && display(cause, pipe, plane, false);
}

bool InterruptUnit::pipe_event(unsigned pipe, bool holds) {
  if (pipe >= interrupt::kPipes) {
    return false;
  }
  for (const std::string_view bank : interrupt::kSharedDisplayBanks) {
    if (const auto found = source(bank, fmt::format("pipe_{}_event", static_cast<char>('a' + pipe)))) {
      set_source(*found, holds);
      return true;
    }
  }
  return false;
}

void InterruptUnit::set_source(const InterruptSource& source, bool holds) {
  set_bank_status(source.bank, source.bits, holds ? source.bits : 0);
  evaluate();
}

void InterruptUnit::pulse_source(const InterruptSource& source) {
  banks_[source.bank].pulse(source.bits);
  evaluate();
}

void InterruptUnit::deliver(uint32_t message) {
  if (collapsed_.exists()) {
    collapsed_.deliver(message);
    evaluate();
  }
}

void InterruptUnit::set_fault_repair(unsigned engine, bool on) {
  if (engine < engines_.size() && engines_[engine].message_class) {
    collapsed_.set_fault_repair(*engines_[engine].message_class, model_.engines[engine].instance, on);
    evaluate();
  }
}

void InterruptUnit::route_to_scheduler(spec::EngineClass engine_class, uint16_t events) {
  if (const std::optional<hw::InterruptClass> number = interrupt::interrupt_class(engine_class)) {
    collapsed_.set_scheduler_enables(*number, events);
  }
}

uint32_t InterruptUnit::scheduler_vector(unsigned vector) const {
  return vector < interrupt::kDwords ? collapsed_.state().scheduler_vectors[vector] : 0;
}

uint16_t InterruptUnit::take_scheduler_events(unsigned vector, unsigned bit) {
  return collapsed_.take_scheduler_events(vector, bit);
}

// --- state -------------------------------------------------------------------------------------------------------

void InterruptUnit::reset() {
  levels_.assign(levels_.size(), 0);
  for (interrupt::Bank& bank : banks_) {
    bank.set_second(0);
  }
  collapsed_.reset();
  evaluate();
}

void InterruptUnit::reset_engine(unsigned engine) {
  if (engine < levels_.size()) {
    levels_[engine] = 0;
  }
  refresh();
}

void InterruptUnit::refresh() {
  for (size_t i = 0; i < banks_.size(); ++i) {
    banks_[i].set_second(banks_[i].second() & banks_[i].identity());
    update_engines(i);
  }
  collapsed_.refresh();
  evaluate();
}

InterruptState InterruptUnit::snapshot() const {
  InterruptState state{{}, levels_, collapsed_.state(), asserted_};
  for (const interrupt::Bank& bank : banks_) {
    state.second_events.push_back(bank.second());
  }
  return state;
}

void InterruptUnit::restore(const InterruptState& state) {
  check(state.second_events.size() == banks_.size() && state.levels.size() == levels_.size() &&
            state.collapsed.latched.size() == collapsed_.state().latched.size(),
        "snapshot of another device model");
  for (size_t i = 0; i < banks_.size(); ++i) {
    banks_[i].set_second(state.second_events[i]);
  }
  levels_ = state.levels;
  collapsed_.state() = state.collapsed;
  asserted_ = state.asserted;
}

void InterruptUnit::note(EventKind kind, std::string_view item, uint64_t offset, uint64_t value, std::string detail) {
  events_.on_event({kind, item, path_, offset, value, std::move(detail)});
}

}  // namespace halogen::interrupt
