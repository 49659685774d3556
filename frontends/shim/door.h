// The device nodes that this process has open, and the device behind them. An open node is one end of a socket pair: a
// real descriptor with its own inode, so that the host itself implements dup, fcntl, poll, close and SCM_RIGHTS. The
// other end stays here and tells when the last descriptor is closed, in this process and all others. Its name
// identifies a node to every process.
//
// The device lives in the process that opened the node first. Another process that holds a descriptor of the node (a
// child after fork, or a receiver by SCM_RIGHTS) sends its calls through it (remote.h). A node that it opens itself is
// a separate device.
//
// Nothing here is ever destroyed, because programs call it from exit handlers.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "clients.h"
#include "driver/core/counter_file.h"
#include "driver/core/driver.h"
#include "driver/core/tracepoints.h"
#include "paths.h"
#include "recording.h"
#include "remote.h"
#include "report.h"
#include "rule_notice.h"
#include "video_notice.h"

namespace halogen::shim {

struct Node {
  NodeKind kind = NodeKind::render;
  int peer = -1;                       // our end
  std::shared_ptr<driver::File> file;  // null: another process has the device
  std::unique_ptr<Remote> remote;
};

class Door {
 public:
  // Returns the door of this process. Null: no device is configured.
  static Door* get();
  static bool is_there() { return known() != nullptr; }

  // Returns a new descriptor or a negative errno.
  int open(NodeKind kind, int flags);
  // Returns the node of a descriptor. Null: not a node.
  std::shared_ptr<Node> find(int descriptor);

  int ioctl(int descriptor, Node& node, unsigned long request, uint64_t argument);
  // Handles an ioctl of a descriptor that is not a node. Empty: the host handles it.
  std::optional<int> other_ioctl(int descriptor, unsigned long request, uint64_t argument);
  // Maps memory of a node like mmap(2), including errno.
  void* map(int descriptor, Node& node, void* address, size_t bytes, int protection, int flags, uint64_t offset);

  // Returns the error for a mapping of a shared buffer beyond its end. Empty: the host decides.
  static std::optional<int> check_shared_map(int descriptor, size_t bytes, uint64_t offset);
  // Waits for work on memory whose access rights the program is about to reduce.
  static void on_rights_reduced(const void* address, size_t bytes);
  // Waits for work on memory that is about to be unmapped by calls that cannot be intercepted.
  static void settle(const void* address, size_t bytes);
  // Performs read(2) on a stream of performance counters, including errno.
  static ssize_t read_stream(int descriptor, void* into, size_t bytes);
  static void pass_stream_time(int descriptor, uint64_t ns);
  static bool is_inside();  // whether this thread is inside the driver
  // Returns whether a buffer is mapped at this address.
  static bool is_mapping(const void* address, size_t bytes);
  // Returns a descriptor that replaces a shared buffer in poll(2), or a negative errno.
  static int fence_file(int descriptor, bool also_reads);
  // Returns the door that must be notified of unmapped memory. Null: no device is started, or this
  // thread is inside the driver.
  static Door* to_notify();
  driver::Driver& driver() { return *driver_; }

  void write_report();

 private:
  explicit Door(pid_t pid) : pid_(pid) {}
  bool boot();
  bool serves(int descriptor);
  // Makes a call on a stream of another process's device, by `function` of the remote node that has it.
  template <class Function>
  int on_remote_stream(Function function);
  void serve();  // runs in a thread
  void drop(ino_t inode);
  void wait_for_closes();
  static Door* known();  // null: this process has no door
  static void before_fork();
  static void after_fork_here();
  static void after_fork_there();
  void unlock();  // after a fork

  pid_t pid_;
  Door* next_ = nullptr;
  std::mutex booting_;
  std::unique_ptr<driver::Driver> driver_;
  std::unique_ptr<Clients> clients_;
  std::atomic<bool> booted_{false};
  std::unique_ptr<Report> report_;
  std::unique_ptr<Recording> recording_;
  VideoNotice video_notice_;
  std::optional<RuleNotice> rule_notice_;
  std::unique_ptr<driver::Tracepoints> tracepoints_;
  std::unique_ptr<driver::CounterFile> counters_;
  bool failed_ = false;
  bool frames_ = false;  // frames of the screen were requested
  int poll_ = -1;
  std::mutex guard_;      // guards the table
  unsigned closing_ = 0;  // files removed from the table but not yet closed
  std::condition_variable closed_;
  std::map<ino_t, std::shared_ptr<Node>> nodes_;
  uint64_t opened_ = 0;
};

// Encloses a call that unmaps, replaces or protects memory. The device does not get lent memory there meanwhile.
class LeavingGuard {
 public:
  LeavingGuard(const void* address, size_t bytes);
  ~LeavingGuard();
  LeavingGuard(const LeavingGuard&) = delete;
  LeavingGuard& operator=(const LeavingGuard&) = delete;

 private:
  Door* door_;  // null: nothing there is lent
  driver::LentMemory::Leaving range_;
};

// Waits for work on memory of the program that is about to be unmapped. The object must live until the memory is
// unmapped.
class UnmapGuard {
 public:
  UnmapGuard(void* address, size_t bytes);
  ~UnmapGuard();
  UnmapGuard(const UnmapGuard&) = delete;
  UnmapGuard& operator=(const UnmapGuard&) = delete;
  // Reports that the memory was moved instead.
  void move_to(const void* address, size_t bytes);

 private:
  LeavingGuard leaving_;
  Door* door_;
  std::vector<driver::BufferRef> kept_;
};

}  // namespace halogen::shim
