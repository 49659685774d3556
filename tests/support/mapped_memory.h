// Memory behind four-level page tables, for code that uses an address space: bytes mapped from one address on; all
// other addresses are unmapped. The tables follow the bytes.
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
#include "support/lent_pages.h"

namespace halogen::test {

class MappedMemory final : private memory::FaultHandler {
 public:
  static constexpr uint64_t kPage = 4096;

  // At most the 512 pages of one table, from `address` on, which must be a multiple of what they map.
  explicit MappedMemory(uint64_t bytes, uint64_t address = 0) : mapped_(bytes), bytes_(bytes + kTables * kPage) {
    memory_.add({memory::MemorySpace::system, memory::MemoryKind::ram, 0, bytes_.size(), &bytes_});
    context_.format = formats_.find(memory::WalkMode::legacy48);
    context_.roots[0] = table(0);
    for (uint64_t page = 0; page < mapped_ / kPage; ++page) {
      at<uint64_t>(table(kLast) + page * 8) = page * kPage | kPresent;
    }
    lead(address, table(1));
  }
  // Maps the same bytes from 0 on too; the first address differs in its highest bits.
  void map_low() { lead(0, table(kLast + 1)); }

  memory::AddressSpace& space() { return space_; }
  std::span<std::byte> bytes() { return bytes_.bytes().first(mapped_); }
  template <class T>
  T& at(uint64_t offset) {
    return *reinterpret_cast<T*>(bytes_.data() + offset);
  }

  // Takes the host memory of pages away. Afterwards their addresses lead to holes, and a late access ends the test.
  void take_back(uint64_t first, uint64_t count) { bytes_.take_back(memory_, first, count); }

  uint64_t root() const { return context_.roots[0]; }

  // Unmaps a page, or maps it to other memory.
  void take_away(uint64_t page) { set_entry(page, 0); }
  void lead_page(uint64_t page, uint64_t to) { set_entry(page, to * kPage | kPresent); }

  void forget_faults() {
    faults_ = 0;
    addresses_.clear();
  }
  void set_action(memory::FaultAction action) { action_ = action; }
  size_t faults() const { return faults_; }
  const std::vector<uint64_t>& first_faults() const { return addresses_; }

 private:
  static constexpr uint64_t kLast = 3;                // the table of pages, below a root and two others
  static constexpr uint64_t kTables = kLast + 1 + 2;  // and two for the second address
  static constexpr uint64_t kPresent = 3;             // and writable
  static constexpr size_t kMaxAddresses = 4096;

  uint64_t table(uint64_t number) const { return mapped_ + number * kPage; }
  // Links the root through the two tables from `middle` on to the table of pages.
  void lead(uint64_t address, uint64_t middle) {
    at<uint64_t>(table(0) + (address >> 39 & 511) * 8) = middle | kPresent;
    at<uint64_t>(middle + (address >> 30 & 511) * 8) = (middle + kPage) | kPresent;
    at<uint64_t>(middle + kPage + (address >> 21 & 511) * 8) = table(kLast) | kPresent;
    space_.load(context_);
  }

  void set_entry(uint64_t page, uint64_t entry) {
    at<uint64_t>(table(kLast) + page * 8) = entry;
    space_.load(context_);
  }
  memory::FaultAction on_fault(const memory::Fault& fault) override {
    ++faults_;
    if (addresses_.size() < kMaxAddresses) addresses_.push_back(fault.address);
    return action_;
  }

  uint64_t mapped_;
  LentPages bytes_;
  memory::PhysicalMemory memory_;
  memory::WalkContext context_;
  memory::PageFormats formats_{*spec::find_device("dg1"), 39};
  memory::Tlb tlb_{64};
  memory::FaultAction action_ = memory::FaultAction::stop;
  size_t faults_ = 0;
  std::vector<uint64_t> addresses_;
  memory::AddressSpace space_{memory_, tlb_, 1, *this};
};

}  // namespace halogen::test
