// One client's view of graphics memory: every access of every engine goes through an AddressSpace. An access takes the
// first of three ways that serves it. hit_inline: a hit in the front of the TLB, or one entry of a known page table.
// hit_or_short_walk: any hit, or one entry behind a cached table. full_walk: everything else, faults included. The
// client's fault handler decides what software sees of a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/strong.h"
#include "memory/access.h"
#include "memory/copy_bytes.h"
#include "memory/quick_walk.h"
#include "memory/tlb.h"
#include "memory/walk_cache.h"
#include "memory/walker.h"

namespace halogen::memory {

// The outcome of an access that cannot be translated.
enum class FaultAction : uint8_t {
  skip,    // reads give zero, writes are dropped, the access counts as done
  filter,  // the same, and the TLB keeps the fault: repeats are dropped unreported until a page response or
           // invalidation
  stop,    // the access does not happen; the client repeats it
  hang,    // the access does not happen; the engine hangs
  wait,    // the access does not happen; the engine waits for a page response
};

class FaultHandler {
 public:
  virtual ~FaultHandler() = default;
  virtual FaultAction on_fault(const Fault& fault) = 0;
  // Called for a page above 64 KB while the GTT cache is on. Software must not use such pages then.
  virtual void on_large_page(uint64_t /*address*/) {}
  // Called for a page in snooped system memory. Not every client of Gen4 may use it.
  virtual void on_snooped_page(uint64_t /*address*/) {}
};

// Translates a graphics address to another one before the page tables do: tiled resources (TR-TT).
class PreTranslation {
 public:
  struct Result {
    uint64_t address = 0;
    Tile tile = Tile::mapped;                // null and invalid: reads give zero, writes are dropped
    AccessResult result = AccessResult::ok;  // of the reads of the table
  };

  virtual ~PreTranslation() = default;
  // Returns whether the table serves the address.
  virtual bool covers(uint64_t address) = 0;
  virtual Result translate(uint64_t address, Access access) = 0;
  // Called for each access to a tile that is not mapped, cached or not.
  virtual void on_unmapped_tile(uint64_t address, Tile tile) = 0;
  // Tells where an X-tiled surface lies: it may not have tiles that are not mapped. Forgotten with the next context.
  virtual void on_x_tiled_surface(uint64_t /*base*/, uint64_t /*bytes*/) {}
  virtual void on_load() {}  // of a context
};

struct WalkStatistics {
  // Walks after TLB misses. Short walks are counted per TLB, so other clients' short walks are included.
  uint64_t walks = 0;
  uint64_t entry_loads = 0;
};

class BufferedSpeculation;

class AddressSpace final : private PhysicalMemory::Watcher {
 public:
  AddressSpace(const PhysicalMemory& memory, Tlb& tlb, SpaceTag tag, FaultHandler& faults)
      : Watcher(memory),
        front_(tlb.front()),
        space_key_(TlbFront::space_key(tag)),
        memory_(&memory),
        tlb_(&tlb),
        faults_(&faults),
        tag_(tag) {}

  // Loads a new context and drops every cached translation of the old one.
  void load(const WalkContext& context);
  const WalkContext& context() const { return context_; }
  void set_pre_translation(PreTranslation* pre);
  void note_x_tiled_surface(uint64_t base, uint64_t bytes) {
    if (pre_ != nullptr) {
      pre_->on_x_tiled_surface(base, bytes);
    }
  }
  // Routes every access to `speculation` (buffered_speculation.h). Only for a space that was never loaded.
  void set_speculation(BufferedSpeculation* speculation) { speculation_ = speculation; }
  const PhysicalMemory& memory() const { return *memory_; }

  // Copy bytes. If a fault stops the access, the bytes before it are copied.
  AccessResult read(GpuVa address, std::span<std::byte> into, bool instruction = false) {
    return into.size() == kLine && !instruction ? transfer_line(address, into.data())
                                                : transfer(address, into, {.instruction = instruction});
  }
  AccessResult write(GpuVa address, std::span<const std::byte> from) {
    return from.size() == kLine ? transfer_line(address, from.data()) : transfer(address, from, kWrite);
  }

