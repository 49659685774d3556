// The fences of a buffer that several processes use. Each process publishes its own work and sees the work of its peers
// as fences. The data follows the buffer's bytes, in pages of the same file that programs do not map.
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

// A fence that must be checked, because another process signals it.
class WatchedFence : public Fence {
 public:
  virtual void look() = 0;                              // signals the fence if it is done
  virtual int descriptor() const { return -1; }         // readable when look() may find a change
  virtual int process_fd() { return -1; }               // readable when the process has ended
  virtual bool needs_polling() const { return false; }  // true: look() must be called periodically
};
using Watch = std::function<void(const std::shared_ptr<WatchedFence>&)>;

class SharedFences : public std::enable_shared_from_this<SharedFences> {
 public:
  static constexpr uint64_t kBytes = SharedPage::kBytes;

  // Null: out of memory, or too many processes use the buffer.
  static std::shared_ptr<SharedFences> open(PeerProcesses& peers, Watch watch, int descriptor, uint64_t offset);
  explicit SharedFences(std::unique_ptr<SharedPage> page, Watch watch);

  // Publishes work of this process.
  void add(const FenceRef& fence, bool write);
  // Lists the open work of peers; without `also_reads`, writes only.
  void list(bool also_reads, std::vector<FenceRef>& into);
  void list_own(bool also_reads, std::vector<FenceRef>& into) const;
  bool is_idle() const { return open_.empty(); }  // this process has no open work
  uint32_t engines() const;                       // of peers, in the format of GEM_BUSY

  SharedPage& page() { return *page_; }
  uint64_t order() const { return order_; }  // locking order, the same in all processes

 private:
  friend class SharedFence;
  struct Open {
    std::weak_ptr<Fence> fence;
    uint64_t use;
    uint64_t write;  // 0: a read
    int engine_class;
  };
  void retire();
  void tell_failure(const Open& work, int error);
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

// Holds the locks of several buffers during its lifetime.
class SharedLocks {
 public:
  void add(const std::shared_ptr<SharedFences>& fences);  // call before lock()
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
