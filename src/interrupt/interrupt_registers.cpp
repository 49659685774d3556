// Effects of software's accesses to the interrupt registers, and the interrupt level that follows from the registers.
#include "interrupt/interrupt_unit.h"

namespace halogen::interrupt {

namespace {

constexpr size_t kMaxSummaries = 4;

}  // namespace

// --- what software does ------------------------------------------------------------------------------------------

uint32_t InterruptUnit::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  const Hook hook = hooks_[registers_.map().number_of(slot)];
  if (hook.role == Role::pending) {
    collapsed_.pending_read(hook.number);
  }
  return stored;
}

// The bank has stored the value that the access kinds allow. Effects are written to the registers, also recursively (a
// listener may access registers again), and the final register value is kept.
uint32_t InterruptUnit::on_write(const mmio::RegisterWrite& write) {
  const Hook hook = hooks_[registers_.map().number_of(write.slot)];
  switch (hook.role) {
    case Role::none:
      break;
    case Role::bank_mask:
      banks_[hook.number].mask_written(write.old_value);
      evaluate();
      break;
    case Role::bank_identity:
      write_identity(write, hook.number);
      break;
    case Role::bank_enable:
      write_enable(write, hook.number);
      break;
    case Role::engine_mask:
      update_engines(*engines_[hook.number].bank);
      evaluate();
      break;
    case Role::status_mask:
      write_status_mask(write, hook.number);
      break;
    case Role::summary:
      evaluate();
      break;
    case Role::tile:
      write_tile();
      break;
    case Role::pending:
      write_pending(write, hook.number);
      break;
    case Role::selector:
      collapsed_.selector_written(hook.number, write.old_value);
      break;
    case Role::identity:
      if (write.ones(collapsed_.valid_bit(hook.number)) != 0) {
        collapsed_.identity_written(hook.number, write.old_value);
      }
      break;
    case Role::instance_mask:
      collapsed_.mask_written(write.slot, write.old_value);
      evaluate();
      break;
  }
  return registers_.peek(write.slot, write.copy);
}

void InterruptUnit::write_identity(const mmio::RegisterWrite& write, size_t bank) {
  const uint32_t ones = write.ones(write.slot.policy.w1c);
  acknowledge(bank, ones);
  banks_[bank].follow();
  evaluate();
  if (banks_[bank].bring_back(ones & write.old_value)) {
    evaluate();
  }
}

// On Gen4 the status of an event stays set until software writes one to its identity bit.
void InterruptUnit::acknowledge(size_t bank, uint32_t bits) {
  if (kind_ != InterruptKind::one_bank) {
    return;
  }
  for (size_t i = 0; i < engines_.size(); ++i) {
    levels_[i] &= ~(bits & engines_[i].events);
  }
  update_engines(bank);
}

void InterruptUnit::write_enable(const mmio::RegisterWrite& write, size_t bank) {
  if (const uint32_t wrong = write.next & ~write.old_value & never_enable_[bank]; wrong != 0) {
    note(EventKind::undefined_behaviour, write.slot.desc->name, write.slot.offset, wrong,
         "sync status enabled as an interrupt");
  }
  evaluate();
}

void InterruptUnit::write_status_mask(const mmio::RegisterWrite& write, unsigned engine) {
  if (const uint32_t wrong = ~write.next & write.old_value & engines_[engine].keep_masked; wrong != 0) {
    note(EventKind::undefined_behaviour, write.slot.desc->name, write.slot.offset, wrong,
         "unmasked status bits that must stay masked");
  }
}

// Software clears the tile's bit by writing one. The bit is set again if something is still pending while the master is
// enabled, so no event is lost; a served event is not raised again.
void InterruptUnit::write_tile() {
  const Summary& top = summaries_.back();
  auto tile = tile_.get();
  if (tile.enable && (registers_.peek(*top.slot) & ~top.enable) != 0) {
    tile.tile_0 = true;
    tile_.set(tile);
  }
  evaluate();
}

void InterruptUnit::write_pending(const mmio::RegisterWrite& write, unsigned dword) {
  collapsed_.pending_written(dword, write.ones(write.slot.policy.w1c) & write.old_value);
  evaluate();
  if (collapsed_.bring_back(dword)) {
    evaluate();
  }
}

// --- what goes out -----------------------------------------------------------------------------------------------

void InterruptUnit::evaluate() {
  for (const Feed& feed : feeds_) {
    if (feed.into_bank) {
      const bool pending = (banks_[feed.bank].pending() & feed.bits) != 0;
      set_bank_status(*feed.into_bank, feed.field, pending ? feed.field : 0);
    }
  }
  bool line = evaluate_summaries();
  if (!gate_.exists() || gate_.get().master_interrupt_control) {
    for (const size_t bank : direct_) {
      line = line || banks_[bank].pending() != 0;
    }
  }
  set_asserted(line);
}

bool InterruptUnit::evaluate_summaries() {
  std::array<uint32_t, kMaxSummaries> pending{};
  for (const Feed& feed : feeds_) {
    if (!feed.into_bank && (banks_[feed.bank].pending() & feed.bits) != 0) {
      pending[feed.summary] |= feed.field;
    }
  }
  for (unsigned dword = 0; collapsed_.exists() && dword < interrupt::kDwords; ++dword) {
    if (collapsed_.pending(dword) != 0) {
      pending[summaries_.size() - 1] |= dword_fields_[dword];
    }
  }
  bool line = false;
  for (size_t i = 0; i < summaries_.size(); ++i) {
    const Summary& summary = summaries_[i];
    const uint32_t before = registers_.peek(*summary.slot);
    registers_.poke(*summary.slot, (before & summary.enable) | pending[i]);
    const bool enabled = (before & summary.enable) != 0;
    if (summary.above) {
      pending[*summary.above] |= enabled && pending[i] != 0 ? summary.field : 0;
    } else if (!tile_.exists()) {
      line = line || (enabled && pending[i] != 0);
    } else {
      // On a chip with a master above the tiles, that master has the enable; the tile's own enable is ignored (Linux
      // i915: the bit does not exist on DG1 and is never set).
      const bool rises = (pending[i] & ~before) != 0;
      auto tile = tile_.get();
      tile.tile_0 |= rises;
      tile_.set(tile);
      line = tile.enable && (tile.tile_0 || tile.tile_1 || tile.tile_2 || tile.tile_3);
    }
  }
  return line;
}

void InterruptUnit::set_asserted(bool asserted) {
  if (asserted_ != asserted) {
    asserted_ = asserted;
    listener_.on_interrupt_level(asserted);
  }
}

}  // namespace halogen::interrupt
