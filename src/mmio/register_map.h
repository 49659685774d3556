// The register at each MMIO offset of one device: built once from the descriptions, then read only. Engine registers
// appear once per engine that has them; replicated registers (DG1: per subslice, per L3 bank) have one value per copy.
// A look-up is two array loads. Not included: PCI configuration space (device/config_space.h) and the VGA registers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "mmio/access_policy.h"
#include "mmio/force_wake.h"
#include "mmio/steering.h"
#include "spec/descriptors.h"
#include "spec/device_model.h"

namespace halogen::mmio {

// One dword of a register.
struct RegisterSlot {
  static constexpr uint32_t kNoLock = 0xffff'ffff;

  const spec::RegisterDesc* desc = nullptr;
  const spec::EngineModel* engine = nullptr;  // null: not a register of an engine
  uint32_t offset = 0;                        // offset of this dword
  uint16_t index = 0;                         // index below desc->count
  uint8_t dword = 0;                          // 1: upper half of a 64-bit register
  uint8_t copies = 1;
  bool endpoint = true;       // false: the device has no endpoint at this offset
  uint32_t read_domains = 0;  // wake domains that must be awake (bit n: domain n)
  uint32_t write_domains = 0;
  AccessPolicy policy;
  uint32_t reset = 0;
  uint32_t first_value = 0;       // index of the first copy's value in RegisterState
  uint32_t lock_index = kNoLock;  // index of the write-once locks
};

// Returns the policy of one dword of a register on a generation.
AccessPolicy policy_of(const spec::RegisterDesc& desc, spec::GenId gen, unsigned dword);

class RegisterMap {
 public:
  RegisterMap(const spec::DeviceModel& model, std::span<const spec::RegisterDesc* const> descs,
              const ForceWakeConfig& wake, const Steering& steering);
  static std::shared_ptr<const RegisterMap> for_device(const spec::DeviceModel& model);

  // Returns the slot at an offset, which may be any number. Null: no description claims the dword.
  const RegisterSlot* find(uint64_t offset) const {
    if (offset >= bytes_) {
      return nullptr;
    }
    const uint32_t page = pages_[offset / kPageBytes];
    const uint32_t slot = table_[page + (offset % kPageBytes) / 4];
    return slot == 0 ? nullptr : &slots_[slot];
  }

  // Returns all dwords of a register: by engine, then index, then dword. Empty: the device does not have it.
  std::span<const RegisterSlot> slots_of(const spec::RegisterDesc& desc) const;
  std::span<const RegisterSlot> slots_of(std::string_view name) const;
  // Returns the first dword of one instance.
  const RegisterSlot* find(std::string_view name, std::string_view engine = {}, unsigned index = 0) const;

  std::span<const RegisterSlot> slots() const { return std::span(slots_).subspan(1); }
  size_t number_of(const RegisterSlot& slot) const { return static_cast<size_t>(&slot - slots_.data()); }
  size_t slot_count() const { return slots_.size(); }  // one more than there are slots: number 0 is not used
  size_t value_count() const { return value_count_; }
  size_t lock_count() const { return lock_count_; }
  const spec::DeviceModel& model() const { return *model_; }

  // Returns the dwords that a second description claimed (the first keeps them) or that are beyond the register part of
  // the BAR.
  std::span<const uint32_t> refused() const { return refused_; }

 private:
  static constexpr uint32_t kPageBytes = 4096;
  static constexpr uint32_t kPageDwords = kPageBytes / 4;

  struct Extent {
    const spec::RegisterDesc* desc;
    size_t first;
    size_t count;
  };

  void add(const spec::RegisterDesc& desc, const spec::EngineModel* engine, const ForceWake& wake,
           const Steering& steering);
  void place(RegisterSlot slot, const ForceWake& wake, const Steering& steering);

  const spec::DeviceModel* model_;
  uint64_t bytes_;
  std::vector<uint32_t> pages_;  // start of the page's entries in table_; 0: an empty page
  std::vector<uint32_t> table_;  // slot number of each dword, 0: unclaimed
  std::vector<RegisterSlot> slots_;
  std::vector<Extent> extents_;
  std::vector<uint32_t> refused_;
  size_t value_count_ = 0;
  size_t lock_count_ = 0;
};

}  // namespace halogen::mmio
