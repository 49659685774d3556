// All registers of one engine by id. The slot of each is found once. Values stay in the bank, so that software, the
// context image and the engine see the same thing. A unit with few registers holds a Register (register.h) for each.
// A unit tells the bank in its constructor which registers it uses or is attached to on this chip. In debug builds an
// access to a register that no unit has named stops the program, so that reports about registers stay true.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "mmio/mmio_space.h"
#include "spec/descriptors.h"
#include "spec/device_model.h"
#include "spec/item_ids.h"  // generated
#include "spec/packed.h"

namespace halogen::mmio {

class Registers {
 public:
  Registers(MmioSpace& mmio, const spec::EngineModel& engine);

  const spec::EngineModel& engine() const { return engine_; }
  spec::GenId gen() const { return gen_; }
  MmioSpace& mmio() { return mmio_; }
  const MmioSpace& mmio() const { return mmio_; }

  // Returns the slot of a register. Null: this engine does not have it. `dword` counts through indices and halves.
  const RegisterSlot* slot(spec::RegisterId id, unsigned dword = 0) const {
    const Run& run = runs_[static_cast<size_t>(id)];
    return dword < run.count ? run.first + dword : nullptr;
  }
  bool has(spec::RegisterId id) const { return slot(id) != nullptr; }

  // Marks registers as acted on. Those that this engine does not have are left out.
  void use(std::initializer_list<spec::RegisterId> ids);

  // Returns the stored value. Zero: the engine does not have the register.
  uint32_t peek(spec::RegisterId id, unsigned dword = 0) const {
    const RegisterSlot* const found = used_slot(id, dword);
    return found == nullptr ? 0 : mmio_.bank().peek(*found);
  }
  void poke(spec::RegisterId id, uint32_t value, unsigned dword = 0) {
    if (const RegisterSlot* const found = used_slot(id, dword)) {
      mmio_.bank().poke(*found, value);
    }
  }
  uint64_t peek64(spec::RegisterId id, unsigned index = 0) const {
    return peek(id, 2 * index) | uint64_t{peek(id, 2 * index + 1)} << 32;
  }
  void poke64(spec::RegisterId id, uint64_t value, unsigned index = 0) {
    poke(id, static_cast<uint32_t>(value), 2 * index);
    poke(id, static_cast<uint32_t>(value >> 32), 2 * index + 1);
  }

  // Returns the generated structure of a register: get<hw::RING_CTL>().
  template <class R>
  R get(unsigned index = 0) const {
    std::array<uint32_t, 2> dwords{};
    const unsigned each = R::kDesc.width_bits / 32;
    for (unsigned dword = 0; dword < each; ++dword) {
      dwords[dword] = peek(R::kId, index * each + dword);
    }
    return R::unpack(gen_, std::span(dwords).first(each));
  }
  template <class R>
  void set(const R& value, unsigned index = 0) {
    const uint64_t bits = spec::packed(value, gen_);
    const unsigned each = R::kDesc.width_bits / 32;
    for (unsigned dword = 0; dword < each; ++dword) {
      poke(R::kId, static_cast<uint32_t>(bits >> (32 * dword)), index * each + dword);
    }
  }

  // Convert a 32-bit register to a number and back (spec/packed.h).
  template <class R>
  uint32_t raw(const R& value) const {
    return spec::packed32(value, gen_);
  }
  template <class R>
  R from_raw(uint32_t value) const {
    return R::unpack(gen_, std::span(&value, 1));
  }

  // Attaches the handler to all dwords of the register.
  void attach(spec::RegisterId id, RegisterHandler& handler);

 private:
  struct Run {
    const RegisterSlot* first = nullptr;
    unsigned count = 0;
  };

  const RegisterSlot* used_slot(spec::RegisterId id, unsigned dword) const {
    const RegisterSlot* const found = slot(id, dword);
    assert((found == nullptr || mmio_.bank().is_acted_on(*found)) && "name the register in Registers::use");
    return found;
  }

  MmioSpace& mmio_;
  const spec::EngineModel& engine_;
  spec::GenId gen_;
  std::vector<Run> runs_;  // by RegisterId
};

}  // namespace halogen::mmio
