// Memory behind page tables of four levels, for what reads and writes through an address space: bytes mapped from one
// address on, and nothing else. Their tables lie behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/address_space.h"
#include "memory/page_format.h"
#include "memory/physical_memory.h"
#include "memory/tlb.h"
#include "spec/device_model.h"

namespace halogen::test {

class MappedMemory final : private FaultHandler {
 public:
  static constexpr uint64_t kPage = 4096;

  // At most the 512 pages of one table, from `address` on, which is a multiple of what they map.
  explicit MappedMemory(uint64_t bytes, uint64_t address = 0) : mapped_(bytes), bytes_(bytes + kLevels * kPage) {
    memory_.add({MemorySpace::system, MemoryKind::ram, 0, bytes_.size(), &frames_});
    WalkContext context;
    context.format = formats_.find(WalkMode::legacy48);
    context.roots[0] = mapped_;
    for (uint64_t level = 0; level + 1 < kLevels; ++level) {
      const uint64_t index = address >> (39 - 9 * level) & 511;
      at<uint64_t>(mapped_ + level * kPage + index * 8) = (mapped_ + (level + 1) * kPage) | kPresent;
    }
    for (uint64_t page = 0; page < mapped_ / kPage; ++page) {
      at<uint64_t>(mapped_ + (kLevels - 1) * kPage + page * 8) = page * kPage | kPresent;
    }
    space_.load(context);
  }

  AddressSpace& space() { return space_; }
  std::span<std::byte> bytes() { return std::span(bytes_).first(mapped_); }
  template <class T>
  T& at(uint64_t offset) {
    return *reinterpret_cast<T*>(bytes_.data() + offset);
  }

  void set_action(FaultAction action) { action_ = action; }
  size_t faults() const { return faults_; }

 private:
  static constexpr uint64_t kLevels = 4;
  static constexpr uint64_t kPresent = 3;  // and writable

  FaultAction on_fault(const Fault& /*fault*/) override {
    ++faults_;
    return action_;
  }

  uint64_t mapped_;
  std::vector<std::byte> bytes_;
  FlatFrames frames_{bytes_};
  PhysicalMemory memory_;
  PageFormats formats_{*spec::find_device("dg1"), 39};
  Tlb tlb_{64};
  FaultAction action_ = FaultAction::stop;
  size_t faults_ = 0;
  AddressSpace space_{memory_, tlb_, 1, *this};
};

}  // namespace halogen::test
