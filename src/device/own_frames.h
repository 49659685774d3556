// Memory that belongs to the device: local memory of discrete parts and the stolen range of integrated ones. It costs
// only what was touched. A frame's address never changes while the device lives, so that TLBs may keep it, over resets
// and restored snapshots too. Content is saved as SparseMemory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/sparse_memory.h"
#include "memory/physical_memory.h"

namespace halogen::device {

class OwnFrames final : public memory::FrameSource {
 public:
  // Beyond `most_resident` bytes in use nothing new comes into being: a hole. With `held`, frames lie there, in memory
  // that somebody else holds and may write to; what only he touched is his to save.
  explicit OwnFrames(uint64_t bytes, uint64_t most_resident = ~uint64_t{0}, std::span<std::byte> held = {});
  ~OwnFrames() override;
  OwnFrames(const OwnFrames&) = delete;
  OwnFrames& operator=(const OwnFrames&) = delete;

  // Asked, one at a time, before something new comes into being: false makes a hole of it. Empty: nobody is asked.
  void set_permit(std::function<bool(uint64_t bytes)> permit) { permit_ = std::move(permit); }

  uint64_t size() const { return bytes_; }
  std::byte* frame(uint64_t number) override;  // comes into being, as zeros, at the first touch; any thread may ask

  // Without touching what was never written. Ranges are clipped at the end.
  void read(uint64_t address, std::span<std::byte> out) const;
  bool write(uint64_t address, std::span<const std::byte> data);  // false: a part fell into a hole
  uint64_t resident_bytes() const { return used_.load(std::memory_order_relaxed); }
  // Everything that was ever touched, in no order.
  void visit(const std::function<void(uint64_t address, std::span<const std::byte>)>& see) const;

  void clear();
  SparseMemory save() const;  // without pages of zeros
  void load(const SparseMemory& image);

 private:
  static constexpr uint64_t kChunkBytes = SparseMemory::kPageBytes;

  struct Free {
    void operator()(std::byte** table) const { std::free(table); }
  };

  std::byte* chunk(uint64_t number);  // creates it; null: there is enough of them
  std::byte* find_chunk(uint64_t number) const {
    return std::atomic_ref(chunks_[number]).load(std::memory_order_acquire);
  }
  // Without creating: null when it is all zeros.
  const std::byte* content(uint64_t number) const {
    const std::byte* const found = find_chunk(number);
    return found != nullptr || held_.empty() ? found : held_.data() + number * kChunkBytes;
  }
  std::vector<uint64_t> made() const;

  uint64_t bytes_;
  uint64_t most_resident_;
  std::function<bool(uint64_t)> permit_;
  uint64_t chunk_count_;
  std::span<std::byte> held_;
  std::unique_ptr<std::byte*[], Free> chunks_;  // null: zero. A wide address range costs nothing until it is touched
  std::atomic<uint64_t> used_{0};
  mutable std::mutex guard_;
  std::vector<uint64_t> made_;  // numbers of chunks, behind guard_
};

// A part of another source, as a window of its own.
class FrameSlice final : public memory::FrameSource {
 public:
  FrameSlice(memory::FrameSource& source, uint64_t first_byte)
      : source_(source), first_(first_byte >> memory::kFrameBits) {}
  std::byte* frame(uint64_t number) override { return source_.frame(first_ + number); }

 private:
  memory::FrameSource& source_;
  uint64_t first_;
};

}  // namespace halogen::device
