// One client's view of graphics memory: every access of every engine goes through an AddressSpace. It asks its TLB,
// walks on a miss, and copies. Faults are handed to the client's fault handler, which decides what software sees.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/strong.h"
#include "memory/tlb.h"
#include "memory/walk_cache.h"
#include "memory/walker.h"

namespace halogen {

// What becomes of an access that cannot be translated.
enum class FaultAction : uint8_t {
  skip,   // reads give zero, writes are dropped, the access counts as done
  retry,  // the handler changed something (a page response): walk again
  stop,   // the engine stops here; the access did not happen
};

class FaultHandler {
 public:
  virtual ~FaultHandler() = default;
  virtual FaultAction on_fault(const Fault& fault) = 0;
};

// Translates a graphics address into another one in front of the page tables: tiled resources (TR-TT).
class PreTranslation {
 public:
  struct Result {
    uint64_t address = 0;
    bool null = false;    // reads give zero, writes are dropped
    bool failed = false;  // the table walk met a fault that nobody mended
  };

  virtual ~PreTranslation() = default;
  // False: the address is not in the range that the table serves.
  virtual bool covers(uint64_t address) const = 0;
  virtual Result translate(uint64_t address, Access access) = 0;
};

class AddressSpace {
 public:
  AddressSpace(const PhysicalMemory& memory, Tlb& tlb, SpaceTag tag, FaultHandler& faults)
      : memory_(&memory), tlb_(&tlb), faults_(&faults), tag_(tag) {}

  // A new context: every cached translation of the old one goes.
  void load(const WalkContext& context);
  const WalkContext& context() const { return context_; }
  void set_pre_translation(PreTranslation* pre) { pre_ = pre; }

  // Copies. False when an access was stopped by a fault; what came before it is done.
  bool read(GpuVa address, std::span<std::byte> into, bool instruction = false);
  bool write(GpuVa address, std::span<const std::byte> from);

  // One value, naturally aligned or not. Zero when stopped.
  template <class T>
  T load_value(GpuVa address) {
    T value{};
    read(address, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  template <class T>
  bool store_value(GpuVa address, T value) {
    return write(address, std::as_bytes(std::span(&value, 1)));
  }

  // The host bytes behind one page, for clients that do their own copying or an atomic operation: as many as lie in the
  // page from `address` on. Empty: a null page, a hole or a fault that was skipped (then `stopped` is false).
  struct View {
    std::span<std::byte> bytes;
    bool stopped = false;
  };
  View view(GpuVa address, Access access);

  void invalidate();  // every translation of this space
  void invalidate_page(GpuVa address);
  SpaceTag tag() const { return tag_; }
  WalkCache& walk_cache() { return walk_cache_; }

 private:
  // The entry that serves the access, or null when a fault was skipped or stopped it.
  const TlbEntry* resolve(uint64_t address, Access access, bool& stopped);
  const TlbEntry* miss(uint64_t address, Access access, bool& stopped);

  const PhysicalMemory* memory_;
  Tlb* tlb_;
  FaultHandler* faults_;
  PreTranslation* pre_ = nullptr;
  WalkContext context_;
  WalkCache walk_cache_;
  SpaceTag tag_;
};

}  // namespace halogen
