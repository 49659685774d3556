#include "pmu_group.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>

#include "pmu_events.h"
#include "polling.h"

namespace halogen::shim {
namespace {

constexpr off_t kStride = 128;
static_assert(sizeof(EventRecord) <= kStride);

// Calls go to the host directly: this library replaces the C library's functions.
off_t place_of(size_t index) {
  return static_cast<off_t>(index + 1) * kStride;
}

std::optional<size_t> index_of(int descriptor) {
  const off_t place = syscall(SYS_lseek, descriptor, off_t{0}, SEEK_CUR);
  const off_t index = place / kStride - 1;
  if (place % kStride != 0 || index < 0 || index >= static_cast<off_t>(PmuGroup::kMaxEvents)) return std::nullopt;
  return static_cast<size_t>(index);
}

struct flock lock_on(size_t index) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = place_of(index);
  lock.l_len = 1;
  return lock;
}

// Returns whether another open file than that of the descriptor holds the record.
bool is_held(int descriptor, size_t index) {
  struct flock lock = lock_on(index);
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool load(int file, size_t index, EventRecord& record) {
  return syscall(SYS_pread64, file, &record, sizeof record, place_of(index)) == ssize_t{sizeof record};
}

void store(int file, size_t index, const EventRecord& record) {
  static_cast<void>(syscall(SYS_pwrite64, file, &record, sizeof record, place_of(index)));
}

// Opens the file behind a descriptor once more.
int open_again(int descriptor, int flags) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | flags));
}

size_t words_of_event(uint64_t read_format) {
  return 1 + static_cast<size_t>(std::popcount(read_format & (PERF_FORMAT_ID | PERF_FORMAT_LOST)));
}

size_t words_of_times(uint64_t read_format) {
  constexpr uint64_t kTimes = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<size_t>(std::popcount(read_format & kTimes));
}

size_t answer_bytes(uint64_t read_format, size_t events) {
  const size_t head = (read_format & PERF_FORMAT_GROUP) != 0 ? 1 : 0;
  return 8 * (head + words_of_times(read_format) + words_of_event(read_format) * events);
}

}  // namespace

bool PmuGroup::is_leader(int descriptor) {
  return index_of(descriptor) == size_t{0};
}

// ---- opening

int PmuGroup::open(const EventRequest& request) {
  const std::lock_guard lock(guard_);
  const int flags = request.close_on_exec ? O_CLOEXEC : 0;
  if (request.leader < 0) {
    const int file = memfd_create("halogen event", request.close_on_exec ? MFD_CLOEXEC : 0);
    return file < 0 ? -errno : add(file, 0, request);
  }
  const size_t events = group_of(request.leader).size() + 1;
  if (answer_bytes(request.read_format, events) >= kMaxAnswer || events > kMaxEvents) return -E2BIG;
  const int file = open_again(request.leader, flags);
  if (file < 0) return -errno;
  size_t index = 1;
  while (index < kMaxEvents && is_held(file, index)) ++index;
  if (index < kMaxEvents) return add(file, index, request);
  syscall(SYS_close, file);
  return -E2BIG;
}

// Makes the new open file an event. Closes it if that fails.
int PmuGroup::add(int file, size_t index, const EventRequest& request) {
  static std::atomic<uint64_t> last_id{0};
  struct flock lock = lock_on(index);
  const EventRecord record{.config = request.config,
                           .id = static_cast<uint64_t>(getpid()) << 32 | ++last_id,
                           .read_format = request.read_format,
                           .is_on = request.starts};
  const bool good = syscall(SYS_pwrite64, file, &record, sizeof record, place_of(index)) == ssize_t{sizeof record} &&
                    syscall(SYS_lseek, file, place_of(index), SEEK_SET) == place_of(index) &&
                    fcntl(file, F_OFD_SETLK, &lock) == 0 && fcntl(file, F_SETSIG, kEventMark) == 0;
  if (!good) {
    syscall(SYS_close, file);
    return -ENOMEM;
  }
  std::vector<Event> group = group_of(file);
  settle(file, group);
  return file;
}

// ---- counting

