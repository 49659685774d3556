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
  explicit MappedMemory(uint64_t bytes, uint64_t address = 0) : mapped_(bytes), bytes_(bytes + kTables * kPage) {
    memory_.add({MemorySpace::system, MemoryKind::ram, 0, bytes_.size(), &frames_});
    context_.format = formats_.find(WalkMode::legacy48);
    context_.roots[0] = table(0);
    for (uint64_t page = 0; page < mapped_ / kPage; ++page) {
      at<uint64_t>(table(kLast) + page * 8) = page * kPage | kPresent;
    }
    lead(address, table(1));
  }
  // The same bytes from 0 on too; the first address is another one, by its highest bits.
  void map_low() { lead(0, table(kLast + 1)); }

  AddressSpace& space() { return space_; }
  std::span<std::byte> bytes() { return std::span(bytes_).first(mapped_); }
  template <class T>
  T& at(uint64_t offset) {
    return *reinterpret_cast<T*>(bytes_.data() + offset);
  }

  // A page is there no longer.
  void take_away(uint64_t page) {
    at<uint64_t>(table(kLast) + page * 8) = 0;
    space_.load(context_);
  }

  void forget_faults() { faults_ = 0; }
  void set_action(FaultAction action) { action_ = action; }
  size_t faults() const { return faults_; }
  uint64_t first_fault() const { return first_fault_; }  // its address, if there was one

 private:
  static constexpr uint64_t kLast = 3;                // the table of pages, below a root and two others
  static constexpr uint64_t kTables = kLast + 1 + 2;  // and two for the second address
  static constexpr uint64_t kPresent = 3;             // and writable

  uint64_t table(uint64_t number) const { return mapped_ + number * kPage; }
  // From the root over the two tables from `middle` on to the table of pages.
  void lead(uint64_t address, uint64_t middle) {
    at<uint64_t>(table(0) + (address >> 39 & 511) * 8) = middle | kPresent;
    at<uint64_t>(middle + (address >> 30 & 511) * 8) = (middle + kPage) | kPresent;
    at<uint64_t>(middle + kPage + (address >> 21 & 511) * 8) = table(kLast) | kPresent;
    space_.load(context_);
  }

  FaultAction on_fault(const Fault& fault) override {
    if (faults_++ == 0) first_fault_ = fault.address;
    return action_;
  }

  uint64_t mapped_;
  std::vector<std::byte> bytes_;
  FlatFrames frames_{bytes_};
  PhysicalMemory memory_;
  WalkContext context_;
  PageFormats formats_{*spec::find_device("dg1"), 39};
  Tlb tlb_{64};
  FaultAction action_ = FaultAction::stop;
  size_t faults_ = 0;
  uint64_t first_fault_ = 0;
  AddressSpace space_{memory_, tlb_, 1, *this};
};

}  // namespace halogen::test