  // Make independent accesses of one size, as a SIMD message does. Their bytes are adjacent on the host's side. The
  // result is that of one `read` or `write` after another, but the waits for memory overlap.
  AccessResult read_each(std::span<const GpuVa> addresses, size_t bytes, std::byte* into);
  AccessResult write_each(std::span<const GpuVa> addresses, size_t bytes, const std::byte* from);

  // Load or store one value, aligned or not. Zero: a fault stopped the load.
  template <class T>
  T load_value(GpuVa address) {
    T value{};
    std::byte* frame = nullptr;
    if (hit_inline(address.value, sizeof(T), {}, frame)) [[likely]] {
      std::memcpy(&value, frame + address.value % kFrameBytes, sizeof(T));
    } else {
      static_cast<void>(transfer_pages(address.value, std::as_writable_bytes(std::span(&value, 1)), {}));
    }
    return value;
  }
  template <class T>
  AccessResult store_value(GpuVa address, T value) {
    std::byte* frame = nullptr;
    if (hit_inline(address.value, sizeof(T), kWrite, frame)) [[likely]] {
      std::memcpy(frame + address.value % kFrameBytes, &value, sizeof(T));
      return AccessResult::ok;
    }
    return transfer_pages(address.value, std::as_bytes(std::span(&value, 1)), kWrite);
  }

  // Returns the host bytes from `address` to the end of its page, for clients that copy themselves or do an atomic
  // operation. Empty: the access did not happen, or it is a null page, a hole or a skipped fault (`result` is then ok).
  struct View {
    std::span<std::byte> bytes;
    AccessResult result = AccessResult::ok;
    bool null = false;       // a null page or tile: completes with the null indicator
    uint8_t type_index = 0;  // memory type of the page (memory_type.h)
  };
  View view(GpuVa address, Access access);
  // Returns the first host byte of the page of `address`. Null: the access needs a full walk; ask view().
  std::byte* page_at(GpuVa address, Access access) {
    std::byte* frame = nullptr;
    return hit_inline(address.value, 1, access, frame) ? frame : hit_or_short_walk(address.value, access);
  }

  // Returns the frame of an access without an effect on translation caches and page tables. Null: the access may fault
  // or touch a null page.
  std::byte* look_up_frame(GpuVa address, Access access) const;

  // Enclose one piece of work, however many accesses it makes; only its first skipped fault raises an Event. `skipped`:
  // the faults of its earlier parts.
  void begin_work(uint64_t skipped) {
    in_work_ = true;
    work_ = {skipped, AccessResult::ok};
  }
  struct Work {
    uint64_t skipped = 0;  // faults, with those of the earlier parts
    AccessResult result = AccessResult::ok;
  };
  Work end_work() {
    in_work_ = false;
    return work_;
  }

  void invalidate();                    // drops every translation of this space
  void invalidate_page(GpuVa address);  // drops one page, whatever its size
  // Drops a cached fault of the page after software has answered a page request.
  void page_response(GpuVa address);
  uint64_t filtered_faults() const { return filtered_faults_; }
  WalkStatistics walk_statistics() const;
  SpaceTag tag() const { return tag_; }

 private:
  static constexpr size_t kLine = 64;
  static constexpr size_t kBatch = 32;

