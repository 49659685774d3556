#include "mmio/register_bank.h"

#include <bit>

#include "base/check.h"
#include "mmio/storage.h"

namespace halogen::mmio {

uint32_t RegisterHandler::on_read(const RegisterSlot& /*slot*/, unsigned /*copy*/, uint32_t stored) {
  return stored;
}
uint32_t RegisterHandler::on_write(const RegisterWrite& write) {
  return write.next;
}

RegisterBank::RegisterBank(std::shared_ptr<const RegisterMap> map)
    : map_(std::move(map)), handlers_(map_->slot_count()), used_(map_->slot_count()), touches_(map_->slot_count()) {
  state_.values.resize(map_->value_count());
  state_.locks.resize(map_->lock_count());
  reset();
}

void RegisterBank::write(const RegisterSlot& slot, uint32_t value, uint32_t lanes, uint64_t copies) {
  const size_t number = map_->number_of(slot);
  ++touches_[number];
  RegisterHandler* handler = handlers_[number];
  for (uint64_t left = copies & ((slot.copies >= 64 ? 0 : uint64_t{1} << slot.copies) - 1); left != 0;
       left &= left - 1) {
    const auto copy = static_cast<unsigned>(std::countr_zero(left));
    uint32_t& stored = state_.values[slot.first_value + copy];
    uint32_t locked = 0;
    if (slot.lock_index != RegisterSlot::kNoLock) {
      uint32_t& lock = state_.locks[slot.lock_index + copy];
      locked = lock;
      lock = apply_lock(slot.policy, lock, value, lanes);
    }
    const uint32_t old_value = stored;
    const uint32_t next = apply_write(slot.policy, old_value, value, locked, lanes);
    stored = next;
    if (handler != nullptr) {
      // The value is stored before the call too, because the handler may read the register through the bank.
      const RegisterWrite write{slot, copy, old_value, value & lanes, addressed_bits(slot.policy, value, lanes), next};
      const uint32_t kept = handler->on_write(write);
      state_.values[slot.first_value + copy] = kept;
    }
    touched({&slot, true, copy, value & lanes});
  }
}

void RegisterBank::poke(const RegisterSlot& slot, uint32_t value) {
  for (unsigned copy = 0; copy < slot.copies; ++copy) {
    poke(slot, value, copy);
  }
}

size_t RegisterBank::attach(std::string_view name, RegisterHandler& handler) {
  const std::span<const RegisterSlot> slots = map_->slots_of(name);
  for (const RegisterSlot& slot : slots) {
    attach(slot, handler);
  }
  return slots.size();
}

const RegisterSlot* RegisterBank::use(std::string_view name, std::string_view engine, unsigned index) {
  const RegisterSlot* const first = map_->find(name, engine, index);
  for (unsigned dword = 0; first != nullptr && dword < first->desc->width_bits / 32u; ++dword) {
    use(first[dword]);
  }
  return first;
}

std::span<const RegisterSlot> RegisterBank::use_all(std::string_view name) {
  const std::span<const RegisterSlot> slots = map_->slots_of(name);
  for (const RegisterSlot& slot : slots) {
    use(slot);
  }
  return slots;
}

void RegisterBank::reset() {
  for (const RegisterSlot& slot : map_->slots()) {
    reset(slot);
  }
}

void RegisterBank::reset(const RegisterSlot& slot) {
  poke(slot, slot.reset);
  if (slot.lock_index != RegisterSlot::kNoLock) {
    for (unsigned copy = 0; copy < slot.copies; ++copy) {
      state_.locks[slot.lock_index + copy] = 0;
    }
  }
}

void RegisterBank::restore(const RegisterState& state) {
  check(state.values.size() == map_->value_count() && state.locks.size() == map_->lock_count(),
        "snapshot of another device model");
  state_ = state;
}

void RegisterBank::report(FidelityReport& report) const {
  for (const RegisterSlot& slot : map_->slots()) {
    const uint64_t count = touches_[map_->number_of(slot)];
    if (count == 0) {
      continue;
    }
    const bool storage = is_storage(slot, map_->model().id);
    report.touch(FidelityKind::reg, slot.desc->name, storage ? FidelityClass::approximate : FidelityClass::exact,
                 storage ? "plain storage" : "", count);
  }
}

}  // namespace halogen::mmio
