// Memory as a trace leaves it, just enough to follow pointers while decoding: nothing is executed and nothing faults.
// The device's own memory model (src/memory) is another thing; this one also serves traces that no device could run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/strong.h"
#include "engine/command_stream.h"

namespace halogen::decode {

class MemoryImage : public engine::CommandMemory {
 public:
  // Copies what is there from `address` on into `out`; says how many dwords were readable.
  size_t read(engine::StreamSpace space, GpuVa address, std::span<uint32_t> out);
};

// Separate objects at fixed addresses, the same in every space: an execbuffer capture, a file of raw dwords.
class FlatImage final : public MemoryImage {
 public:
  // `content` stays the caller's; the object reads as zero behind it, up to `bytes`.
  void add(GpuVa address, uint64_t bytes, std::span<const uint32_t> content);

  std::span<const uint32_t> dwords_at(engine::StreamSpace space, GpuVa address) override;

 private:
  struct Object {
    uint64_t first;
    uint64_t bytes;
    std::span<const uint32_t> content;
  };
  std::vector<Object> objects_;  // sorted by address
};

// Root of a per-process address space: four levels, or three with four page directory pointers.
struct PageTableRoot {
  bool valid = false;
  bool four_levels = true;
  std::array<uint64_t, 4> pointers{};
};

// System memory, local memory and the page tables in them, built from the writes of an AUB trace.
class PagedImage final : public MemoryImage {
 public:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr size_t kPageDwords = kPageBytes / sizeof(uint32_t);
  static constexpr size_t kMaxPages = 1u << 20;  // 4 GiB; what lies beyond is dropped and counted

  enum class Pool : uint8_t { system, local, ggtt_object, ggtt_virtual, ppgtt_virtual };

  // Leaf entries of the per-process tables have a bit for local memory.
  explicit PagedImage(bool has_local_memory) : has_local_memory_(has_local_memory) {}

  void write(Pool pool, uint64_t address, std::span<const std::byte> data);
  // Through the global table where it maps the page, else to addresses without a page behind them.
  void write_ggtt(uint64_t address, std::span<const std::byte> data);
  // At a byte offset in the global table, entries of eight bytes.
  void write_ggtt_entries(uint64_t offset, std::span<const std::byte> data);
  // A write to local memory. Some writers give global-table objects and other pages the same local addresses; they are
  // told apart by the page table entry that comes right before an ordinary page.
  void write_local(uint64_t address, std::span<const std::byte> data);

  void set_root(const PageTableRoot& root) { root_ = root; }
  const PageTableRoot& root() const { return root_; }

  std::span<const uint32_t> dwords_at(engine::StreamSpace space, GpuVa address) override;

  uint64_t dropped_bytes() const { return dropped_bytes_; }

 private:
  using Page = std::array<uint32_t, kPageDwords>;
  struct PoolPages {
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;  // by page number
  };
  struct Found {
    Pool pool;
    uint64_t address;
  };

  PoolPages& pool(Pool which) { return pools_[static_cast<size_t>(which)]; }
  const Page* find(Pool which, uint64_t address) const;
  std::span<const uint32_t> rest_of_page(Pool which, uint64_t address) const;
  std::span<const uint32_t> ggtt_at(uint64_t address) const;
  std::span<const uint32_t> ppgtt_at(uint64_t address) const;
  uint64_t table_entry(uint64_t table, uint64_t index) const;
  bool is_ggtt_object(uint64_t address) const;

  bool has_local_memory_;
  std::array<PoolPages, 5> pools_;
  std::unordered_map<uint64_t, uint64_t> ggtt_;          // page number -> entry
  std::unordered_map<uint64_t, uint64_t> ggtt_backing_;  // physical page number -> entry
  std::vector<uint64_t> recent_entries_;                 // physical pages of the last page table write
  PageTableRoot root_;
  size_t page_count_ = 0;
  uint64_t dropped_bytes_ = 0;
};

}  // namespace halogen::decode