// Returns the events that are open, the leader first. If the leader is closed, each event is on its own.
std::vector<PmuGroup::Event> PmuGroup::group_of(int descriptor) {
  std::vector<Event> group;
  const std::optional<size_t> own = index_of(descriptor);
  if (!own) return group;
  const auto add_open = [&](size_t index) {
    Event event{.index = index, .record = {}};
    if ((index == *own || is_held(descriptor, index)) && load(descriptor, index, event.record)) group.push_back(event);
  };
  add_open(0);
  if (group.empty()) {
    add_open(*own);
    return group;
  }
  struct stat file {};
  if (syscall(SYS_fstat, descriptor, &file) != 0) return group;
  const size_t count = std::min(static_cast<size_t>(file.st_size / kStride), kMaxEvents);
  for (size_t index = 1; index < count; ++index) add_open(index);
  return group;
}

uint64_t PmuGroup::value_of(const EventRecord& record) const {
  if (record.counts == 0) return record.value;
  return record.value + pmu_value(model_, board_.page(), record.config) - record.base;
}

uint64_t PmuGroup::time_of(const EventRecord& record) const {
  return record.counts == 0 ? record.time : record.time + driver::LoadBoard::now_ns() - record.since;
}

// Starts and stops events as the program wants. Events do not count while their leader is off.
void PmuGroup::settle(int descriptor, std::vector<Event>& group) {
  for (Event& each : group) {
    EventRecord& record = each.record;
    const bool counts = record.is_on != 0 && group.front().record.is_on != 0;
    if (counts == (record.counts != 0)) continue;
    record.value = value_of(record);
    record.time = time_of(record);
    record.counts = counts;
    record.base = pmu_value(model_, board_.page(), record.config);
    record.since = driver::LoadBoard::now_ns();
    store(descriptor, each.index, record);
  }
}

int PmuGroup::control(int descriptor, unsigned long request, bool whole_group) {
  const std::lock_guard lock(guard_);
  const std::optional<size_t> own = index_of(descriptor);
  std::vector<Event> group = group_of(descriptor);
  for (Event& each : group) {
    if (!whole_group && each.index != own) continue;
    EventRecord& record = each.record;
    if (request == PERF_EVENT_IOC_RESET) {
      record.value = 0;
      record.base = pmu_value(model_, board_.page(), record.config);
    } else {
      record.is_on = request == PERF_EVENT_IOC_ENABLE;
    }
    store(descriptor, each.index, record);
  }
  settle(descriptor, group);
  return 0;
}

std::optional<uint64_t> PmuGroup::id(int descriptor) {
  const std::optional<size_t> own = index_of(descriptor);
  EventRecord record;
  if (!own || !load(descriptor, *own, record)) return std::nullopt;
  return record.id;
}

// ---- reading

int PmuGroup::read(int descriptor, size_t bytes, std::vector<uint64_t>& words) {
  const std::lock_guard lock(guard_);
  const std::optional<size_t> own = index_of(descriptor);
  std::vector<Event> group = group_of(descriptor);
  settle(descriptor, group);  // a leader may have been closed
  const auto event = std::ranges::find_if(group, [&](const Event& each) { return each.index == own; });
  if (event == group.end()) return -EIO;
  const uint64_t format = event->record.read_format;
  const bool is_group = (format & PERF_FORMAT_GROUP) != 0;
  if (bytes < answer_bytes(format, is_group ? group.size() : 1)) return -ENOSPC;
  const auto add_times = [&](const EventRecord& record) {
    words.insert(words.end(), words_of_times(format), time_of(record));  // an event runs while it is enabled
  };
  const auto add_rest = [&](const EventRecord& record) {
    if ((format & PERF_FORMAT_ID) != 0) words.push_back(record.id);
    if ((format & PERF_FORMAT_LOST) != 0) words.push_back(0);
  };
  if (!is_group) {
    words.push_back(value_of(event->record));
    add_times(event->record);
    add_rest(event->record);
    return 0;
  }
  words.push_back(group.size());
  add_times(group.front().record);
  for (const Event& each : group) {
    words.push_back(value_of(each.record));
    add_rest(each.record);
  }
  return 0;
}

}  // namespace halogen::shim
