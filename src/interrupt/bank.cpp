#include "interrupt/bank.h"

namespace halogen::interrupt {

std::optional<Bank> Bank::find(mmio::RegisterBank& registers, const BankNames& names, unsigned index) {
  Bank bank;
  bank.registers_ = &registers;
  bank.status_ = registers.use(names.status, {}, index);
  bank.mask_ = registers.use(names.mask, {}, index);
  bank.identity_ = registers.use(names.identity, {}, index);
  bank.enable_ = registers.use(names.enable, {}, index);
  if (bank.status_ == nullptr || bank.mask_ == nullptr || bank.identity_ == nullptr || bank.enable_ == nullptr) {
    return std::nullopt;
  }
  bank.queued_ = names.queued;
  bank.follows_ = names.follows;
  return bank;
}

void Bank::latch(uint32_t bits) {
  const uint32_t before = identity();
  if (queued_) {
    second_ |= before & bits;
  }
  registers_->poke(*identity_, before | bits);
}

bool Bank::set_status(uint32_t bits, uint32_t value) {
  const uint32_t before = status();
  const uint32_t after = (before & ~bits) | (value & bits);
  if (before == after) {
    return false;
  }
  registers_->poke(*status_, after);
  const uint32_t rises = after & ~before & ~falling_;
  const uint32_t falls = before & ~after & falling_;
  latch((rises | falls) & ~mask());
  return true;
}

void Bank::pulse(uint32_t bits) {
  latch(bits & ~status() & ~mask());
}

void Bank::mask_written(uint32_t old_mask) {
  latch(status() & old_mask & ~mask() & ~falling_);
}

bool Bank::bring_back(uint32_t cleared) {
  const uint32_t again = second_ & cleared;
  second_ &= ~cleared;
  registers_->poke(*identity_, identity() | again);
  return again != 0;
}

void Bank::follow() {
  if (follows_) {
    registers_->poke(*identity_, identity() | (status() & ~mask()));
  }
}

}  // namespace halogen::interrupt
