// A sync object that several processes have: a list of what was done to it, in memory that they share. Each process
// does the same to its own object, so that all are alike. An entry holds a fence of the process that added it, which
// says there when it is done. Entries that no longer matter make room; with more in flight than there is room for, the
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
  // `fence`: null: emptied.
  using Apply = std::function<void(Change, FenceRef fence, uint64_t point)>;

  // `descriptor`: a file of kBytes. Null: no memory, or too many have it.
  static std::shared_ptr<SharedObject> open(PeerProcesses& peers, Watch watch, int descriptor);
  SharedObject(std::unique_ptr<SharedPage> page, Watch watch) : page_(std::move(page)), watch_(std::move(watch)) {}

  // Whether others did something since.
  bool is_old() const { return head().next.load() != seen_; }
  // What they did, in order; the first may empty what there was.
  void take(const Apply& apply);
  // One more, after those of others, which are applied before it.
  void add(Change change, const FenceRef& fence, uint64_t point, const Apply& apply);

 private:
  friend class EntryFence;
  struct Head {
    std::atomic<uint64_t> first, next;  // numbers of entries
  };
  struct Entry {
    std::atomic<uint64_t> state;  // its number, and in the low bits what became of it
    std::atomic<uint64_t> change;
    std::atomic<uint64_t> point;
    std::atomic<uint64_t> row;  // whose fence it is; kNobody: it was done at once
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
  std::map<uint64_t, std::weak_ptr<Fence>> own_;  // open ones, by their entries
};

}  // namespace halogen::driver
