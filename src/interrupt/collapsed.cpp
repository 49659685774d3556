#include "interrupt/collapsed.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "hw/interrupt.h"
#include "hw/interrupt_gen11.h"
#include "spec/field_visitor.h"
#include "spec/packing.h"

namespace halogen::interrupt {

namespace {

constexpr unsigned kPhysicalFunction = 0;

uint8_t shift_of(uint32_t bits) {
  return static_cast<uint8_t>(std::countr_zero(bits));
}

}  // namespace

Collapsed::Collapsed(mmio::RegisterBank& registers, spec::GenId gen, EventSink& events, std::string path)
    : registers_(registers), gen_(gen), events_(events), path_(std::move(path)) {
  for (unsigned dword = 0; dword < kDwords; ++dword) {
    pending_[dword] = registers.use(kPending[dword]);
    selector_[dword] = registers.use(kSelector[dword]);
    identity_[dword] = registers.use(kIdentity[dword]);
    valid_[dword] = field_bits(identity_[dword], gen, kIdentityValid);
  }
  for (const SourceNames& names : source_names()) {
    for (unsigned dword = 0; dword < kDwords; ++dword) {
      const mmio::RegisterSlot* enable = registers.use(names.enable);
      const mmio::RegisterSlot* mask = registers.use(names.mask);
      const uint32_t bit = field_bits(pending_[dword], gen, names.name);
      const uint32_t enable_bits = field_bits(enable, gen, names.enable_field);
      const uint32_t mask_bits = field_bits(mask, gen, names.mask_field);
      if (bit != 0 && enable_bits != 0 && mask_bits != 0) {
        sources_.push_back(
            {&names, static_cast<uint8_t>(dword), bit, enable, shift_of(enable_bits), mask, shift_of(mask_bits)});
      }
    }
  }
  reset();
}

void Collapsed::reset() {
  state_ = {};
  state_.latched.resize(sources_.size());
  state_.scheduler_enables.resize(sources_.size());
  state_.scheduler_latched.resize(sources_.size());
  state_.fault_repair.resize(sources_.size());
}

void Collapsed::refresh() {
  for (unsigned dword = 0; exists() && dword < kDwords; ++dword) {
    state_.locked[dword] = state_.locked[dword] && pending(dword) != 0;
    state_.served[dword] &= pending(dword);
  }
}

uint16_t Collapsed::enabled(const Source& source) const {
  return static_cast<uint16_t>(registers_.peek(*source.enable) >> source.enable_shift);
}

uint16_t Collapsed::open(const Source& source, uint32_t mask) const {
  const auto bits = static_cast<uint16_t>(~(mask >> source.mask_shift));
  const bool repair = state_.fault_repair[static_cast<size_t>(&source - sources_.data())] != 0;
  return repair ? static_cast<uint16_t>(bits | page_fault_bits_) : bits;
}

uint16_t Collapsed::unmasked(const Source& source) const {
  return open(source, registers_.peek(*source.mask));
}

int Collapsed::find(unsigned dword, uint32_t bit) const {
  const auto found = std::ranges::find_if(
      sources_, [dword, bit](const Source& source) { return source.dword == dword && source.bit == bit; });
  return found == sources_.end() ? -1 : static_cast<int>(found - sources_.begin());
}

// While software serves a dword, the value that it has read does not change.
void Collapsed::second_level(const Source& source) {
  if (state_.locked[source.dword]) {
    state_.waiting[source.dword] |= source.bit;
    return;
  }
  registers_.poke(*pending_[source.dword], pending(source.dword) | source.bit);
}

void Collapsed::deliver(uint32_t dword) {
  const auto message = hw::INTERRUPT_MESSAGE::unpack(gen_, std::span(&dword, 1));
  if (spec::has_reserved_set(hw::INTERRUPT_MESSAGE::kDesc, gen_, std::span(&dword, 1))) {
    raise(EventKind::reserved_bits, hw::INTERRUPT_MESSAGE::kDesc.name, dword, "message");
  }
  if (message.vf_id != kPhysicalFunction) {
    raise(EventKind::unsupported, hw::INTERRUPT_MESSAGE::kDesc.name, dword, "message for a virtual function dropped");
    return;
  }
  const auto source = std::ranges::find_if(sources_, [&message](const Source& candidate) {
    return candidate.names->engine_class == message.engine_class && candidate.names->instance == message.instance;
  });
  if (source == sources_.end()) {
    raise(EventKind::unsupported, hw::INTERRUPT_MESSAGE::kDesc.name, dword,
          "message from a source that the device does not have");
    return;
  }
  const auto number = static_cast<size_t>(source - sources_.begin());
  const auto scheduled = static_cast<uint16_t>(message.data & state_.scheduler_enables[number]);
  if (scheduled != 0) {
    state_.scheduler_latched[number] |= scheduled;
    state_.scheduler_vectors[source->dword] |= source->bit;
  }
  const auto taken = static_cast<uint16_t>(message.data & enabled(*source));
  state_.latched[number] |= taken;
  if ((taken & unmasked(*source)) != 0) {
    second_level(*source);
  }
}

void Collapsed::pending_read(unsigned dword) {
  if (pending(dword) != 0) {
    state_.locked[dword] = true;
  }
}

void Collapsed::pending_written(unsigned dword, uint32_t cleared) {
  if (const uint32_t early = cleared & ~state_.served[dword]; early != 0) {
    raise(EventKind::undefined_behaviour, kPending[dword], early, "bit cleared before its identity was served");
  }
  state_.served[dword] &= ~cleared;
}

bool Collapsed::bring_back(unsigned dword) {
  if (pending(dword) != 0) {
    return false;
  }
  state_.locked[dword] = false;
  const uint32_t again = std::exchange(state_.waiting[dword], 0);
  registers_.poke(*pending_[dword], again);
  return again != 0;
}

// If software did not read the identity, its events are not lost.
void Collapsed::put_back(unsigned dword, uint32_t identity) {
  const auto old = spec::unpack_register<hw::INTR_IDENTITY_REG0>(gen_, identity);
  for (size_t i = 0; old.valid && i < sources_.size(); ++i) {
    const SourceNames& names = *sources_[i].names;
    if (sources_[i].dword == dword && names.engine_class == old.engine_class && names.instance == old.instance) {
      state_.latched[i] |= old.data;
    }
  }
}

void Collapsed::selector_written(unsigned dword, uint32_t old_value) {
  const uint32_t selected = registers_.peek(*selector_[dword]);
  if (selected == 0) {
    return;
  }
  if (!std::has_single_bit(selected) || (selected & pending(dword)) == 0) {
    raise(EventKind::undefined_behaviour, kSelector[dword], selected,
          std::has_single_bit(selected) ? "selected source not pending" : "more than one source selected");
    registers_.poke(*selector_[dword], old_value);
    return;
  }
  const int found = find(dword, selected);
  if (found < 0) {
    registers_.poke(*selector_[dword], old_value);  // a field without enable and mask on this device cannot be pending
    return;
  }
  if (const uint32_t old = registers_.peek(*identity_[dword]); (old & valid_[dword]) != 0) {
    raise(EventKind::undefined_behaviour, kSelector[dword], selected,
          "source selected before the last identity was cleared");
    put_back(dword, old);
  }
  const auto number = static_cast<size_t>(found);
  const Source& source = sources_[number];
  const auto data = static_cast<uint16_t>(state_.latched[number] & unmasked(source));
  state_.latched[number] = static_cast<uint16_t>(state_.latched[number] & ~data);
  state_.served[dword] |= selected;
  uint64_t identity = 0;
  const hw::INTR_IDENTITY_REG0 reg{
      .valid = true, .instance = source.names->instance, .engine_class = source.names->engine_class, .data = data};
  check(static_cast<bool>(spec::pack_register(reg, gen_, identity)), "an identity has room for every source");
  registers_.poke(*identity_[dword], static_cast<uint32_t>(identity));
}

void Collapsed::identity_written(unsigned dword, uint32_t old_value) {
  if ((old_value & valid_[dword]) != 0) {
    registers_.poke(*identity_[dword], 0);
    registers_.poke(*selector_[dword], 0);
  }
}

void Collapsed::mask_written(const mmio::RegisterSlot& slot, uint32_t old_value) {
  for (size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    if (source.mask != &slot) {
      continue;
    }
    if ((state_.latched[i] & ~open(source, old_value) & unmasked(source)) != 0) {
      second_level(source);
    }
  }
}

void Collapsed::set_fault_repair(hw::InterruptClass engine_class, unsigned instance, bool on) {
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].names->engine_class != engine_class || sources_[i].names->instance != instance) {
      continue;
    }
    const auto masked = static_cast<uint16_t>(~unmasked(sources_[i]));
    state_.fault_repair[i] = on ? 1 : 0;
    if ((state_.latched[i] & masked & unmasked(sources_[i])) != 0) {
      second_level(sources_[i]);
    }
  }
}

std::vector<const mmio::RegisterSlot*> Collapsed::mask_slots() const {
  std::vector<const mmio::RegisterSlot*> slots;
  for (const Source& source : sources_) {
    slots.push_back(source.mask);
  }
  return slots;
}

void Collapsed::set_scheduler_enables(hw::InterruptClass engine_class, uint16_t events) {
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].names->engine_class == engine_class) {
      state_.scheduler_enables[i] = events;
    }
  }
}

uint16_t Collapsed::take_scheduler_events(unsigned vector, unsigned bit) {
  if (vector >= kDwords || bit >= 32) {
    return 0;
  }
  const int found = find(vector, 1u << bit);
  state_.scheduler_vectors[vector] &= ~(1u << bit);
  return found < 0 ? uint16_t{0} : std::exchange(state_.scheduler_latched[static_cast<size_t>(found)], uint16_t{0});
}

void Collapsed::raise(EventKind kind, std::string_view item, uint64_t value, std::string detail) {
  events_.on_event({kind, item, path_, 0, value, std::move(detail)});
}

}  // namespace halogen::interrupt
