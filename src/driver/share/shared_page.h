// Shared memory in which the drivers of several processes describe one buffer or sync object: which processes take
// part, and what each has promised and done. Each process writes only its own row. Data of other processes is never
// trusted: numbers are compared but not used as offsets, and the row of a dead process counts as done.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "driver/share/descriptor_charge.h"
#include "driver/share/peer_processes.h"

namespace halogen::driver {

// The row of one process. Counters only grow. A promise has the value of its counter at that time, and is kept when the
// matching done counter reaches that value.
struct Member {
  std::atomic<uint64_t> number;  // 0: the row is free
  std::atomic<uint64_t> space;
  std::atomic<uint64_t> started;
  std::atomic<uint64_t> process;
  std::atomic<uint64_t> writes;
  std::atomic<uint64_t> writes_done;
  std::atomic<uint64_t> uses;  // reads and writes
  std::atomic<uint64_t> uses_done;
  std::atomic<uint32_t> failures;  // number of requests that failed
  std::atomic<uint32_t> busy;      // engines, in the format of GEM_BUSY
  std::atomic<uint32_t> waits;     // wants wake-ups
  std::atomic<uint32_t> has_wake_socket;
  uint32_t unused[4];
  std::array<std::atomic<uint64_t>, 4> name;
  // The last requests that failed. Each is described before the number of failures and the done counters change.
  static constexpr size_t kFailures = 4;
  struct Failure {
    std::atomic<uint64_t> use;
    std::atomic<uint64_t> write;  // 0: it only reads
    std::atomic<int64_t> error;   // a negative errno
    uint64_t unused;
  };
  std::array<Failure, kFailures> failed;
};
static_assert(sizeof(Member) == 256 && std::atomic<uint64_t>::is_always_lock_free);

class SharedPage {
 public:
  static constexpr size_t kMembers = 32;
  static constexpr uint64_t kBytes = 8192;

  // `bytes`: size of the mapping; the rows take the first kBytes. Null: out of memory, or no row is free.
  static std::unique_ptr<SharedPage> open(PeerProcesses& peers, int descriptor, uint64_t offset, uint64_t bytes);
  ~SharedPage();
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;

  PeerProcesses& peers() const { return peers_; }
  Member& mine() const { return rows()[own_]; }
  Member& row(size_t index) const { return rows()[index]; }
  size_t own_row() const { return own_; }
  std::byte* behind_rows() const { return memory_ + kBytes; }
  static PeerProcess peer_of(const Member& row);
  std::string name_of(size_t index) const;
  bool has_others() const;
  // Wakes the peers that wait, or all.
  void wake_others(bool all) const;

  // Lock what must change together. The host releases the lock when a process ends. A lock that stays taken for too
  // long is ignored (LockPatience).
  void lock();
  void unlock();

 private:
  explicit SharedPage(PeerProcesses& peers) : peers_(peers) {}
  bool join();
  Member* rows() const { return reinterpret_cast<Member*>(memory_); }
  bool lock_file(short kind) const;

  PeerProcesses& peers_;
  int file_ = -1;
  DescriptorCharge charge_;  // of file_
  uint64_t offset_ = 0;
  std::byte* memory_ = nullptr;
  uint64_t bytes_ = 0;
  size_t own_ = kMembers;
  bool locked_ = false;
  LockPatience::Page known_;
};

}  // namespace halogen::driver
