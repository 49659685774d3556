#include "driver/share/shared_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "driver/share/private_descriptor.h"

namespace halogen::driver {

static_assert(sizeof(Member) * SharedPage::kMembers == SharedPage::kBytes);

std::unique_ptr<SharedPage> SharedPage::open(PeerProcesses& peers, int descriptor, uint64_t offset, uint64_t bytes) {
  std::unique_ptr<SharedPage> page(new SharedPage(peers));
  page->charge_ = DescriptorCharge::for_this_call();
  // Opens the file again: locks belong to an open file description.
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  page->file_ = open_private([&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK); });
  if (page->file_ < 0) return nullptr;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, page->file_, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) return nullptr;
  page->memory_ = static_cast<std::byte*>(memory);
  page->bytes_ = bytes;
  page->offset_ = offset;
  page->lock();
  const bool joined = page->join();
  page->unlock();
  return joined ? std::move(page) : nullptr;
}

// Takes a free row, or the row of a process that is gone.
bool SharedPage::join() {
  const PeerProcess& self = peers_.self();
  for (const bool also_dead : {false, true}) {
    for (size_t i = 0; i < kMembers; ++i) {
      Member& row = rows()[i];
      uint64_t before = row.number.load();
      if (before != 0 && (!also_dead || peers_.is_alive(peer_of(row)))) continue;
      row.writes_done = row.writes = row.uses_done = row.uses = 0;
      row.failures = 0;
      row.busy = row.waits = 0;
      row.process = static_cast<uint64_t>(self.process);
      row.started = self.started;
      row.space = self.space;
      row.has_wake_socket = self.has_wake_socket;
      char text[sizeof row.name] = {};
      std::memcpy(text, peers_.name().data(), std::min(peers_.name().size(), sizeof text - 1));
      for (size_t part = 0; part < row.name.size(); ++part) {
        uint64_t word = 0;
        std::memcpy(&word, text + 8 * part, 8);
        row.name[part] = word;
      }
      if (!row.number.compare_exchange_strong(before, self.number)) continue;
      own_ = i;
      return true;
    }
  }
  return false;
}

SharedPage::~SharedPage() {
  if (own_ < kMembers) {
    mine().number = 0;
    wake_others(false);
  }
  if (memory_ != nullptr) munmap(memory_, bytes_);
  if (file_ >= 0) close(file_);
}

PeerProcess SharedPage::peer_of(const Member& row) {
  return {row.number.load(), row.space.load(), row.started.load(), static_cast<int>(row.process.load()),
          row.has_wake_socket.load() != 0};
}

std::string SharedPage::name_of(size_t index) const {
  char text[sizeof(Member::name) + 1] = {};
  for (size_t part = 0; part < row(index).name.size(); ++part) {
    const uint64_t word = row(index).name[part];
    std::memcpy(text + 8 * part, &word, 8);
  }
  return text;
}

bool SharedPage::has_others() const {
  for (size_t i = 0; i < kMembers; ++i) {
    if (i != own_ && row(i).number.load() != 0) return true;
  }
  return false;
}

void SharedPage::wake_others(bool all) const {
  for (size_t i = 0; i < kMembers; ++i) {
    const uint64_t number = row(i).number;
    if (i != own_ && number != 0 && (all || row(i).waits.load() != 0)) peers_.wake(number);
  }
}

bool SharedPage::lock_file(short kind) const {
  struct flock range {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(offset_);
  range.l_len = 1;
  return fcntl(file_, F_OFD_SETLK, &range) == 0;
}

void SharedPage::lock() {
  constexpr std::chrono::microseconds kPause{20};
  if ((locked_ = lock_file(F_WRLCK))) return;
  LockPatience& patience = peers_.lock_patience();
  const LockPatience::Duration longest = patience.longest(known_);
  const auto start = patience.now();
  while (!locked_ && patience.now() - start < longest) {
    std::this_thread::sleep_for(kPause);
    locked_ = lock_file(F_WRLCK);
  }
  if (longest != LockPatience::Duration{0}) patience.spend(known_, patience.now() - start, !locked_);
}

void SharedPage::unlock() {
  if (locked_) lock_file(F_UNLCK);
  locked_ = false;
}

}  // namespace halogen::driver
