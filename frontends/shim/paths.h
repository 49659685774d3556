// Path redirection. A program that opens /dev/dri or the parts of /sys about graphics gets files of the tree (tree.h);
// those of the host stay hidden.
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include <array>
#include <optional>
#include <string>

#include "driver/perf/perf_limits.h"

namespace halogen::shim {

enum class NodeKind : unsigned char { card, render };

constexpr unsigned kDrmMajor = 226;
constexpr unsigned minor_of(NodeKind kind) {
  return kind == NodeKind::card ? 0 : 128;
}

// The limits that an administrator can change.
constexpr char kLimitsFolder[] = "/proc/sys/dev/i915";
constexpr std::array kLimitFiles = {driver::kParanoidFile, driver::kMaxRateFile};

struct PathBuffer {
  char text[PATH_MAX];
};

class Paths {
 public:
  // Returns the paths of this process, created at first use and never destroyed. Null: no device is configured.
  static Paths* get();

  const std::string& device() const { return device_; }
  const std::string& root();

  // Returns the path to use instead, possibly in the buffer.
  const char* redirect(const char* path, PathBuffer& buffer);
  // Redirects a path relative to an open folder (libudev walks folders by descriptors).
  const char* redirect_at(int folder, const char* path, PathBuffer& buffer);
  // Returns the path of an open file of the tree, from "/" on. Empty: not in the tree.
  std::string path_in_tree(int descriptor) const;
  // Returns the original path of a path in the tree.
  const char* original(const char* path);

  // Returns the node of a file in the tree.
  std::optional<NodeKind> node(const struct stat& info);
  // Returns whether an inode can be that of a node. Entries of a folder have no more than an inode.
  bool may_be_node(ino_t inode) const { return inode != 0 && (inode == card_.inode || inode == render_.inode); }
  // Returns whether the path is a file of /sys or /proc in the tree. Programs can write only files that have an effect.
  bool is_of_sys(const char* path) const;
  bool is_control(const struct stat& info) const { return control_.inode != 0 && control_.fits(info); }
  // Returns the index of a file in kLimitFiles.
  std::optional<size_t> limit(const struct stat& info) const;
  // Returns whether the file is the folder on which debugfs would be mounted.
  bool is_debug_root(const struct stat& info);

  // Marks the tree as used by this process. Called at the start, and in a child of fork.
  void hold();
  // Ends the use of the tree by this process. The last user removes the tree.
  void leave_tree();

 private:
  Paths();
  void prepare();

  struct Place {
    dev_t device = 0;
    ino_t inode = 0;
    bool fits(const struct stat& info) const { return info.st_dev == device && info.st_ino == inode; }
  };
  Place place(const std::string& path) const;

  std::string device_;
  std::string root_;
  int held_ = -1;
  pid_t left_ = 0;  // process that left the tree last; a child of vfork may leave before its parent
  Place card_, render_, debug_, control_;
  std::array<Place, kLimitFiles.size()> limits_;
};

// A path after redirection, with its buffer.
class RedirectedPath {
 public:
  explicit RedirectedPath(const char* path) : path_(path) {
    if (Paths* const paths = Paths::get()) path_ = paths->redirect(path, buffer_);
  }
  RedirectedPath(int folder, const char* path) : path_(path) {
    if (Paths* const paths = Paths::get()) path_ = paths->redirect_at(folder, path, buffer_);
  }
  operator const char*() const { return path_; }

 private:
  const char* path_;
  PathBuffer buffer_;
};

// Returns the whole path of the text about an open file (/proc/PID/fdinfo/N) if `path` can be one. Empty: it is not.
std::string info_path(int folder, const char* path);

// Returns the descriptor if the path is a name of an open file of this process in /proc or /dev.
std::optional<int> open_file_of(const char* path);

}  // namespace halogen::shim
