// Memory that drivers of several processes share about one thing, a buffer or a sync object: who takes part, what each
// has promised and done. Each writes its own row only. What others wrote is never trusted: numbers are compared, never
// used as places, and a row whose process is gone counts as done.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "driver/share/peer_processes.h"

namespace halogen::driver {

// One process's row. Counts only grow: what is promised has the number to which its count then grew, and is done when
// the count of what is done has reached it.
struct Member {
  std::atomic<uint64_t> number;  // 0: nobody's
  std::atomic<uint64_t> space;
  std::atomic<uint64_t> started;
  std::atomic<uint64_t> process;
  std::atomic<uint64_t> writes;
  std::atomic<uint64_t> writes_done;
  std::atomic<uint64_t> uses;  // reads and writes
  std::atomic<uint64_t> uses_done;
  std::atomic<int32_t> error;   // of the last one that failed
  std::atomic<uint32_t> busy;   // engines, as GEM_BUSY tells them
  std::atomic<uint32_t> waits;  // wants to be woken
  std::atomic<uint32_t> has_wake_socket;
  uint32_t unused[4];
  std::array<std::atomic<uint64_t>, 4> name;
};
static_assert(sizeof(Member) == 128 && std::atomic<uint64_t>::is_always_lock_free);

class SharedPage {
 public:
  static constexpr size_t kMembers = 32;
  static constexpr uint64_t kBytes = 4096;

  // `bytes`: of which the first kBytes are rows. Null: no memory, or no row is free.
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
  // Those who wait, or all.
  void wake_others(bool all) const;

  // Nobody else changes what belongs together meanwhile. The host lets go of it when a process ends, and whoever
  // keeps it for long loses it: then this goes on without.
  void lock();
  void unlock();

 private:
  explicit SharedPage(PeerProcesses& peers) : peers_(peers) {}
  bool join();
  Member* rows() const { return reinterpret_cast<Member*>(memory_); }
  bool lock_file(short kind) const;

  PeerProcesses& peers_;
  int file_ = -1;
  uint64_t offset_ = 0;
  std::byte* memory_ = nullptr;
  uint64_t bytes_ = 0;
  size_t own_ = kMembers;
  bool locked_ = false;
};

}  // namespace halogen::driver
