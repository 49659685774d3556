// The global table: maps the aperture and the driver's own memory (rings, context images, status pages).
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

  void enable();  // at start-up and after a reset

  // Maps pages at a free address; low addresses lie in the aperture.
  std::optional<uint64_t> map(const PageRun& run, uint64_t alignment = kPageBytes);
  void unmap(uint64_t address, uint64_t bytes);

  // The two steps of map(), for callers that choose addresses themselves.
  PageAllocator& places() { return places_; }
  void write(uint64_t address, const PageRun& run);
  void clear(uint64_t address, uint64_t bytes);  // to the scratch page

  // Bytes that stay mapped: rings, context images, tables; not buffers of programs.
  uint64_t pinned_bytes() const { return pinned_bytes_; }
  uint64_t bytes() const { return hardware_.entry_count() * kPageBytes; }
  // Reserves the last addresses for writes that must reach nothing: they lead to the scratch page.
  uint64_t reserve_end(uint64_t bytes);
  // Reserves a range of entries for other data. Returns its first index.
  std::optional<uint64_t> reserve_entries(uint64_t count);

 private:
  uint64_t entry(uint64_t address, bool local) const;
  void clear_to(uint64_t end);

  Hardware& hardware_;
  PageRun nothing_;
  memory::EntryFormat format_;
  PageAllocator places_;
  uint64_t cleared_ = 0;                // entries from this address on are still in their initial, invalid state
  uint64_t pinned_bytes_ = kPageBytes;  // the first page
};

// Zeroed memory of the driver at an address of the global table.
class PinnedMemory {
 public:
  static std::optional<PinnedMemory> create(Hardware& hardware, GlobalTable& table, uint64_t bytes,
                                            uint64_t alignment = kPageBytes);
  PinnedMemory(PinnedMemory&& other) noexcept;
  PinnedMemory& operator=(PinnedMemory&& other) noexcept;
  ~PinnedMemory();

  uint64_t address() const { return address_; }  // in the global table
  const PageRun& run() const { return run_; }
  uint64_t bytes() const { return run_.bytes; }
  void store(uint64_t offset, uint32_t value) const { hardware_->store(run_, offset, value); }
  uint32_t load(uint64_t offset) const { return hardware_->load<uint32_t>(run_, offset); }

 private:
  PinnedMemory(Hardware& hardware, GlobalTable& table) : hardware_(&hardware), table_(&table) {}

  Hardware* hardware_;
  GlobalTable* table_;
  PageRun run_{};
  uint64_t address_ = 0;
};

}  // namespace halogen::driver
