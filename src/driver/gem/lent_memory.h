// Which parts of this process's memory programs have lent to the device (USERPTR), for those who must know before such
// memory goes.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace halogen::driver {

class LentMemory {
 public:
  static LentMemory& of_process();

  void add(uint64_t address, uint64_t bytes);
  void remove(uint64_t address, uint64_t bytes);  // one that was added
  bool touches(uint64_t address, uint64_t bytes) const;
  // Whether a range touches what lies between the first and the last: without a lock, from anywhere, for the many who
  // have nothing to do with it.
  static bool is_near(uint64_t address, uint64_t bytes) { return address < end_ && first_ < address + bytes; }
  static bool any() { return end_ != 0; }

  std::mutex& guard() { return guard_; }  // held around fork(2)

 private:
  struct Range {
    uint64_t address, bytes;
    bool operator==(const Range&) const = default;
  };
  void measure();

  mutable std::mutex guard_;
  std::vector<Range> ranges_;
  static inline std::atomic<uint64_t> first_ = 0, end_ = 0;
};

}  // namespace halogen::driver
