#include "driver/perf/config_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "driver/share/private_descriptor.h"

namespace halogen::driver {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMaxRegisters = 1u << 19;  // of a list: more do not fit an allocation of Linux
constexpr size_t kMaxBytes = 3 * (sizeof(uint32_t) + kMaxRegisters * sizeof(RegisterValue));
// Other processes can put something there that is not a plain file: nothing waits for it.
constexpr int kOpen = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

bool write_file(const std::string& path, std::string_view text, mode_t mode) {
  const int file = open_private([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | kOpen, 0600); });
  if (file < 0) return false;
  bool good = fchmod(file, mode) == 0;
  while (good && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    good = written > 0;
    if (good) text.remove_prefix(static_cast<size_t>(written));
  }
  ::close(file);
  return good;
}

std::string read_file(const std::string& path) {
  const int file = open_private([&] { return ::open(path.c_str(), O_RDONLY | kOpen); });
  std::string text;
  if (file < 0) return text;
  char part[4096];
  for (ssize_t got = 0; text.size() <= kMaxBytes && (got = ::read(file, part, sizeof part)) > 0;) {
    text.append(part, static_cast<size_t>(got));
  }
  ::close(file);
  return text;
}

}  // namespace

// A process that may not write the folder cannot take the lock, or it could keep it. It reads without: the number of a
// set is stored after its registers.
ConfigFolder::Guard::Guard(ConfigFolder& folder) {
  if (!folder.is_used()) return;
  const std::string path = folder.registers_ + "/lock";
  lock_ = open_private([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600); });
  const auto take = [&] { return lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) == 0; };
  bool taken = take();
  if (taken) return;
  constexpr std::chrono::microseconds kPause{20};
  LockPatience& patience = folder.patience_;
  const LockPatience::Duration longest = patience.longest(folder.known_);
  const auto start = patience.now();
  while (!taken && patience.now() - start < longest) {
    std::this_thread::sleep_for(kPause);
    taken = take();
  }
  if (longest != LockPatience::Duration{0}) patience.spend(folder.known_, patience.now() - start, !taken);
}

ConfigFolder::Guard::~Guard() {
  if (lock_ >= 0) ::close(lock_);
}

std::map<uint32_t, std::string> ConfigFolder::list() const {
  std::map<uint32_t, std::string> all;
  std::error_code error;
  size_t count = 0;
  for (const fs::directory_entry& each : fs::directory_iterator(ids_, error)) {
    if (++count > kMaxSets) break;
    const std::string text = read_file(each.path().string() + "/id");
    uint32_t id = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), id).ec != std::errc{}) continue;
    all.emplace(id, each.path().filename().string());
  }
  return all;
}

bool ConfigFolder::load(const std::string& uuid, Lists<Values*> lists) const {
  const std::string text = read_file(registers_of(uuid));
  size_t at = 0;
  const auto next = [&](uint32_t& value) {
    if (text.size() - at < sizeof value) return false;
    text.copy(reinterpret_cast<char*>(&value), sizeof value, at);
    at += sizeof value;
    return true;
  };
  for (Values* const list : lists) {
    uint32_t count = 0;
    if (!next(count) || count > kMaxRegisters || text.size() - at < size_t{count} * sizeof(RegisterValue)) return false;
    list->resize(count);
    for (RegisterValue& each : *list) {
      if (!next(each.offset) || !next(each.value)) return false;
    }
  }
  return true;
}

bool ConfigFolder::store(uint32_t id, const std::string& uuid, Lists<const Values*> lists) const {
  std::string text;
  const auto add = [&](uint32_t value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); };
  for (const Values* const list : lists) {
    add(static_cast<uint32_t>(list->size()));
    for (const RegisterValue& each : *list) {
      add(each.offset);
      add(each.value);
    }
  }
  const std::string folder = ids_ + "/" + uuid;
  const bool stored = write_file(registers_of(uuid), text, 0644) && mkdir(folder.c_str(), 0755) == 0 &&
                      chmod(folder.c_str(), 0755) == 0 && write_file(folder + "/id", fmt::format("{}\n", id), 0444);
  if (!stored) erase(uuid);
  return stored;
}

void ConfigFolder::erase(const std::string& uuid) const {
  const std::string folder = ids_ + "/" + uuid;
  unlink((folder + "/id").c_str());
  rmdir(folder.c_str());
  unlink(registers_of(uuid).c_str());
}

}  // namespace halogen::driver
