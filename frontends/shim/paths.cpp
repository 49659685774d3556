#include "paths.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "descriptors.h"
#include "settings.h"
#include "tree.h"

namespace halogen::shim {
namespace {

struct Prefix {
  std::string_view path;
  bool open_end;  // the name may continue
};
constexpr std::array kPrefixes = {
    Prefix{"/dev/dri", false},         Prefix{"/sys/dev/char/226:", true},
    Prefix{"/sys/class/drm", false},   Prefix{"/sys/bus/pci", false},
    Prefix{"/sys/devices/pci", true},  Prefix{"/sys/kernel/debug", false},
    Prefix{"/sys/module/i915", false}, Prefix{"/proc/sys/dev/i915", false},
    Prefix{"/sys/devices/i915", true}, Prefix{"/sys/bus/event_source/devices/i915", true},
};

// Removes doubled slashes and "." parts. False: too long.
bool tidy(const char* path, PathBuffer& buffer) {
  size_t used = 0;
  for (const char* at = path; *at != '\0';) {
    if (at[0] == '/' && (at[1] == '/' || (at[1] == '.' && (at[2] == '/' || at[2] == '\0')))) {
      at += at[1] == '/' ? 1 : 2;
      if (*at == '\0' && used == 0) buffer.text[used++] = '/';
      continue;
    }
    if (used + 1 >= sizeof buffer.text) return false;
    buffer.text[used++] = *at++;
  }
  buffer.text[used] = '\0';
  return true;
}

bool is_redirected(std::string_view path) {
  for (const Prefix& prefix : kPrefixes) {
    if (!path.starts_with(prefix.path)) continue;
    if (prefix.open_end || path.size() == prefix.path.size() || path[prefix.path.size()] == '/') return true;
  }
  return false;
}

// Returns the path of an open file, guard space for one more character. 0: it has none.
size_t name_of_open(int descriptor, PathBuffer& buffer) {
  char link[32];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, buffer.text, sizeof buffer.text - 1);
  return length > 0 ? static_cast<size_t>(length) : 0;
}

}  // namespace

Paths* Paths::get() {
  static Paths* const paths = [] {
    const char* const device = secure_getenv(kDeviceVariable);
    return device == nullptr || *device == '\0' ? nullptr : new Paths;
  }();
  return paths;
}

Paths::Paths() : device_(secure_getenv(kDeviceVariable)) {
  const char* const tree = secure_getenv(kTreeVariable);
  if (tree != nullptr && *tree != '\0') {
    root_ = tree;
    prepare();
  }
}

void Paths::prepare() {
  hold();
  card_ = place(root_ + "/dev/dri/card0");
  render_ = place(root_ + "/dev/dri/renderD128");
  debug_ = place(root_ + "/sys/kernel/debug");
  control_ = place(root_ + "/sys/kernel/debug/dri/0/i915_gem_drop_caches");
  for (size_t i = 0; i < limits_.size(); ++i) limits_[i] = place(root_ + kLimitsFolder + "/" + kLimitFiles[i]);
}

void Paths::hold() {
  held_ = driver::keep_private(hold_tree(root_));
}

Paths::Place Paths::place(const std::string& path) const {
  struct stat info {};
  if (syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), &info, 0) != 0) return {};
  return {info.st_dev, info.st_ino};
}

const std::string& Paths::root() {
  static std::once_flag once;
  std::call_once(once, [&] {
    if (!root_.empty()) return;
    const spec::DeviceModel* const model = spec::find_device(device_);
    auto made = model == nullptr ? Result<std::string>(Error{"unknown device; run \"halogen devices\" for a list."})
                                 : make_private_tree(*model);
    if (!made) {
      std::fprintf(stderr, "halogen: %s=%s: %s\n", kDeviceVariable, device_.c_str(), made.message().c_str());
      root_ = "/nonexistent";
      return;
    }
    root_ = *made;
    setenv(kTreeVariable, root_.c_str(), 1);  // for child programs
    prepare();
  });
  return root_;
}

