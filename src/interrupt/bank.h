// One bank of interrupt registers: status (current), mask, identity (unmasked events until software clears them) and
// enable. G45 PRM vol. 1b 5.4 to 5.6 (seed 003); the later banks of display and GT work alike and also keep a second
// event of each kind. The values are in the register bank; this class holds only the second events.
#pragma once

#include <cstdint>
#include <optional>

#include "interrupt/names.h"
#include "mmio/register_bank.h"

namespace halogen::interrupt {

class Bank {
 public:
  // No value: the device does not have the bank.
  static std::optional<Bank> find(mmio::RegisterBank& registers, const BankNames& names, unsigned index);

  uint32_t status() const { return registers_->peek(*status_); }
  uint32_t mask() const { return registers_->peek(*mask_); }
  uint32_t identity() const { return registers_->peek(*identity_); }
  uint32_t pending() const { return identity() & registers_->peek(*enable_); }

  const mmio::RegisterSlot& status_slot() const { return *status_; }
  const mmio::RegisterSlot& mask_slot() const { return *mask_; }
  const mmio::RegisterSlot& identity_slot() const { return *identity_; }
  const mmio::RegisterSlot& enable_slot() const { return *enable_; }

  // Status bits whose identity is set on the falling edge.
  void set_falling(uint32_t bits) { falling_ = bits; }

  // Sets status to `value` where `bits` is set. True: something changed.
  bool set_status(uint32_t bits, uint32_t value);
  // Records events that are too short to be visible in the status.
  void pulse(uint32_t bits);

  // Called when software has written the mask. Status that is no longer masked counts as an event.
  void mask_written(uint32_t old_mask);
  // Called when software has cleared identity bits. True: second events replaced them, so that the bits were zero for a
  // moment.
  bool bring_back(uint32_t cleared);
  // Sets those identity bits again whose status is still set.
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
