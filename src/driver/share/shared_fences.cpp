#include "driver/share/shared_fences.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "driver/gem/file_key.h"

namespace halogen::driver {

namespace {

using Clock = std::chrono::steady_clock;
// A peer that makes no progress for this long is not waited for any more.
constexpr std::chrono::seconds kStallTimeout{300};
constexpr std::chrono::milliseconds kListenInterval{500};  // how often the peer's socket is checked

}  // namespace

// A fence for the work that one peer has promised, up to a count.
class SharedFence final : public WatchedFence {
 public:
  SharedFence(std::shared_ptr<SharedFences> fences, size_t row, bool also_reads)
      : fences_(std::move(fences)), row_(row), also_reads_(also_reads) {
    const Member& other = fences_->page().row(row_);
    peer_ = SharedPage::peer_of(other);
    promised = also_reads_ ? other.uses : other.writes;
    name_ = fences_->page().name_of(row_);
    seen_ = done_before_ = count();
    failures_before_ = other.failures;
    ++fences_->waiting_;
    fences_->page().mine().waits = 1;
  }
  ~SharedFence() override {
    if (!done) stop();
  }

  void look() override {
    if (done) return;
    const Member& other = fences_->page().row(row_);
    const uint64_t now = count();
    if (other.number != peer_.number) {  // the peer left after finishing its work
      finish_with(0);
    } else if (now >= promised) {
      finish_with(first_error());
    } else if (!fences_->page().peers().is_alive(peer_)) {
      finish_with(-EIO);
    } else {
      look_after(now);
    }
  }
  int process_fd() override { return fences_->page().peers().pidfd_of(peer_); }
  bool needs_polling() const override { return true; }
  std::string driver_name() const override { return "0000:00:02.0"; }
  std::string timeline_name() const override { return name_; }
  uint64_t promised = 0;
  uint64_t owner() const { return peer_.number; }

 private:
  void look_after(uint64_t now) {
    const auto time = Clock::now();
    if (now != seen_) {
      seen_ = now;
      since_ = time;
    }
    if (time - listened_ > kListenInterval) {
      listened_ = time;
      if (!fences_->page().peers().still_listens(peer_)) finish_with(-EIO);
    }
    if (!done && time - since_ > kStallTimeout) finish_with(-ETIMEDOUT);
  }
  // Returns the error of the first request of this promise that failed, as a fence of all of them would have it. If
  // more failed than the peer lists, one of this promise may have been among them.
  int first_error() const {
    const Member& other = fences_->page().row(row_);
    const uint32_t all = other.failures;
    for (uint32_t i = std::min<uint32_t>(all, Member::kFailures); i != 0; --i) {
      const Member::Failure& each = other.failed[(all - i) % Member::kFailures];
      const uint64_t point = also_reads_ ? each.use : each.write;
      if (point > done_before_ && point <= promised) return static_cast<int>(each.error);
    }
    return all - failures_before_ > Member::kFailures ? -EIO : 0;
  }
  uint64_t count() const {
    const Member& other = fences_->page().row(row_);
    return also_reads_ ? other.uses_done : other.writes_done;
  }
  void finish_with(int its_error) {
    stop();
    signal(its_error < 0 && its_error > -4096 ? its_error : 0);
  }
  void stop() {
    if (--fences_->waiting_ == 0) fences_->page().mine().waits = 0;
  }

