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
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& each) {
    return address < each.address + each.bytes && each.address < address + bytes;
  });
}

}  // namespace halogen::driver
