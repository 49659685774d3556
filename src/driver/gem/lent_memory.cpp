#include "driver/gem/lent_memory.h"

#include <algorithm>

namespace halogen::driver {

// Never destroyed, because programs free memory in exit handlers.
LentMemory& LentMemory::of_process() {
  static LentMemory& all = *new LentMemory;
  return all;
}

void LentMemory::add(uint64_t address, uint64_t bytes) {
  const std::lock_guard lock(guard_);
  ranges_.push_back({address, bytes});
  measure();
}

void LentMemory::remove(uint64_t address, uint64_t bytes) {
  const std::lock_guard lock(guard_);
  const auto found = std::find(ranges_.begin(), ranges_.end(), Range{address, bytes});
  if (found == ranges_.end()) return;
  *found = ranges_.back();
  ranges_.pop_back();
  measure();
}

void LentMemory::measure() {
  uint64_t first = ~uint64_t{0}, end = 0;
  for (const Range& each : ranges_) {
    first = std::min(first, each.address);
    end = std::max(end, each.address + each.bytes);
  }
  first_ = first;
  end_ = end;
}

bool LentMemory::touches(uint64_t address, uint64_t bytes) const {
  if (!is_near(address, bytes)) return false;
  const std::lock_guard lock(guard_);
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& each) { return each.touches(address, bytes); });
}

void LentMemory::begin_leaving(Leaving& range) {
  const std::lock_guard lock(guard_);
  range.next = leaving_;
  leaving_ = &range;
}

void LentMemory::end_leaving(Leaving& range) {
  const std::lock_guard lock(guard_);
  for (Leaving** each = &leaving_; *each != nullptr; each = &(*each)->next) {
    if (*each != &range) continue;
    *each = range.next;
    return;
  }
}

bool LentMemory::is_leaving(uint64_t address, uint64_t bytes) const {
  const std::lock_guard lock(guard_);
  for (const Leaving* each = leaving_; each != nullptr; each = each->next) {
    if (each->touches(address, bytes)) return true;
  }
  return false;
}

}  // namespace halogen::driver
