// Physical memory as the device sees it: system memory that the host provides, stolen ranges, and local memory on chips
// that have it. Addresses without memory are holes. Nothing outside the windows is ever accessed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/strong.h"

namespace halogen::memory {

// Two address spaces that both start at zero. A page table entry's local memory bit chooses.
enum class MemorySpace : uint8_t { system, local };

// The kind of memory behind a window. Access rules differ; the CPU reaches stolen memory only through the
// aperture, and the page tables' own memory only through its alias.
enum class MemoryKind : uint8_t { ram, data_stolen, gtt_stolen, wopcm, local };

std::string_view name_of(MemoryKind kind);

inline constexpr unsigned kFrameBits = 12;
inline constexpr uint64_t kFrameBytes = uint64_t{1} << kFrameBits;

// Provides the bytes of single frames. The host address of a frame stays the same until PhysicalMemory::revoke().
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  // Null: no memory. `number` counts frames from the window's start.
  virtual std::byte* frame(uint64_t number) = 0;

  // Returns a piece of host memory that holds frame `number` and perhaps its neighbours, from frame `first` on. Clients
  // keep it until PhysicalMemory::revoke(). The bytes are those of frame(). Empty: no memory.
  struct Piece {
    uint64_t first = 0;
    std::span<std::byte> bytes;
  };
  virtual Piece piece(uint64_t number) {
    std::byte* bytes = frame(number);
    return bytes == nullptr ? Piece{} : Piece{number, {bytes, kFrameBytes}};
  }
};

// One contiguous piece of host memory.
class FlatFrames final : public FrameSource {
 public:
  explicit FlatFrames(std::span<std::byte> bytes) : bytes_(bytes.first(bytes.size() / kFrameBytes * kFrameBytes)) {}
  std::byte* frame(uint64_t number) override {
    return number < bytes_.size() / kFrameBytes ? bytes_.data() + number * kFrameBytes : nullptr;
  }
  Piece piece(uint64_t number) override { return frame(number) == nullptr ? Piece{} : Piece{0, bytes_}; }

 private:
  std::span<std::byte> bytes_;
};

// Frames that are allocated, as zeros, at their first access: for traces, whose memory is scattered. At most `limit`
// frames are allocated.
class SparseFrames final : public FrameSource {
 public:
  explicit SparseFrames(uint64_t frames, uint64_t limit = uint64_t{1} << 20);
  ~SparseFrames() override;
  std::byte* frame(uint64_t number) override;
  uint64_t touched() const { return touched_; }

 private:
  static constexpr unsigned kLeafBits = 10;
  using Frame = std::unique_ptr<std::byte[]>;
  using Leaf = std::unique_ptr<Frame[]>;

  uint64_t frames_;
  uint64_t limit_;
  uint64_t touched_ = 0;
  std::vector<Leaf> leaves_;
};

struct MemoryWindow {
  MemorySpace space = MemorySpace::system;
  MemoryKind kind = MemoryKind::ram;
  uint64_t first = 0;  // address
  uint64_t bytes = 0;
  FrameSource* source = nullptr;

  bool contains(MemorySpace in, uint64_t address) const {
    return in == space && address >= first && address - first < bytes;
  }
};

// Addresses that one piece of host memory serves: `host` is the byte at `first`.
struct DirectRange {
  uint64_t first = 0;
  uint64_t bytes = 0;
  std::byte* host = nullptr;
};

class PhysicalMemory {
 public:
  // A client that keeps host addresses between two calls of the device. They become stale when a window is added or
  // removed, or when memory is revoked, and the client is notified.
  class Watcher {
   public:
    explicit Watcher(const PhysicalMemory& memory);
    virtual ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    virtual void drop_host_addresses() = 0;

   private:
    std::shared_ptr<std::vector<Watcher*>> all_;
  };

  PhysicalMemory() = default;
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  // Adds a window. It hides earlier windows at the same addresses: a stolen range lies over RAM.
  void add(MemoryWindow window);
  void remove_all(MemorySpace space);
  // Makes every watcher drop its host addresses, before host memory is unmapped, replaced or used for something else.
  // Costs nothing if no address was returned since the last call.
  void revoke();

  const MemoryWindow* window_at(MemorySpace space, PhysAddr address) const;

  // Returns the host address of the frame that holds `address`. Null: a hole. A watcher may keep it until
  // drop_host_addresses(), any other client until the current call of the device ends.
  std::byte* frame(MemorySpace space, PhysAddr address) const {
    note_given();
    return find_frame(space, address);
  }

  // Returns the addresses around `address` that one piece of host memory serves, in whole frames. Empty: a hole. The
  // rule of frame() applies.
  DirectRange direct_range(MemorySpace space, PhysAddr address) const;

  // Copy across frames. False: a part lies in a hole; it reads as zero, or its write is dropped.
  bool read(MemorySpace space, PhysAddr address, std::span<std::byte> into) const;
  bool write(MemorySpace space, PhysAddr address, std::span<const std::byte> from) const;

 private:
  std::byte* find_frame(MemorySpace space, PhysAddr address) const;
  void tell() const;
  // Called on several threads of the host at once.
  void note_given() const {
    if (!given_.load(std::memory_order_relaxed)) {
      given_.store(true, std::memory_order_relaxed);
    }
  }

  std::vector<MemoryWindow> windows_;
  mutable std::atomic<bool> given_ = false;  // host addresses were returned since the last revoke()
  std::shared_ptr<std::vector<Watcher*>> watchers_ = std::make_shared<std::vector<Watcher*>>();
};

}  // namespace halogen::memory