  std::shared_ptr<SharedFences> fences_;
  size_t row_;
  bool also_reads_;
  PeerProcess peer_;
  std::string name_;
  uint64_t done_before_ = 0;  // what was done, and how many requests had failed, when the promise was made
  uint32_t failures_before_ = 0;
  uint64_t seen_ = 0;
  Clock::time_point since_ = Clock::now();
  Clock::time_point listened_ = since_;
};

std::shared_ptr<SharedFences> SharedFences::open(PeerProcesses& peers, Watch watch, int descriptor, uint64_t offset) {
  std::unique_ptr<SharedPage> page = SharedPage::open(peers, descriptor, offset, kBytes);
  const std::optional<FileKey> key = key_of(descriptor);
  if (!page || !key) return nullptr;
  auto made = std::make_shared<SharedFences>(std::move(page), std::move(watch));
  made->order_ = key->second;
  return made;
}

SharedFences::SharedFences(std::unique_ptr<SharedPage> page, Watch watch)
    : page_(std::move(page)), watch_(std::move(watch)) {}

void SharedFences::add(const FenceRef& fence, bool write) {
  if (fence->done) return;
  open_.push_back({fence, ++uses_, write ? ++writes_ : 0, fence->engine_class});
  if (write) page_->mine().writes = writes_;
  page_->mine().uses = uses_;
  tell_engines();
  fence->then([here = weak_from_this()] {
    if (const std::shared_ptr<SharedFences> fences = here.lock()) fences->retire();
  });
}

// Advances the done counters. A count is done when no open fence lies before it.
void SharedFences::retire() {
  std::erase_if(open_, [&](const Open& each) {
    const FenceRef fence = each.fence.lock();
    if (fence && !fence->done) return false;
    if (fence && fence->error != 0) tell_failure(each, fence->error);
    return true;
  });
  uint64_t writes = writes_;
  for (const Open& each : open_) {
    if (each.write == 0) continue;
    writes = each.write - 1;
    break;
  }
  Member& row = page_->mine();
  tell_engines();
  row.writes_done = writes;
  row.uses_done = open_.empty() ? uses_ : open_.front().use - 1;
  page_->wake_others(false);
}

void SharedFences::tell_failure(const Open& work, int error) {
  Member& row = page_->mine();
  Member::Failure& place = row.failed[row.failures % Member::kFailures];
  place.use = work.use;
  place.write = work.write;
  place.error = error;
  ++row.failures;
}

void SharedFences::tell_engines() {
  uint32_t engines = 0;
  constexpr uint32_t kFirstReader = 1u << 16;
  for (const Open& each : open_) {
    if (each.engine_class < 0) continue;
    engines |= kFirstReader << each.engine_class;
    if (each.write != 0) engines |= static_cast<uint32_t>(each.engine_class) + 1;
  }
  page_->mine().busy = engines;
}

bool SharedFences::is_open(size_t row, bool also_reads) const {
  const Member& other = page_->row(row);
  if (row == page_->own_row() || other.number.load() == 0) return false;
  const bool open = also_reads ? other.uses_done < other.uses : other.writes_done < other.writes;
  return open && page_->peers().is_alive(SharedPage::peer_of(other));
}

uint32_t SharedFences::engines() const {
  uint32_t engines = 0;
  for (size_t row = 0; row < SharedPage::kMembers; ++row) {
    if (is_open(row, true)) engines |= page_->row(row).busy;
  }
  return engines;
}

void SharedFences::list(bool also_reads, std::vector<FenceRef>& into) {
  for (size_t row = 0; row < SharedPage::kMembers; ++row) {
    if (!is_open(row, also_reads)) continue;
    std::weak_ptr<WatchedFence>& place = known_[row][also_reads];
    auto known = std::static_pointer_cast<SharedFence>(place.lock());
    const Member& other = page_->row(row);
    const uint64_t promised = also_reads ? other.uses : other.writes;
    if (!known || known->done || known->promised != promised || known->owner() != other.number) {
      known = std::make_shared<SharedFence>(shared_from_this(), row, also_reads);
      place = known;
      known->look();  // the peer wakes us from now on, but may have finished before
      if (!known->done) watch_(known);
    }
    if (!known->done) into.push_back(known);
  }
}

void SharedFences::list_own(bool also_reads, std::vector<FenceRef>& into) const {
  for (const Open& each : open_) {
    FenceRef fence = each.fence.lock();
    if (fence && !fence->done && (also_reads || each.write != 0)) into.push_back(std::move(fence));
  }
}

void SharedLocks::add(const std::shared_ptr<SharedFences>& fences) {
  if (std::find(all_.begin(), all_.end(), fences) == all_.end()) all_.push_back(fences);
}

void SharedLocks::lock() {
  std::sort(all_.begin(), all_.end(), [](const auto& one, const auto& two) { return one->order() < two->order(); });
  for (const auto& each : all_) each->page().lock();
  locked_ = true;
}

SharedLocks::~SharedLocks() {
  if (!locked_) return;
  for (const auto& each : all_) each->page().unlock();
}

}  // namespace halogen::driver
