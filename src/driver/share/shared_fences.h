// The fences of a buffer that several processes use: what this one's work does to it is told to the others, and theirs
// are fences here. It lies behind the buffer's bytes, in pages of the same file that no program maps.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driver/share/shared_page.h"
#include "driver/sync/fence.h"

namespace halogen::driver {

// A fence that somebody must look at, because another process signals it.
class WatchedFence : public Fence {
 public:
  virtual void look() = 0;                              // is it done?
  virtual int descriptor() const { return -1; }         // can be read when it may be worth a look
  virtual int process_fd() { return -1; }               // likewise
  virtual bool needs_polling() const { return false; }  // it must be looked at from time to time
};
using Watch = std::function<void(const std::shared_ptr<WatchedFence>&)>;

class SharedFences : public std::enable_shared_from_this<SharedFences> {
 public:
  static constexpr uint64_t kBytes = SharedPage::kBytes;

  // Null: no memory, or too many processes have it.
  static std::shared_ptr<SharedFences> open(PeerProcesses& peers, Watch watch, int descriptor, uint64_t offset);
  explicit SharedFences(std::unique_ptr<SharedPage> page, Watch watch);

  // Work of this process.
  void add(const FenceRef& fence, bool write);
  // What others still do. `also_reads`: false: only who writes.
  void list(bool also_reads, std::vector<FenceRef>& into);
  void list_own(bool also_reads, std::vector<FenceRef>& into) const;
  bool is_idle() const { return open_.empty(); }  // this process's
  uint32_t engines() const;                       // of others, as GEM_BUSY tells them

  SharedPage& page() { return *page_; }
  uint64_t order() const { return order_; }  // in which locks are taken, the same for all

 private:
  friend class SharedFence;
  struct Open {
    std::weak_ptr<Fence> fence;
    uint64_t use;
    uint64_t write;  // 0: it only reads
    int engine_class;
  };
  void retire(int error);
  void tell_engines();
  bool is_open(size_t row, bool also_reads) const;

  std::unique_ptr<SharedPage> page_;
  Watch watch_;
  uint64_t order_ = 0;
  std::vector<Open> open_;
  uint64_t writes_ = 0;
  uint64_t uses_ = 0;
  std::array<std::array<std::weak_ptr<WatchedFence>, 2>, SharedPage::kMembers> known_;
  unsigned waiting_ = 0;
};

// The locks of all of them, for as long as this lives.
class SharedLocks {
 public:
  void add(const std::shared_ptr<SharedFences>& fences);  // before lock()
  void lock();
  ~SharedLocks();
  SharedLocks() = default;
  SharedLocks(const SharedLocks&) = delete;
  SharedLocks& operator=(const SharedLocks&) = delete;

 private:
  std::vector<std::shared_ptr<SharedFences>> all_;
  bool locked_ = false;
};

}  // namespace halogen::driver
