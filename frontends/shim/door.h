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
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "driver/kernel.h"
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

  // A new descriptor. Negative: an errno.
  int open(NodeKind kind, int flags);
  // The node behind a descriptor; null: it is something else.
  std::shared_ptr<Node> find(int descriptor);

  int ioctl(int descriptor, Node& node, unsigned long request, uint64_t argument);
  // For descriptors that are not nodes. Nothing: the host's.
  std::optional<int> other_ioctl(int descriptor, unsigned long request, uint64_t argument);
  // As mmap(2), errno included.
  void* map(int descriptor, Node& node, void* address, size_t bytes, int protection, int flags, uint64_t offset);

  // Memory of the program's is about to go: what works on it ends first.
  static void forget(void* address, size_t bytes);

  void write_report();

 private:
  explicit Door(pid_t pid) : pid_(pid) {}
  bool boot();
  void serve();                                // a thread
  void serve_client(int channel, Node& node);  // a thread for each
  void drop(ino_t inode);
  static Door* known();  // of this process; null: none yet
  static void before_fork();
  static void after_fork_here();
  static void after_fork_there();

  pid_t pid_;
  Door* next_ = nullptr;
  std::mutex booting_;
  std::unique_ptr<driver::Kernel> kernel_;
  std::atomic<bool> booted_{false};
  std::unique_ptr<Report> report_;
  std::unique_ptr<Recording> recording_;
  bool failed_ = false;
  bool frames_ = false;  // somebody wants what the screen shows
  int poll_ = -1;
  std::mutex guard_;  // of the table
  std::map<ino_t, std::shared_ptr<Node>> nodes_;
  std::set<int> ours_;  // descriptors that a child must not keep
  uint64_t opened_ = 0;
};

}  // namespace halogen::shim
