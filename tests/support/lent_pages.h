// Pages of host memory that a test lends to the model and takes back. Pages that were taken back are protected, so that
// a late access ends the test with SIGSEGV. So is the page behind the last one.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "memory/physical_memory.h"

namespace halogen::test {

class LentPages final : public memory::FrameSource {
 public:
  explicit LentPages(uint64_t bytes) : frames_((bytes + memory::kFrameBytes - 1) / memory::kFrameBytes) {
    void* const place = mmap(nullptr, frames_.size() * memory::kFrameBytes + memory::kFrameBytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(place != MAP_FAILED, "address space for lent pages");
    base_ = static_cast<std::byte*>(place);
    check(mprotect(base_, frames_.size() * memory::kFrameBytes, PROT_READ | PROT_WRITE) == 0, "access to lent pages");
  }
  ~LentPages() override { munmap(base_, frames_.size() * memory::kFrameBytes + memory::kFrameBytes); }
  LentPages(const LentPages&) = delete;
  LentPages& operator=(const LentPages&) = delete;

  std::byte* data() const { return base_; }
  std::span<std::byte> bytes() const { return {base_, frames_.size() * memory::kFrameBytes}; }
  size_t size() const { return bytes().size(); }

  // Takes `count` frames back from `memory`, whose source this is.
  void take_back(memory::PhysicalMemory& memory, uint64_t first, uint64_t count) {
    for (uint64_t frame = first; frame < first + count; ++frame) frames_.at(frame) = Frame::taken_back;
    some_taken_ = true;
    memory.revoke();
    check(mprotect(base_ + first * memory::kFrameBytes, count * memory::kFrameBytes, PROT_NONE) == 0,
          "protection of pages that were taken back");
  }

  std::byte* frame(uint64_t number) override {
    return number < frames_.size() && frames_[number] == Frame::lent ? base_ + number * memory::kFrameBytes : nullptr;
  }
  Piece piece(uint64_t number) override {
    std::byte* const bytes = frame(number);
    if (bytes == nullptr) return {};
    return some_taken_ ? Piece{number, {bytes, memory::kFrameBytes}} : Piece{0, this->bytes()};
  }

 private:
  enum class Frame : uint8_t { lent, taken_back };

  std::vector<Frame> frames_;
  std::byte* base_ = nullptr;
  bool some_taken_ = false;
};

}  // namespace halogen::test