  // Finds the frame of an access in one page without a call. The host CPU overlaps several such accesses only
  // if each is short, so every instruction counts.
  [[gnu::always_inline]] bool hit_inline(uint64_t address, size_t bytes, Access access, std::byte*& frame) {
    if (bytes - 1 >= kFrameBytes || address % kFrameBytes > kFrameBytes - bytes) [[unlikely]] {
      return false;
    }
    const uint64_t page = address >> kFrameBits;
    const TlbFront::Place place = front_.place(page, space_key_);
    if (const TlbSlot* slot = TlbFront::find(place)) {
      if (!slot->serves(access, direct_.written())) [[unlikely]] {
        return false;
      }
      front_.count_hit();
      frame = slot->frame;
      return true;
    }
    const WalkCache::Table& table = walk_cache_.table_at(page);
    const uint64_t index = page - table.first_page;
    if (index >= WalkCache::kPagesInRange) [[unlikely]] {
      return false;
    }
    uint64_t stamp = 0;
    TlbSlot* slot = TlbFront::choose(place, stamp);
    if (slot == nullptr) [[unlikely]] {
      frame = hit_or_short_walk(address, access);
      return frame != nullptr;
    }
    const uint64_t entry = load_shared(table.entries + index);
    const uint64_t offset = direct_.offset(entry, access.direction);
    if (!direct_.serves(offset)) [[unlikely]] {
      return false;
    }
    frame = direct_.frame(offset);
    TlbFront::put(place, slot, stamp, frame, entry);
    return true;
  }
  // `Byte` is const for a write, whose bytes come from the host.
  template <class Byte>
  AccessResult transfer(GpuVa address, std::span<Byte> host, Access access);
  template <class Byte>
  [[gnu::always_inline]] AccessResult transfer_line(GpuVa address, Byte* host) {
    constexpr Access kAccess = std::is_const_v<Byte> ? kWrite : kRead;
    std::byte* frame = nullptr;
    if (!hit_inline(address.value, kLine, kAccess, frame)) [[unlikely]] {
      return transfer_pages(address.value, std::span(host, kLine), kAccess);
    }
    copy(host, frame + address.value % kFrameBytes, kLine);
    return AccessResult::ok;
  }
  // Copy from memory to the host if `host` is writable, from the host to memory if `host` is const.
  static void copy(std::byte* host, std::byte* memory, size_t bytes) { copy_bytes(host, memory, bytes); }
  static void copy(const std::byte* host, std::byte* memory, size_t bytes) { copy_bytes(memory, host, bytes); }
  template <class Byte>
  AccessResult transfer_pages(uint64_t at, std::span<Byte> host, Access access);
  template <class Byte>
  AccessResult transfer_each(std::span<const GpuVa> addresses, size_t bytes, Byte* host, Access access);
  void prefetch_entries(std::span<const GpuVa> addresses) const;

  // Returns the frame of an access that the TLB or a short walk serves. Null: the access needs a full walk.
  std::byte* hit_or_short_walk(uint64_t address, Access access);
  // If there is no entry, a fault was skipped (`result` is ok) or stopped the access.
  struct Translation {
    std::optional<TlbEntry> entry;
    AccessResult result = AccessResult::ok;
  };
  Translation full_walk(uint64_t address, Access access);
  std::byte* frame_of(MemorySpace space, uint64_t address);
  void drop_host_addresses() override;
  void find_direct_entries(MemorySpace space);
  Translation walk_and_fill(uint64_t address, Access access);
  TlbEntry new_entry(uint64_t address) const;
  bool fill_mapped(uint64_t address, uint64_t walked, Access access, TlbEntry& entry, Fault& fault);
  AccessResult handle_fault(uint64_t address, Fault& fault);
  PreTranslation::Result pre_translate(uint64_t address, Access access);
  WalkResult walk_tables(uint64_t address, Access access);
  void unmapped(uint64_t address, const std::optional<TlbEntry>& entry) {
    if (entry && entry->tile != Tile::mapped && pre_ != nullptr) {
      pre_->on_unmapped_tile(address, entry->tile);
    }
  }

  // hit_inline reads these members, so they share cache lines.
  TlbFront front_;
  uint64_t space_key_;
  DirectEntries direct_;
  WalkCache walk_cache_;

  const PhysicalMemory* memory_;
  Tlb* tlb_;
  FaultHandler* faults_;
  PreTranslation* pre_ = nullptr;
  BufferedSpeculation* speculation_ = nullptr;
  WalkContext context_;
  DirectRange ranges_[2];                           // by MemorySpace
  MemorySpace direct_space_ = MemorySpace::system;  // of direct_
  QuickWalk quick_;
  WalkStatistics walk_statistics_;  // without the walks that the TLB counts
  SpaceTag tag_;
  bool in_tile_table_ = false;  // a tiled resource table is being read, so its address is not translated again
  uint64_t filtered_faults_ = 0;
  bool in_work_ = false;
  Work work_;
};

extern template AccessResult AddressSpace::transfer(GpuVa, std::span<std::byte>, Access);
extern template AccessResult AddressSpace::transfer(GpuVa, std::span<const std::byte>, Access);
extern template AccessResult AddressSpace::transfer_pages(uint64_t, std::span<std::byte>, Access);
extern template AccessResult AddressSpace::transfer_pages(uint64_t, std::span<const std::byte>, Access);

}  // namespace halogen::memory
