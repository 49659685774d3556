// The parts of this process's memory that programs have lent to the device (USERPTR). The front end checks them before
// memory is unmapped. While it is being unmapped, the memory is leaving, and no call may give it to the device again.
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
  // Fast test without a lock: returns whether a range overlaps the span from the first to the last lent byte. Most
  // callers stop here.
  static bool is_near(uint64_t address, uint64_t bytes) { return address < end_ && first_ < address + bytes; }
  static bool any() { return end_ != 0; }

  struct Range {
    uint64_t address, bytes;
    bool operator==(const Range&) const = default;
    bool touches(uint64_t other, uint64_t length) const { return other < address + bytes && address < other + length; }
  };

  // A range that is leaving. It is a part of the list itself, because free(3) must not allocate.
  struct Leaving : Range {
    Leaving* next = nullptr;
  };
  // Call begin_leaving() before waiting for the device's work on the range, and end_leaving() after the range is
  // unmapped.
  void begin_leaving(Leaving& range);
  void end_leaving(Leaving& range);
  bool is_leaving(uint64_t address, uint64_t bytes) const;

  std::mutex& guard() { return guard_; }  // held around fork(2)
  // Forgets what threads of the parent were unmapping. Call it in a child, with the guard held.
  void forget_leaving() { leaving_ = nullptr; }

 private:
  void measure();

  mutable std::mutex guard_;
  std::vector<Range> ranges_;
  Leaving* leaving_ = nullptr;
  static inline std::atomic<uint64_t> first_ = 0, end_ = 0;
};

}  // namespace halogen::driver
