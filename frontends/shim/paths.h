// Which paths lie elsewhere. A program that asks for /dev/dri or the parts of /sys that tell of graphics gets files of
// the tree (tree.h); what the host has there stays hidden.
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include <optional>
#include <string>

namespace halogen::shim {

enum class NodeKind : unsigned char { card, render };

constexpr unsigned kDrmMajor = 226;
constexpr unsigned minor_of(NodeKind kind) {
  return kind == NodeKind::card ? 0 : 128;
}

struct PathBuffer {
  char text[PATH_MAX];
};

class Paths {
 public:
  // Made at the first use, never destroyed. Null: the environment names no device, so nothing is to be done.
  static Paths* get();

  const std::string& device() const { return device_; }
  const std::string& root();

  // The path to use instead, perhaps in the buffer.
  const char* redirect(const char* path, PathBuffer& buffer);
  // Of a path that starts at an open folder, as those have it who go from one to the next by descriptors (libudev).
  const char* redirect_at(int folder, const char* path, PathBuffer& buffer);
  // The name below "/" of an open file of the tree; empty: it is none.
  std::string place_in_tree(int descriptor) const;
  // What the program believes; for paths that came from below the root.
  const char* original(const char* path);

  // Which node's file in the tree is this?
  std::optional<NodeKind> node(const struct stat& info);
  // By inode alone, before the file system is asked for; a folder's entries have no more.
  bool may_be_node(ino_t inode) const { return inode != 0 && (inode == card_.inode || inode == render_.inode); }
  // A file of /sys in the tree, by its path there. Nobody may write one but that which the driver acts on.
  bool is_of_sys(const char* path) const;
  bool is_control(const struct stat& info) const { return control_.inode != 0 && control_.fits(info); }
  // The folder that debugfs would be mounted on.
  bool is_debug_root(const struct stat& info);

  // By which this process uses the tree: at the start, and in a child of fork.
  void hold();
  // At the end of the process: the tree goes with the last that uses it.
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
  pid_t left_ = 0;  // the process that has left the tree: a child of vfork may come first
  Place card_, render_, debug_, control_;
};

// The path to use; the buffer lives as long as this does.
class Led {
 public:
  explicit Led(const char* path) : path_(path) {
    if (Paths* const paths = Paths::get()) path_ = paths->redirect(path, buffer_);
  }
  Led(int folder, const char* path) : path_(path) {
    if (Paths* const paths = Paths::get()) path_ = paths->redirect_at(folder, path, buffer_);
  }
  operator const char*() const { return path_; }

 private:
  const char* path_;
  PathBuffer buffer_;
};

// A descriptor's number when the path is one of /proc's or /dev's names for an open file of this process.
std::optional<int> open_file_of(const char* path);

}  // namespace halogen::shim
