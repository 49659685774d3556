// The device nodes that this process has open, and the device behind them. An open node is one end of a pair of
// sockets: a real descriptor with an inode of its own, so that the host itself does dup, fcntl, poll, close and
// SCM_RIGHTS. The other end stays here and tells when the last descriptor is gone, in this process and all others. It
// has a name by which everybody knows a node when he sees one.
//
// The device lives in the process that opened the node first. Another process that holds a descriptor of the node (a
// child after fork, or one that got it by SCM_RIGHTS) sends its calls through it (remote.h); what it opens itself is a
// device of its own.
//
// Nothing here is ever destroyed: programs call from their exit handlers.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "driver/core/driver.h"
#include "driver/core/tracepoints.h"
#include "paths.h"
#include "recording.h"
#include "remote.h"
#include "report.h"

namespace halogen::shim {

struct Node {
  NodeKind kind = NodeKind::render;
  int peer = -1;                       // our end
  std::shared_ptr<driver::File> file;  // null: the device is another process's
  std::unique_ptr<Remote> remote;
};

class Door {
 public:
  // Of this process; null: the environment asks for none.
  static Door* get();
  static bool is_there() { return known() != nullptr; }

  // A new descriptor. Negative: an errno.
  int open(NodeKind kind, int flags);
  // The node behind a descriptor; null: it is something else.
  std::shared_ptr<Node> find(int descriptor);

  int ioctl(int descriptor, Node& node, unsigned long request, uint64_t argument);
  // For descriptors that are not nodes. Nothing: the host's.
  std::optional<int> other_ioctl(int descriptor, unsigned long request, uint64_t argument);
  // As mmap(2), errno included.
  void* map(int descriptor, Node& node, void* address, size_t bytes, int protection, int flags, uint64_t offset);

  // What is wrong with a mapping of a shared buffer that is larger than it; nothing: the host knows.
  static std::optional<int> check_shared_map(int descriptor, size_t bytes, uint64_t offset);
  // The program is about to forbid that memory there is read or written.
  static void lose_rights(const void* address, size_t bytes);
  // Memory there is about to go by calls that nobody sees: what works on it ends first.
  static void settle(const void* address, size_t bytes);
  static bool is_inside();  // this thread is at work in the driver
  // A buffer shows there.
  static bool is_mapping(const void* address, size_t bytes);
  // Instead of a shared buffer, for poll(2). Or a negative errno.
  static int fence_file(int descriptor, bool also_reads);
  // The door that hears of memory that goes; null: none, or it is inside.
  static Door* to_tell();
  driver::Driver& driver() { return *driver_; }

  void write_report();

 private:
  explicit Door(pid_t pid) : pid_(pid) {}
  bool boot();
  bool serves(int descriptor);
  void serve();                                // a thread
  void serve_client(int channel, Node& node);  // a thread for each
  void drop(ino_t inode);
  void wait_for_closes();
  static Door* known();  // of this process; null: none yet
  static void before_fork();
  static void after_fork_here();
  static void after_fork_there();
  void unlock();  // after a fork

  pid_t pid_;
  Door* next_ = nullptr;
  std::mutex booting_;
  std::unique_ptr<driver::Driver> driver_;
  std::atomic<bool> booted_{false};
  std::unique_ptr<Report> report_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<driver::Tracepoints> tracepoints_;
  bool failed_ = false;
  bool frames_ = false;  // somebody wants what the screen shows
  int poll_ = -1;
  std::mutex guard_;      // of the table
  unsigned closing_ = 0;  // files out of the table that are not closed yet
  std::condition_variable closed_;
  std::map<ino_t, std::shared_ptr<Node>> nodes_;
  uint64_t opened_ = 0;
};

// Memory of the program's that is about to go: what works on it ends first. Lives until it is gone.
class Leaving {
 public:
  Leaving(void* address, size_t bytes);
  ~Leaving();
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  // It went elsewhere instead.
  void move_to(const void* address, size_t bytes);

 private:
  Door* door_;
  std::vector<driver::BufferRef> kept_;
};

}  // namespace halogen::shim
