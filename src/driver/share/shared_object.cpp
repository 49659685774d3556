#include "driver/share/shared_object.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

namespace halogen::driver {
namespace {

constexpr uint64_t kNoRow = ~uint64_t{0};
constexpr uint64_t kEmptied = kNoRow - 1;
// Low bits of a state: 0 while open, then 1 + the positive errno.
constexpr unsigned kStateBits = 16;
constexpr uint64_t kStateMask = (uint64_t{1} << kStateBits) - 1;

uint64_t state_of(uint64_t number, uint64_t became) {
  return number << kStateBits | became;
}

FenceRef done_fence(int error) {
  auto fence = std::make_shared<Fence>();
  fence->signal(error);
  return fence;
}

}  // namespace

// The fence of an entry that a peer added.
class EntryFence final : public WatchedFence {
 public:
  EntryFence(std::shared_ptr<SharedObject> object, uint64_t entry, size_t row)
      : object_(std::move(object)), number_(entry), peer_(SharedPage::peer_of(object_->page_->row(row))) {
    name_ = object_->page_->name_of(row);
  }
  void look() override {
    int its_error = 0;
    if (done) return;
    if (object_->is_done(number_, its_error)) {
      signal(its_error);
    } else if (!object_->page_->peers().is_alive(peer_)) {
      signal(object_->is_done(number_, its_error) ? its_error : -EIO);
    } else if (const auto now = std::chrono::steady_clock::now(); now - listened_ > std::chrono::milliseconds(500)) {
      listened_ = now;
      if (!object_->page_->peers().still_listens(peer_)) signal(-EIO);
    }
  }
  bool needs_polling() const override { return true; }
  int process_fd() override { return object_->page_->peers().pidfd_of(peer_); }
  std::string driver_name() const override { return "0000:00:02.0"; }
  std::string timeline_name() const override { return name_; }

 private:
  std::shared_ptr<SharedObject> object_;
  uint64_t number_;
  PeerProcess peer_;
  std::string name_;
  std::chrono::steady_clock::time_point listened_ = std::chrono::steady_clock::now();
};

std::shared_ptr<SharedObject> SharedObject::open(PeerProcesses& peers, Watch watch, int descriptor) {
  std::unique_ptr<SharedPage> page = SharedPage::open(peers, descriptor, 0, kBytes);
  if (!page) return nullptr;
  return std::make_shared<SharedObject>(std::move(page), std::move(watch));
}

bool SharedObject::is_done(uint64_t number, int& error) const {
  const uint64_t state = entry(number).state;
  error = 0;
  if (number < head().first.load() || state >> kStateBits != number << kStateBits >> kStateBits) return true;
  if ((state & kStateMask) == 0) return false;
  error = -static_cast<int>(std::min<uint64_t>((state & kStateMask) - 1, 4095));
  return true;
}

void SharedObject::set_done(uint64_t number, int error) {
  uint64_t open = state_of(number, 0);
  entry(number).state.compare_exchange_strong(open, state_of(number, 1 + static_cast<uint64_t>(-error)));
  own_.erase(number);
  page_->wake_others(true);
}

FenceRef SharedObject::fence_of(uint64_t number) {
  int error = 0;
  const uint64_t row = entry(number).row;
  if (row == kEmptied) return nullptr;
  if (row >= SharedPage::kMembers || is_done(number, error)) return done_fence(error);
  if (const auto known = own_.find(number); known != own_.end()) {
    if (FenceRef fence = known->second.lock()) return fence;
  }
  auto fence = std::make_shared<EntryFence>(shared_from_this(), number, row);
  fence->look();
  if (!fence->done) watch_(fence);
  return fence;
}

// Applies new entries. Needs the lock. Ends whatever the memory contains.
void SharedObject::read_new(const Apply& apply) {
  const uint64_t next = head().next;
  uint64_t from = seen_;
  seen_ = next;
  if (const uint64_t first = head().first; from < first || from > next) {  // peers made room meanwhile: start over
    apply(Change::fence, nullptr, 0);
    from = first;
  }
  if (next - from > kEntries) return;
  for (uint64_t number = from; number != next; ++number) {
    const bool is_point = entry(number).change == static_cast<uint64_t>(Change::point);
    FenceRef fence = fence_of(number);
    if (is_point && !fence) continue;
    apply(is_point ? Change::point : Change::fence, std::move(fence), entry(number).point);
  }
}

void SharedObject::take(const Apply& apply) {
  page_->lock();
  read_new(apply);
  page_->unlock();
}

// Drops entries that are before a change of the whole object, and points that are reached. Needs the lock.
void SharedObject::make_room() {
  const uint64_t next = head().next;
  uint64_t first = head().first;
  if (next - first < kEntries) return;
  if (next - first > kEntries) first = next - kEntries;  // not a value that this driver writes
  uint64_t keep = first;
  for (uint64_t number = first; number != next; ++number) {
    if (entry(number).change != static_cast<uint64_t>(Change::point)) keep = number;
  }
  if (keep == first) {
    int error = 0;
    uint64_t highest = 0;
    for (; keep != next && is_done(keep, error); ++keep) highest = std::max(highest, entry(keep).point.load());
    if (keep != first && entry(--keep).change == static_cast<uint64_t>(Change::point)) entry(keep).point = highest;
  }
  head().first = std::max(keep, first + 1);
}

void SharedObject::add(Change change, const FenceRef& fence, uint64_t point, const Apply& apply) {
  page_->lock();
  read_new(apply);
  make_room();
  const uint64_t number = head().next;
  Entry& place = entry(number);
  const bool open = fence && !fence->done;
  const uint64_t error = fence && fence->done ? static_cast<uint64_t>(-fence->error) : 0;
  place.change = static_cast<uint64_t>(change);
  place.point = point;
  place.row = !fence ? kEmptied : (open ? page_->own_row() : kNoRow);
  place.state = state_of(number, open ? 0 : 1 + error);
  seen_ = number + 1;
  head().next = number + 1;
  page_->unlock();
  apply(change, fence, point);
  if (open) {
    own_[number] = fence;
    fence->then([here = shared_from_this(), number, weak = std::weak_ptr(fence)] {
      const FenceRef done = weak.lock();
      here->set_done(number, done ? done->error : 0);
    });
  }
  page_->wake_others(true);
}

}  // namespace halogen::driver
