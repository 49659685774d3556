#include "driver/perf/load_page.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "driver/share/private_descriptor.h"

namespace halogen::driver {
namespace {

// Pages are allocated at once: a write to a page that the host cannot provide later would end the process.
bool has_size(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) return false;
  if (status.st_size >= static_cast<off_t>(sizeof(LoadPage))) return true;
  return posix_fallocate(file, 0, sizeof(LoadPage)) == 0;
}

bool is_alive(int32_t process) {
  return process > 0 && (kill(process, 0) == 0 || errno != ESRCH);
}

}  // namespace

std::shared_ptr<LoadBoard> LoadBoard::open(const std::string& path) {
  if (path.empty()) return nullptr;
  const int file =
      open_private([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600); });
  if (file < 0) return nullptr;
  void* place = MAP_FAILED;
  if (has_size(file)) place = mmap(nullptr, sizeof(LoadPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (place == MAP_FAILED) return nullptr;
  // A file of zeros is a page of zeros.
  return std::shared_ptr<LoadBoard>(new LoadBoard(static_cast<LoadPage*>(place)));
}

LoadBoard::~LoadBoard() {
  munmap(page_, sizeof(LoadPage));
}

std::optional<ClientTimes> LoadBoard::find(const FileKey& file) const {
  const int error = errno;
  std::optional<ClientTimes> found;
  for (const ClientSlot& slot : page_->clients) {
    if (slot.inode != file.second || slot.device != file.first) continue;
    ClientTimes times{.id = slot.id.load(std::memory_order_acquire), .minor = slot.minor};
    if (times.id == 0 || !is_alive(slot.process)) continue;
    std::ranges::copy(slot.busy, times.busy.begin());
    found = times;
    break;
  }
  errno = error;
  return found;
}

uint64_t LoadBoard::now_ns() {
  constexpr uint64_t kSecond = 1'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

ClientSlot* LoadBoard::take_slot(const FileKey& file, uint32_t minor) {
  const auto take = [&](ClientSlot& slot, int32_t before) {
    if (!slot.process.compare_exchange_strong(before, getpid())) return false;
    slot.id = 0;
    for (std::atomic<uint64_t>& busy : slot.busy) busy = 0;
    slot.minor = minor;
    slot.device = file.first;
    slot.inode = file.second;
    slot.id.store(page_->last_id.fetch_add(1) + 1, std::memory_order_release);
    return true;
  };
  for (ClientSlot& slot : page_->clients) {
    if (slot.process == 0 && take(slot, 0)) return &slot;
  }
  for (ClientSlot& slot : page_->clients) {  // those of processes that were killed
    const int32_t process = slot.process;
    if (!is_alive(process) && take(slot, process)) return &slot;
  }
  return nullptr;
}

}  // namespace halogen::driver
