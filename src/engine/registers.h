// The registers of one engine by name: where each stands in the bank is found once. Values stay in the bank, so that
// software, the context image and the engine see the same thing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mmio/mmio_space.h"
#include "spec/descriptors.h"
#include "spec/device_model.h"
#include "spec/item_ids.h"  // generated

namespace halogen::engine {

class Registers {
 public:
  Registers(mmio::MmioSpace& mmio, const spec::EngineModel& engine);

  const spec::EngineModel& engine() const { return engine_; }
  spec::GenId gen() const { return gen_; }
  mmio::MmioSpace& mmio() { return mmio_; }
  const mmio::MmioSpace& mmio() const { return mmio_; }

  // Null: this engine of this device does not have the register. `dword` counts through indices and halves.
  const mmio::RegisterSlot* slot(spec::RegisterId id, unsigned dword = 0) const {
    const Place& place = places_[static_cast<size_t>(id)];
    return dword < place.count ? place.first + dword : nullptr;
  }
  bool has(spec::RegisterId id) const { return slot(id) != nullptr; }

  // The stored value; zero where there is no such register.
  uint32_t peek(spec::RegisterId id, unsigned dword = 0) const {
    const mmio::RegisterSlot* const found = slot(id, dword);
    return found == nullptr ? 0 : mmio_.bank().peek(*found);
  }
  void poke(spec::RegisterId id, uint32_t value, unsigned dword = 0) {
    if (const mmio::RegisterSlot* const found = slot(id, dword)) {
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

  // As the generated structure of the register: get<hw::RING_CTL>().
  template <class Register>
  Register get(unsigned index = 0) const {
    std::array<uint32_t, 2> dwords{};
    const unsigned each = Register::kDesc.width_bits / 32;
    for (unsigned dword = 0; dword < each; ++dword) {
      dwords[dword] = peek(Register::kId, index * each + dword);
    }
    return Register::unpack(gen_, std::span(dwords).first(each));
  }
  template <class Register>
  void set(const Register& value, unsigned index = 0) {
    std::array<uint32_t, 2> dwords{};
    const unsigned each = Register::kDesc.width_bits / 32;
    static_cast<void>(value.pack(gen_, std::span(dwords).first(each)));
    for (unsigned dword = 0; dword < each; ++dword) {
      poke(Register::kId, dwords[dword], index * each + dword);
    }
  }

  // A 32-bit register as a number and back. Fields that the generation lacks are left out.
  template <class Register>
  uint32_t raw(const Register& value) const {
    uint32_t dword = 0;
    static_cast<void>(value.pack(gen_, std::span(&dword, 1)));
    return dword;
  }
  template <class Register>
  Register from_raw(uint32_t value) const {
    return Register::unpack(gen_, std::span(&value, 1));
  }

  // All dwords of the register get the handler.
  void attach(spec::RegisterId id, mmio::RegisterHandler& handler);

 private:
  struct Place {
    const mmio::RegisterSlot* first = nullptr;
    unsigned count = 0;
  };

  mmio::MmioSpace& mmio_;
  const spec::EngineModel& engine_;
  spec::GenId gen_;
  std::vector<Place> places_;  // by RegisterId
};

}  // namespace halogen::engine
