// One register of a bank as its generated structure: Register<hw::PIPECONF>. The value stays in the bank, so that
// software and the unit see the same thing. Constructing one marks the register as acted on (RegisterBank::use).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "mmio/register_bank.h"
#include "spec/packed.h"

namespace halogen::mmio {

template <class R>
class Register {
 public:
  Register() = default;
  explicit Register(RegisterBank& bank, std::string_view engine = {}, unsigned index = 0)
      : Register(bank, bank.use(R::kDesc.name, engine, index)) {}
  // Refers to a register of another name that has the layout of R. `slot` comes from RegisterBank::use.
  Register(RegisterBank& bank, const RegisterSlot* slot) : bank_(&bank), slot_(slot) {}

  // False: the device does not have the register. It then reads zero, and writes have no effect.
  bool exists() const { return slot_ != nullptr; }
  const RegisterSlot* slot() const { return slot_; }

  R get() const {
    const uint64_t value = raw();
    const std::array<uint32_t, 2> words{static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
    return R::unpack(gen(), std::span(words).first(dwords()));
  }
  uint32_t raw32() const { return static_cast<uint32_t>(raw()); }
  uint64_t raw() const {
    uint64_t value = 0;
    for (unsigned dword = 0; exists() && dword < dwords(); ++dword) {
      value |= uint64_t{bank_->peek(slot_[dword])} << (32 * dword);
    }
    return value;
  }
  void set(const R& value) { set_raw(spec::packed(value, gen())); }
  void set_raw(uint64_t value) {
    for (unsigned dword = 0; exists() && dword < dwords(); ++dword) {
      bank_->poke(slot_[dword], static_cast<uint32_t>(value >> (32 * dword)));
    }
  }

 private:
  static unsigned dwords() { return R::kDesc.width_bits / 32u; }
  spec::GenId gen() const { return bank_->map().model().gen; }

  RegisterBank* bank_ = nullptr;
  const RegisterSlot* slot_ = nullptr;  // of the first dword
};

}  // namespace halogen::mmio
