// The parts of this process's memory that programs have lent to the device (USERPTR). The front end checks them before
// memory is unmapped.
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
  void remove(uint64_t address, uint64_t bytes);  // must have been added before
  bool touches(uint64_t address, uint64_t bytes) const;
  // Fast test without a lock: whether a range touches the span from the first to the last lent byte. Most callers stop
  // here.
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
