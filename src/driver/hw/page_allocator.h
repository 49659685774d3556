// Allocates ranges of whole pages of a memory or of an address space: first fit, and adjacent free ranges are merged.
// Recently freed ranges are reused without a search. Freeing needs no memory of the host: what it will need is
// allocated with the range.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace halogen::driver {

inline constexpr uint64_t kPageBytes = 4096;

class PageAllocator {
 public:
  PageAllocator(uint64_t first, uint64_t end);  // bytes, whole pages

  // Allocates `bytes` (whole pages) at a multiple of `alignment`, below `limit`.
  std::optional<uint64_t> take(uint64_t bytes, uint64_t alignment = kPageBytes, uint64_t limit = ~uint64_t{0});
  // Allocates exactly this range. False: a part of it is in use.
  bool take_at(uint64_t address, uint64_t bytes);
  // Frees a whole range that was taken.
  void give(uint64_t address, uint64_t bytes) noexcept;

  uint64_t free_bytes() const { return free_bytes_; }
  uint64_t all_bytes() const { return all_bytes_; }

 private:
  static constexpr uint64_t kRecentPages = 16;
  using Ranges = std::map<uint64_t, uint64_t>;  // address -> bytes

  void prepare_to_give();
  void put(uint64_t address, uint64_t bytes);
  void discard(Ranges::iterator range);
  void join(uint64_t address, uint64_t bytes);
  void forget_recent();

  Ranges free_;
  // Nodes for later free ranges. The number of free ranges is at most one more than that of taken ranges, and free_ and
  // spare_ together hold at least that many nodes.
  Ranges spare_;
  uint64_t next_spare_ = 0;
  uint64_t taken_ = 0;  // ranges, with those in recent_
  std::array<std::vector<uint64_t>, kRecentPages> recent_;
  uint64_t free_bytes_;
  uint64_t all_bytes_;
};

}  // namespace halogen::driver
