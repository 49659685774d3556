// Memory that belongs to the device: local memory of discrete parts and the stolen range of integrated ones. Only used
// frames take host memory. A frame's host address never changes while the device lives, so that TLBs may keep it, over
// resets and restored snapshots too. Content is saved as SparseMemory.
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
  // Beyond `max_resident` bytes in use, frames that were not used before are holes. With `held`, frames lie in this
  // memory, which a front end owns and may write to; it saves the frames that only it has used.
  explicit OwnFrames(uint64_t bytes, uint64_t max_resident = ~uint64_t{0}, std::span<std::byte> held = {});
  ~OwnFrames() override;
  OwnFrames(const OwnFrames&) = delete;
  OwnFrames& operator=(const OwnFrames&) = delete;

  // Sets a function that is called, one call at a time, before memory is allocated. If it returns false, the frame is a
  // hole. Empty: no function.
  void set_permit(std::function<bool(uint64_t bytes)> permit) { permit_ = std::move(permit); }

  uint64_t size() const { return bytes_; }
  std::byte* frame(uint64_t number) override;  // allocated, as zeros, at the first use; any thread may call it

  // Copy without allocating frames for reads. Ranges are clipped at the end.
  void read(uint64_t address, std::span<std::byte> out) const;
  bool write(uint64_t address, std::span<const std::byte> data);  // false: a part lies in a hole
  uint64_t resident_bytes() const { return used_.load(std::memory_order_relaxed); }
  // Visits everything that was ever used, in no order.
  void visit(const std::function<void(uint64_t address, std::span<const std::byte>)>& see) const;

  void clear();
  SparseMemory save() const;  // without pages of zeros
  void load(const SparseMemory& image);

 private:
  static constexpr uint64_t kChunkBytes = SparseMemory::kPageBytes;

  struct Free {
    void operator()(std::byte** table) const { std::free(table); }
  };

  std::byte* chunk(uint64_t number);  // allocates it; null: the limit is reached
  std::byte* find_chunk(uint64_t number) const {
    return std::atomic_ref(chunks_[number]).load(std::memory_order_acquire);
  }
  // Returns a chunk without allocating it. Null: all zeros.
  const std::byte* content(uint64_t number) const {
    const std::byte* const found = find_chunk(number);
    return found != nullptr || held_.empty() ? found : held_.data() + number * kChunkBytes;
  }
  std::vector<uint64_t> made() const;

  uint64_t bytes_;
  uint64_t max_resident_;
  std::function<bool(uint64_t)> permit_;
  uint64_t chunk_count_;
  std::span<std::byte> held_;
  std::unique_ptr<std::byte*[], Free> chunks_;  // null: zero. A wide address range costs nothing until it is used
  std::atomic<uint64_t> used_{0};
  mutable std::mutex guard_;
  std::vector<uint64_t> made_;  // numbers of chunks; guarded by guard_
};

// A part of another source, for a window of its own.
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
