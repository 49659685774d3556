#include "driver/sync_object.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace halogen::driver {

SyncObjectFiles::~SyncObjectFiles() {
  for (const auto& [key, entry] : entries_) close(entry.other_end);
}

int SyncObjectFiles::create(SyncObjectRef object) {
  if (entries_.size() >= look_at_) forget_closed();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  const std::optional<FileKey> key = key_of(ends[0]);
  if (!key) {
    close(ends[0]);
    close(ends[1]);
    return -EMFILE;
  }
  Entry& entry = entries_[*key];
  if (entry.other_end >= 0) close(entry.other_end);  // of a pipe that had this number before
  entry = {std::move(object), ends[1]};
  return ends[0];
}

SyncObjectRef SyncObjectFiles::find(int descriptor) const {
  const std::optional<FileKey> key = key_of(descriptor);
  const auto found = key ? entries_.find(*key) : entries_.end();
  return found == entries_.end() ? nullptr : found->second.object;
}

void SyncObjectFiles::forget_closed() {
  std::erase_if(entries_, [](const auto& each) {
    pollfd end{.fd = each.second.other_end, .events = 0, .revents = 0};
    if (poll(&end, 1, 0) != 1 || (end.revents & POLLERR) == 0) return false;
    close(each.second.other_end);
    return true;
  });
  look_at_ = std::max<size_t>(16, 2 * entries_.size());
}

}  // namespace halogen::driver
