// The global table: pages of the aperture and of what only the kernel uses (rings, context images, status pages).
#pragma once

#include <cstdint>
#include <optional>

#include "driver/hw/hardware.h"
#include "memory/page_format.h"

namespace halogen::driver {

class GlobalTable {
 public:
  explicit GlobalTable(Hardware& hardware);
  GlobalTable(const GlobalTable&) = delete;
  GlobalTable& operator=(const GlobalTable&) = delete;

  void enable();  // at the start and after a reset

  // Pages mapped at a free place; low places can be reached through the aperture.
  std::optional<uint64_t> map(const PageRun& run, uint64_t alignment = kPageBytes);
  void unmap(uint64_t address, uint64_t bytes);

  // The two halves, for those who manage places themselves.
  PageAllocator& places() { return places_; }
  void write(uint64_t address, const PageRun& run);
  void clear(uint64_t address, uint64_t bytes);  // to a page of nothing

  // What stays: rings, context images, tables; not what programs lay into it.
  uint64_t pinned_bytes() const { return pinned_bytes_; }
  uint64_t bytes() const { return hardware_.entry_count() * kPageBytes; }
  // A range of entries that holds something else than entries: gives its first index.
  std::optional<uint64_t> reserve_entries(uint64_t count);

 private:
  uint64_t entry(uint64_t address, bool local) const;
  void clear_to(uint64_t end);

  Hardware& hardware_;
  PageRun nothing_;
  memory::EntryFormat format_;
  PageAllocator places_;
  uint64_t cleared_ = 0;                // entries of addresses from here on are as the device came: not there
  uint64_t pinned_bytes_ = kPageBytes;  // the first page
};

// Zeroed memory that the device sees at an address of the global table.
class KernelMemory {
 public:
  static std::optional<KernelMemory> create(Hardware& hardware, GlobalTable& table, uint64_t bytes);
  KernelMemory(KernelMemory&& other) noexcept;
  KernelMemory& operator=(KernelMemory&& other) noexcept;
  ~KernelMemory();

  uint64_t address() const { return address_; }  // in the global table
  const PageRun& run() const { return run_; }
  uint64_t bytes() const { return run_.bytes; }
  void store(uint64_t offset, uint32_t value) const { hardware_->store(run_, offset, value); }
  uint32_t load(uint64_t offset) const { return hardware_->load<uint32_t>(run_, offset); }

 private:
  KernelMemory(Hardware& hardware, GlobalTable& table) : hardware_(&hardware), table_(&table) {}

  Hardware* hardware_;
  GlobalTable* table_;
  PageRun run_{};
  uint64_t address_ = 0;
};

}  // namespace halogen::driver
