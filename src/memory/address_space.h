// One client's view of graphics memory: every access of every engine goes through an AddressSpace. It asks its TLB,
// walks on a miss, and copies. Faults are handed to the client's fault handler, which decides what software sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/strong.h"
#include "memory/quick_walk.h"
#include "memory/tlb.h"
#include "memory/walk_cache.h"
#include "memory/walker.h"

namespace halogen {

// What becomes of an access that cannot be translated.
enum class FaultAction : uint8_t {
  skip,    // reads give zero, writes are dropped, the access counts as done
  filter,  // the same, and the TLB keeps the fault: repeats are dropped unreported until a page response or
           // invalidation
  retry,   // the handler changed something (a page response): walk again
  stop,    // the engine stops here; the access did not happen
};

class FaultHandler {
 public:
  virtual ~FaultHandler() = default;
  virtual FaultAction on_fault(const Fault& fault) = 0;
  // A page above 64 KB was found while the GTT cache is on, which software must not do.
  virtual void on_large_page(uint64_t /*address*/) {}
  // The page that was found is snooped system memory, which not every client of Gen4 may use.
  virtual void on_snooped_page(uint64_t /*address*/) {}
};

// Translates a graphics address into another one in front of the page tables: tiled resources (TR-TT).
class PreTranslation {
 public:
  struct Result {
    uint64_t address = 0;
    Tile tile = Tile::mapped;  // null and invalid: reads give zero, writes are dropped
    bool stopped = false;      // the table walk met a fault that stops the engine
  };

  virtual ~PreTranslation() = default;
  // False: the address is not in the range that the table serves.
  virtual bool covers(uint64_t address) = 0;
  virtual Result translate(uint64_t address, Access access) = 0;
  // An access met a tile that is not mapped; called for each, cached or not.
  virtual void on_unmapped_tile(uint64_t address, Tile tile) = 0;
};

struct WalkStatistics {
  uint64_t walks = 0;  // of TLB misses, short or long
  uint64_t entry_loads = 0;
};

class AddressSpace {
 public:
  AddressSpace(const PhysicalMemory& memory, Tlb& tlb, SpaceTag tag, FaultHandler& faults)
      : memory_(&memory), tlb_(&tlb), faults_(&faults), epoch_(memory.epoch()), tag_(tag) {}

  // A new context: every cached translation of the old one goes.
  void load(const WalkContext& context);
  const WalkContext& context() const { return context_; }
  void set_pre_translation(PreTranslation* pre) { pre_ = pre; }

  // Copies. False when an access was stopped by a fault; what came before it is done.
  bool read(GpuVa address, std::span<std::byte> into, bool instruction = false);
  bool write(GpuVa address, std::span<const std::byte> from);

  // Accesses of one size that do not depend on each other, as a message of a SIMD unit makes them; their bytes follow
  // each other on the host's side. The same as one `read` or `write` after another, but the waits for memory overlap.
  bool read_each(std::span<const GpuVa> addresses, size_t bytes, std::byte* into);
  bool write_each(std::span<const GpuVa> addresses, size_t bytes, const std::byte* from);

  // One value, naturally aligned or not. Zero when stopped.
  template <class T>
  T load_value(GpuVa address) {
    T value{};
    if (const std::byte* bytes = quick(address.value, sizeof(T), {})) {
      std::memcpy(&value, bytes, sizeof(T));
    } else {
      read(address, std::as_writable_bytes(std::span(&value, 1)));
    }
    return value;
  }
  template <class T>
  bool store_value(GpuVa address, T value) {
    if (std::byte* bytes = quick(address.value, sizeof(T), {.write = true})) {
      std::memcpy(bytes, &value, sizeof(T));
      return true;
    }
    return write(address, std::as_bytes(std::span(&value, 1)));
  }

  // The host bytes behind one page, for clients that do their own copying or an atomic operation: as many as lie in the
  // page from `address` on. Empty: a null page, a hole or a fault that was skipped (then `stopped` is false).
  struct View {
    std::span<std::byte> bytes;
    bool stopped = false;
    bool null = false;       // a null page or tile: completes with the null indicator
    uint8_t type_index = 0;  // memory type of the page (memory_type.h)
  };
  View view(GpuVa address, Access access);

  void invalidate();  // every translation of this space
  void invalidate_page(GpuVa address);
  // Software answered a page request: only a cached fault of the page goes.
  void page_response(GpuVa address);
  uint64_t filtered_faults() const { return filtered_faults_; }
  const WalkStatistics& walk_statistics() const { return walk_statistics_; }
  SpaceTag tag() const { return tag_; }
  WalkCache& walk_cache() { return walk_cache_; }

 private:
  static constexpr size_t kBatch = 32;

  // The entry of an access that the TLB or the short way serve from memory. Null: take the long way.
  const TlbEntry* quick_entry(uint64_t address, Access access) {
    if (epoch_ != memory_->epoch()) [[unlikely]] {
      return nullptr;
    }
    const Tlb::Place place = tlb_->find(tag_, address >> kFrameBits);
    if (const TlbEntry* entry = tlb_->at(place)) {
      return entry->frame != nullptr && tlb_->serves(*entry, access) ? entry : nullptr;
    }
    return quick_miss(place, address, access);
  }
  const TlbEntry* quick_miss(Tlb::Place place, uint64_t address, Access access);
  // The host bytes of such an access, when it lies in one page.
  std::byte* quick(uint64_t address, size_t bytes, Access access) {
    const uint64_t offset = address & (kFrameBytes - 1);
    if (bytes - 1 >= kFrameBytes - offset) [[unlikely]] {  // also when there are none
      return nullptr;
    }
    const TlbEntry* entry = quick_entry(address, access);
    return entry == nullptr ? nullptr : entry->frame + offset;
  }
  void prefetch_entries(std::span<const GpuVa> addresses) const;
  bool read_pages(uint64_t at, std::span<std::byte> into, bool instruction);
  bool write_pages(uint64_t at, std::span<const std::byte> from);
  // The entry that serves the access, or null when a fault was skipped or stopped it.
  const TlbEntry* resolve(uint64_t address, Access access, bool& stopped);
  std::byte* frame_of(MemorySpace space, uint64_t address);
  void forget_frames();
  const TlbEntry* miss(uint64_t address, Access access, const TlbEntry* found, bool& stopped);
  bool pre_translate(uint64_t address, Access access, uint64_t& walked, TlbEntry& entry, bool& stopped);
  WalkResult find_page(uint64_t address, Access access);
  void unmapped(uint64_t address, const TlbEntry* entry) {
    if (entry != nullptr && entry->tile != Tile::mapped && pre_ != nullptr) {
      pre_->on_unmapped_tile(address, entry->tile);
    }
  }

  const PhysicalMemory* memory_;
  Tlb* tlb_;
  FaultHandler* faults_;
  PreTranslation* pre_ = nullptr;
  WalkContext context_;
  uint64_t epoch_;         // of the memory that the cached frames belong to
  DirectRange ranges_[2];  // by MemorySpace
  QuickWalk quick_;
  WalkCache walk_cache_;
  WalkStatistics walk_statistics_;
  SpaceTag tag_;
  bool in_tile_table_ = false;  // a tiled resource table is being read: its address is not translated again
  uint64_t filtered_faults_ = 0;
};

}  // namespace halogen
