// The registers of one device: values as plain data, write rules from the map, and handlers for the units that act on
// registers. Access rules (wake domains, steering, privilege) are applied before (mmio/mmio_space.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/fidelity.h"
#include "base/probe.h"
#include "mmio/register_map.h"

namespace halogen::mmio {

// The state of all registers, as plain data. A snapshot copies it.
struct RegisterState {
  std::vector<uint32_t> values;  // RegisterSlot::first_value + copy
  std::vector<uint32_t> locks;   // RegisterSlot::lock_index + copy: write-once bits that were written
  bool operator==(const RegisterState&) const = default;
};

// A write, as passed to a handler.
struct RegisterWrite {
  const RegisterSlot& slot;
  unsigned copy;
  uint32_t old_value;  // before the write
  uint32_t value;      // as written; bytes outside of the access are zero
  uint32_t addressed;  // bits that the write affects: byte lanes, or the bits that its mask half enables
  uint32_t next;       // the value after applying the access kinds

  // Returns the ones written to these bits, whatever their access kind is.
  uint32_t ones(uint32_t bits) const { return value & addressed & bits; }
};

// The reaction of a unit to accesses of its registers. Attached to slots; must outlive the bank.
class RegisterHandler {
 public:
  virtual ~RegisterHandler() = default;
  // Returns the value that the access kinds are then applied to. `stored` is the value in the bank.
  virtual uint32_t on_read(const RegisterSlot& slot, unsigned copy, uint32_t stored);
  // Returns the value to store.
  virtual uint32_t on_write(const RegisterWrite& write);
};

// An access, as passed to the probe.
struct RegisterTouch {
  const RegisterSlot* slot;
  bool is_write;
  unsigned copy;
  uint32_t value;  // read or written
};

class RegisterBank {
 public:
  explicit RegisterBank(std::shared_ptr<const RegisterMap> map);

  const RegisterMap& map() const { return *map_; }
  const RegisterSlot* find(uint64_t offset) const { return map_->find(offset); }

  uint32_t read(const RegisterSlot& slot, unsigned copy = 0) {
    const size_t number = map_->number_of(slot);
    uint32_t value = state_.values[slot.first_value + copy];
    if (handlers_[number] != nullptr) [[unlikely]] {
      value = handlers_[number]->on_read(slot, copy, value);
    }
    value = apply_read(slot.policy, value);
    ++touches_[number];
    touched({&slot, false, copy, value});
    return value;
  }
  // Writes the copies that `copies` selects: bit n for copy n.
  void write(const RegisterSlot& slot, uint32_t value, uint32_t lanes = kAllLanes, uint64_t copies = 1);

  // Access the stored value, without handlers or access kinds. For the unit that owns the register.
  uint32_t peek(const RegisterSlot& slot, unsigned copy = 0) const { return state_.values[slot.first_value + copy]; }
  void poke(const RegisterSlot& slot, uint32_t value);  // all copies
  void poke(const RegisterSlot& slot, uint32_t value, unsigned copy) { state_.values[slot.first_value + copy] = value; }

  void attach(const RegisterSlot& slot, RegisterHandler& handler) { handlers_[map_->number_of(slot)] = &handler; }
  // Attaches to every engine, index and dword; returns the number of slots.
  size_t attach(std::string_view name, RegisterHandler& handler);

  // Marks a register as acted on: a unit reads or writes its stored value.
  void use(const RegisterSlot& slot) { used_[map_->number_of(slot)] = true; }
  // Finds a register for a unit that reads or writes its stored value, and marks it as acted on. Null: the device does
  // not have it. A unit that asks only whether a register exists asks the map.
  const RegisterSlot* use(std::string_view name, std::string_view engine = {}, unsigned index = 0);
  std::span<const RegisterSlot> use_all(std::string_view name);  // every engine, index and dword
  // Returns whether a unit is attached to the register or uses its value.
  bool is_acted_on(const RegisterSlot& slot) const {
    return handlers_[map_->number_of(slot)] != nullptr || used_[map_->number_of(slot)];
  }

  void reset();
  void reset(const RegisterSlot& slot);

  const RegisterState& state() const { return state_; }
  void restore(const RegisterState& state);

  // Reports the registers accessed since construction, with their class.
  void report(FidelityReport& report) const;

  Probe<RegisterTouch> touched;

 private:
  std::shared_ptr<const RegisterMap> map_;
  std::vector<RegisterHandler*> handlers_;  // by slot number; null: only the access kinds apply
  std::vector<bool> used_;                  // by slot number
  std::vector<uint64_t> touches_;           // by slot number
  RegisterState state_;
};

}  // namespace halogen::mmio
