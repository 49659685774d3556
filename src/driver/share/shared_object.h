// A sync object that several processes share: a log of its changes in shared memory. Each process applies the log to
// its own object, so that all copies are equal. An entry holds a fence of the process that added it, and that process
// marks it as done. Entries without further effect are dropped. If more fences are open than the log can hold, the
// oldest counts as done.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "driver/share/shared_fences.h"
#include "driver/share/shared_page.h"
#include "driver/sync/fence.h"

namespace halogen::driver {

class SharedObject : public std::enable_shared_from_this<SharedObject> {
 public:
  static constexpr uint64_t kEntries = 384;
  static constexpr uint64_t kBytes = SharedPage::kBytes + 4096 + 32 * kEntries;

  enum class Change : uint64_t { fence = 1, point = 2 };
  // `fence` null: the object was reset.
  using Apply = std::function<void(Change, FenceRef fence, uint64_t point)>;

  // `descriptor`: a file of kBytes. Null: out of memory, or too many processes use it.
  static std::shared_ptr<SharedObject> open(PeerProcesses& peers, Watch watch, int descriptor);
  SharedObject(std::unique_ptr<SharedPage> page, Watch watch) : page_(std::move(page)), watch_(std::move(watch)) {}

  // Returns whether peers have added changes.
  bool is_old() const { return head().next.load() != seen_; }
  // Applies the changes of peers in order. The first one may reset the object.
  void take(const Apply& apply);
  // Adds a change, after applying those of peers.
  void add(Change change, const FenceRef& fence, uint64_t point, const Apply& apply);

 private:
  friend class EntryFence;
  struct Head {
    std::atomic<uint64_t> first, next;  // entry numbers
  };
  struct Entry {
    std::atomic<uint64_t> state;  // its number; the low bits hold the result
    std::atomic<uint64_t> change;
    std::atomic<uint64_t> point;
    std::atomic<uint64_t> row;  // row of the fence's process; kNoRow: the fence was already done
  };
  static_assert(sizeof(Entry) == 32);
  Head& head() const { return *reinterpret_cast<Head*>(page_->behind_rows()); }
  Entry& entry(uint64_t number) const {
    return reinterpret_cast<Entry*>(page_->behind_rows() + 4096)[number % kEntries];
  }
  void read_new(const Apply& apply);
  void make_room();
  FenceRef fence_of(uint64_t number);
  bool is_done(uint64_t number, int& error) const;
  void set_done(uint64_t number, int error);

  std::unique_ptr<SharedPage> page_;
  Watch watch_;
  uint64_t seen_ = 0;
  std::map<uint64_t, std::weak_ptr<Fence>> own_;  // open fences, by entry
};

}  // namespace halogen::driver
