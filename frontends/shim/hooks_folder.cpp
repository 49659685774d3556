// Folders and extended attributes: nodes are listed as character devices, and requests for attributes of a redirected
// path (by ls -l) are redirected. Not supported: ftw(3) and fts(3), which use stat(2) anyway.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "next.h"
#include "paths.h"
#include "pmu_events.h"

#define HALOGEN_EXPORT extern "C" __attribute__((visibility("default")))

using halogen::shim::Paths;
using halogen::shim::RedirectedPath;

namespace {

// Nodes lie in one folder of the tree, so an entry with a node's inode and name is that node.
template <class Entry>
void correct(Entry* entry) {
  Paths* const paths = Paths::get();
  if (entry == nullptr || paths == nullptr || entry->d_type != DT_REG || !paths->may_be_node(entry->d_ino)) return;
  const int error = errno;
  struct stat info {};
  const std::string path = paths->root() + "/dev/dri/" + entry->d_name;
  if (syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), &info, 0) == 0 && info.st_ino == entry->d_ino) {
    entry->d_type = DT_CHR;
  }
  errno = error;
}

// scandir(3) reads the folder itself, and its filter may use types: our filter runs first.
template <class Entry>
class Scan {
 public:
  using Filter = int(const Entry*);
  explicit Scan(Filter* filter) : before_(std::exchange(asked, filter)) {}
  ~Scan() { asked = before_; }
  Scan(const Scan&) = delete;
  Scan& operator=(const Scan&) = delete;

  static int look(const Entry* entry) {
    correct(const_cast<Entry*>(entry));
    return asked == nullptr ? 1 : asked(entry);
  }

 private:
  static inline thread_local Filter* asked = nullptr;
  Filter* before_;
};

// Listings of host folders in which programs look for the device: /sys/class and /sys/bus/event_source/devices. If the
// host has no entry for the device there (drm, or the PMU), one is appended.
class Listings {
 public:
  // Never destroyed: programs close folders at their end.
  static Listings& get() {
    static Listings* const all = new Listings;
    return *all;
  }

  void opened(const char* path, DIR* folder) {
    if (folder == nullptr || path == nullptr || Paths::get() == nullptr) return;
    std::string_view name = path;
    while (name.ends_with('/')) name.remove_suffix(1);
    const Last last = last_of(name);
    if (last.name.empty()) return;
    const std::string host = std::string(name) + "/" + last.name;
    if (syscall(SYS_faccessat, AT_FDCWD, host.c_str(), F_OK) == 0) return;
    const std::lock_guard lock(guard_);
    open_.insert_or_assign(folder, last);
    ++count_;
  }
  void closed(DIR* folder) {
    if (count_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(guard_);
    if (open_.erase(folder) != 0) --count_;
  }
  // Returns the entry that follows the last entry of the host.
  dirent* last(DIR* folder) {
    if (count_.load(std::memory_order_relaxed) == 0) return nullptr;
    const std::lock_guard lock(guard_);
    const auto found = open_.find(folder);
    if (found == open_.end() || std::exchange(found->second.given, true)) return nullptr;
    dirent& entry = found->second.entry;
    entry.d_ino = 1;
    entry.d_reclen = sizeof entry;
    entry.d_type = found->second.type;
    entry.d_name[found->second.name.copy(entry.d_name, sizeof entry.d_name - 1)] = '\0';
    return &entry;
  }

 private:
  struct Last {
    std::string name;
    unsigned char type = DT_DIR;
    dirent entry{};
    bool given = false;
  };
  static Last last_of(std::string_view folder) {
    if (folder == "/sys/class") return {.name = "drm"};
    if (folder != "/sys/bus/event_source/devices") return {};
    const halogen::spec::DeviceModel* const model = halogen::spec::find_device(Paths::get()->device());
    return model == nullptr ? Last{} : Last{.name = halogen::shim::pmu_name(*model), .type = DT_LNK};
  }
  std::mutex guard_;
  std::atomic<unsigned> count_ = 0;
  std::map<DIR*, Last> open_;
};
static_assert(sizeof(dirent) == sizeof(dirent64) && offsetof(dirent, d_name) == offsetof(dirent64, d_name));

}  // namespace

HALOGEN_EXPORT DIR* opendir(const char* path) {
  DIR* const folder = HALOGEN_NEXT(DIR * (const char*), "opendir")(RedirectedPath(path));
  Listings::get().opened(path, folder);
  return folder;
}
HALOGEN_EXPORT int closedir(DIR* folder) {
  Listings::get().closed(folder);
  return HALOGEN_NEXT(int(DIR*), "closedir")(folder);
}
HALOGEN_EXPORT dirent* readdir(DIR* folder) {
  dirent* const entry = HALOGEN_NEXT(dirent * (DIR*), "readdir")(folder);
  if (entry == nullptr) return Listings::get().last(folder);
  correct(entry);
  return entry;
}
HALOGEN_EXPORT dirent64* readdir64(DIR* folder) {
  dirent64* const entry = HALOGEN_NEXT(dirent64 * (DIR*), "readdir64")(folder);
  if (entry == nullptr) return reinterpret_cast<dirent64*>(Listings::get().last(folder));
  correct(entry);
  return entry;
}

using Filter = int(const dirent*);
using Compare = int(const dirent**, const dirent**);
HALOGEN_EXPORT int scandir(const char* path, dirent*** list, Filter* filter, Compare* compare) {
  const auto real = HALOGEN_NEXT(int(const char*, dirent***, Filter*, Compare*), "scandir");
  const Scan<dirent> scan(filter);
  return real(RedirectedPath(path), list, Scan<dirent>::look, compare);
}
using Filter64 = int(const dirent64*);
using Compare64 = int(const dirent64**, const dirent64**);
HALOGEN_EXPORT int scandir64(const char* path, dirent64*** list, Filter64* filter, Compare64* compare) {
  const auto real = HALOGEN_NEXT(int(const char*, dirent64***, Filter64*, Compare64*), "scandir64");
  const Scan<dirent64> scan(filter);
  return real(RedirectedPath(path), list, Scan<dirent64>::look, compare);
}
HALOGEN_EXPORT int scandirat(int folder, const char* path, dirent*** list, Filter* filter, Compare* compare) {
  const auto real = HALOGEN_NEXT(int(int, const char*, dirent***, Filter*, Compare*), "scandirat");
  const Scan<dirent> scan(filter);
  return real(folder, RedirectedPath(folder, path), list, Scan<dirent>::look, compare);
}

HALOGEN_EXPORT ssize_t getxattr(const char* path, const char* name, void* value, size_t bytes) noexcept {
  return HALOGEN_NEXT(ssize_t(const char*, const char*, void*, size_t), "getxattr")(RedirectedPath(path), name, value,
                                                                                    bytes);
}
HALOGEN_EXPORT ssize_t lgetxattr(const char* path, const char* name, void* value, size_t bytes) noexcept {
  return HALOGEN_NEXT(ssize_t(const char*, const char*, void*, size_t), "lgetxattr")(RedirectedPath(path), name, value,
                                                                                     bytes);
}
HALOGEN_EXPORT ssize_t listxattr(const char* path, char* list, size_t bytes) noexcept {
  return HALOGEN_NEXT(ssize_t(const char*, char*, size_t), "listxattr")(RedirectedPath(path), list, bytes);
}
HALOGEN_EXPORT ssize_t llistxattr(const char* path, char* list, size_t bytes) noexcept {
  return HALOGEN_NEXT(ssize_t(const char*, char*, size_t), "llistxattr")(RedirectedPath(path), list, bytes);
}
