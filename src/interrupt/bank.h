// One bank of interrupt registers: status (what is), mask, identity (what happened and was not masked, until software
// clears it) and enable. Seed 003 5.4 to 5.6; the later banks of display and GT work alike, and keep a second event of
// each kind. The values live in the register bank; only the second events stand here.
#pragma once

#include <cstdint>
#include <optional>

#include "interrupt/names.h"
#include "mmio/register_bank.h"

namespace halogen::interrupt {

class Bank {
 public:
  // Nothing when the device does not have the bank.
  static std::optional<Bank> find(mmio::RegisterBank& registers, const BankNames& names, unsigned index);

  uint32_t status() const { return registers_->peek(*status_); }
  uint32_t mask() const { return registers_->peek(*mask_); }
  uint32_t identity() const { return registers_->peek(*identity_); }
  uint32_t pending() const { return identity() & registers_->peek(*enable_); }

  const mmio::RegisterSlot& status_slot() const { return *status_; }
  const mmio::RegisterSlot& mask_slot() const { return *mask_; }
  const mmio::RegisterSlot& identity_slot() const { return *identity_; }
  const mmio::RegisterSlot& enable_slot() const { return *enable_; }

  // Status bits whose identity is set when they fall.
  void set_falling(uint32_t bits) { falling_ = bits; }

  // Status becomes `value` where `bits` is set. True when something changed.
  bool set_status(uint32_t bits, uint32_t value);
  // Events too short to be seen in the status.
  void pulse(uint32_t bits);

  // Software wrote the mask: status that was hidden and is not any more is news.
  void mask_written(uint32_t old_mask);
  // Software cleared identity bits: true when second events took their places, so that the bits were zero for a moment.
  bool bring_back(uint32_t cleared);
  // Whatever was cleared but still stands.
  void follow();

  uint32_t second() const { return second_; }
  void set_second(uint32_t bits) { second_ = bits; }

 private:
  void latch(uint32_t bits);

  mmio::RegisterBank* registers_ = nullptr;
  const mmio::RegisterSlot* status_ = nullptr;
  const mmio::RegisterSlot* mask_ = nullptr;
  const mmio::RegisterSlot* identity_ = nullptr;
  const mmio::RegisterSlot* enable_ = nullptr;
  bool queued_ = false;
  bool follows_ = false;
  uint32_t falling_ = 0;
  uint32_t second_ = 0;  // state
};

}  // namespace halogen::interrupt
