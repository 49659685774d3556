#include "driver/hw/page_allocator.h"

#include <iterator>

namespace halogen::driver {

PageAllocator::PageAllocator(uint64_t first, uint64_t end) : free_bytes_(end - first), all_bytes_(end - first) {
  if (end > first) free_[first] = end - first;
}

std::optional<uint64_t> PageAllocator::take(uint64_t bytes, uint64_t alignment, uint64_t limit) {
  if (bytes == 0) return std::nullopt;
  const uint64_t pages = bytes / kPageBytes;
  if (pages <= kRecentPages && alignment <= kPageBytes && limit == ~uint64_t{0} && !recent_[pages - 1].empty()) {
    const uint64_t address = recent_[pages - 1].back();
    recent_[pages - 1].pop_back();
    free_bytes_ -= bytes;
    return address;
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto& [start, length] : free_) {
      const uint64_t address = (start + alignment - 1) / alignment * alignment;
      if (address < start || address + bytes > limit) break;
      if (address + bytes <= start + length && take_at(address, bytes)) return address;
    }
    forget_recent();  // then search again
  }
  return std::nullopt;
}

bool PageAllocator::take_at(uint64_t address, uint64_t bytes) {
  if (bytes == 0 || address + bytes < address) return false;
  for (int round = 0; round < 2; ++round) {
    auto after = free_.upper_bound(address);
    if (after != free_.begin()) {
      const auto range = std::prev(after);
      const auto [start, length] = *range;
      if (address + bytes <= start + length) {
        free_.erase(range);
        if (address > start) free_[start] = address - start;
        if (address + bytes < start + length) free_[address + bytes] = start + length - address - bytes;
        free_bytes_ -= bytes;
        return true;
      }
    }
    forget_recent();
  }
  return false;
}

void PageAllocator::give(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  free_bytes_ += bytes;
  const uint64_t pages = bytes / kPageBytes;
  if (pages <= kRecentPages && recent_[pages - 1].size() < 256) {
    recent_[pages - 1].push_back(address);
    return;
  }
  join(address, bytes);
}

void PageAllocator::join(uint64_t address, uint64_t bytes) {
  auto after = free_.lower_bound(address);
  if (after != free_.end() && after->first == address + bytes) {
    bytes += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address) {
      before->second += bytes;
      return;
    }
  }
  free_[address] = bytes;
}

void PageAllocator::forget_recent() {
  for (uint64_t pages = 1; pages <= kRecentPages; ++pages) {
    for (const uint64_t address : recent_[pages - 1]) join(address, pages * kPageBytes);
    recent_[pages - 1].clear();
  }
}

}  // namespace halogen::driver