const char* Paths::redirect(const char* path, PathBuffer& buffer) {
  if (path == nullptr || path[0] != '/') return path;
  if (!tidy(path, buffer) || !is_redirected(buffer.text)) return path;
  const std::string& front = root();
  const size_t length = std::strlen(buffer.text);
  if (front.size() + length + 1 > sizeof buffer.text) return path;
  std::memmove(buffer.text + front.size(), buffer.text, length + 1);
  std::memcpy(buffer.text, front.data(), front.size());
  return buffer.text;
}

const char* Paths::redirect_at(int folder, const char* path, PathBuffer& buffer) {
  if (folder < 0 || path == nullptr || path[0] == '\0' || path[0] == '/') return redirect(path, buffer);
  PathBuffer whole;
  const size_t front = name_of_open(folder, whole);
  const std::string_view start(whole.text, front);
  if (!start.starts_with("/sys") && !start.starts_with("/dev")) return path;
  const size_t length = std::strlen(path);
  if (front + 1 + length + 1 > sizeof whole.text) return path;
  whole.text[front] = '/';
  std::memcpy(whole.text + front + 1, path, length + 1);
  const char* const redirected = redirect(whole.text, buffer);
  return redirected == whole.text ? path : redirected;
}

std::string Paths::path_in_tree(int descriptor) const {
  PathBuffer whole;
  const std::string_view name(whole.text, name_of_open(descriptor, whole));
  if (root_.empty() || !name.starts_with(root_) || name.size() == root_.size() || name[root_.size()] != '/') return {};
  return std::string(name.substr(root_.size()));
}

const char* Paths::original(const char* path) {
  const std::string_view text = path;
  if (root_.empty() || !text.starts_with(root_) || (text.size() > root_.size() && text[root_.size()] != '/')) {
    return path;
  }
  return text.size() == root_.size() ? "/" : path + root_.size();
}

std::optional<NodeKind> Paths::node(const struct stat& info) {
  if (card_.inode == 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (card_.fits(info)) return NodeKind::card;
  if (render_.fits(info)) return NodeKind::render;
  return std::nullopt;
}

bool Paths::is_of_sys(const char* path) const {
  std::string_view text = path;
  if (root_.empty() || !text.starts_with(root_)) return false;
  text.remove_prefix(root_.size());
  return text.starts_with("/sys/") || text.starts_with("/proc/");
}

std::optional<size_t> Paths::limit(const struct stat& info) const {
  for (size_t i = 0; i < limits_.size(); ++i) {
    if (limits_[i].inode != 0 && limits_[i].fits(info)) return i;
  }
  return std::nullopt;
}

bool Paths::is_debug_root(const struct stat& info) {
  return debug_.inode != 0 && debug_.fits(info);
}

void Paths::leave_tree() {
  const pid_t pid = getpid();
  if (std::exchange(left_, pid) == pid) return;
  if (held_ >= 0) close(held_);
  remove_unused_tree(root_);
}

std::string info_path(int folder, const char* path) {
  if (path == nullptr) return {};
  if (path[0] == '/') return std::strstr(path, "/fdinfo/") != nullptr ? path : std::string();
  if (folder < 0 || path[0] < '0' || path[0] > '9') return {};
  PathBuffer front;
  const std::string_view name(front.text, name_of_open(folder, front));
  return name.ends_with("/fdinfo") ? std::string(name) + "/" + path : std::string();
}

std::optional<int> open_file_of(const char* path) {
  if (path == nullptr) return std::nullopt;
  std::string_view text = path;
  if (!text.starts_with("/proc/") && !text.starts_with("/dev/fd/")) return std::nullopt;
  const std::string own = "/proc/" + std::to_string(getpid()) + "/fd/";
  for (const std::string_view front : {std::string_view("/proc/self/fd/"), std::string_view("/dev/fd/"),
                                       std::string_view("/proc/thread-self/fd/"), std::string_view(own)}) {
    if (!text.starts_with(front)) continue;
    text.remove_prefix(front.size());
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size() && number >= 0) return number;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace halogen::shim
