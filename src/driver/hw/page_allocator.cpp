#include "driver/hw/page_allocator.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/exhaustion.h"

namespace halogen::driver {
namespace {

constexpr size_t kMaxRecent = 256;  // of each size

// False: the list is full.
bool has_room(std::vector<uint64_t>& recent) {
  if (recent.size() == kMaxRecent) return false;
  if (recent.size() < recent.capacity()) return true;
  constexpr size_t kFirst = 8;
  return completes([&] { recent.reserve(std::min(kMaxRecent, std::max(kFirst, 2 * recent.size()))); });
}

}  // namespace

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
  prepare_to_give();
  for (int round = 0; round < 2; ++round) {
    auto after = free_.upper_bound(address);
    if (after != free_.begin()) {
      const auto range = std::prev(after);
      const auto [start, length] = *range;
      if (address + bytes <= start + length) {
        discard(range);
        if (address > start) put(start, address - start);
        if (address + bytes < start + length) put(address + bytes, start + length - address - bytes);
        free_bytes_ -= bytes;
        ++taken_;
        return true;
      }
    }
    forget_recent();
  }
  return false;
}

void PageAllocator::give(uint64_t address, uint64_t bytes) noexcept {
  if (bytes == 0) return;
  free_bytes_ += bytes;
  const uint64_t pages = bytes / kPageBytes;
  if (pages <= kRecentPages && has_room(recent_[pages - 1])) {
    recent_[pages - 1].push_back(address);
    return;
  }
  join(address, bytes);
}

// Allocates the node that one more taken range needs.
void PageAllocator::prepare_to_give() {
  while (free_.size() + spare_.size() < taken_ + 2) spare_.emplace(next_spare_++, 0);
}

void PageAllocator::put(uint64_t address, uint64_t bytes) {
  if (spare_.empty()) spare_.emplace(next_spare_++, 0);  // only if a taken range is freed in parts
  Ranges::node_type node = spare_.extract(spare_.begin());
  node.key() = address;
  node.mapped() = bytes;
  free_.insert(std::move(node));
}

// Keeps the node, unless there are many more than needed.
void PageAllocator::discard(Ranges::iterator range) {
  Ranges::node_type node = free_.extract(range);
  constexpr uint64_t kReserve = 1024;
  if (spare_.size() > kReserve && free_.size() + spare_.size() > 2 * taken_) return;
  node.key() = next_spare_++;
  spare_.insert(std::move(node));
}

void PageAllocator::join(uint64_t address, uint64_t bytes) {
  --taken_;
  if (const auto after = free_.find(address + bytes); after != free_.end()) {
    bytes += after->second;
    discard(after);
  }
  const auto after = free_.lower_bound(address);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address) {
      before->second += bytes;
      return;
    }
  }
  put(address, bytes);
}

void PageAllocator::forget_recent() {
  for (uint64_t pages = 1; pages <= kRecentPages; ++pages) {
    for (const uint64_t address : recent_[pages - 1]) join(address, pages * kPageBytes);
    recent_[pages - 1].clear();
  }
}

}  // namespace halogen::driver
