#include "driver/buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "driver/space.h"

namespace halogen::driver {

Buffer::~Buffer() {
  while (!spaces.empty()) spaces.back()->unbind(*this);
  drop_pages();
  if (shared_ >= 0) close(shared_);
}

bool Buffer::need_pages() {
  if (has_pages()) return true;
  const std::optional<PageRun> run = hardware_.allocate(bytes_, local_);
  if (!run) return false;
  run_ = *run;
  return true;
}

void Buffer::drop_pages() {
  if (!has_pages()) return;
  // A shared file keeps its content: it only leaves this machine's memory.
  if (shared_ >= 0) hardware_.machine().of(local_).drop(run_.address, run_.bytes);
  hardware_.release(run_);
  run_ = {};
}

int Buffer::share() {
  if (shared_ >= 0) return 0;
  if (!need_pages()) return -ENOMEM;
  const int file = memfd_create("halogen buffer", MFD_CLOEXEC);
  if (file < 0) return -errno;
  const std::span<std::byte> content = bytes();
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t part = write(file, content.data() + done, content.size() - done);
    if (part <= 0) break;
    done += static_cast<size_t>(part);
  }
  if (done < content.size() || !hardware_.machine().of(local_).replace(run_.address, run_.bytes, file)) {
    close(file);
    return -ENOMEM;
  }
  shared_ = file;
  return 0;
}

std::shared_ptr<Buffer> Buffer::import(Hardware& hardware, int descriptor, uint64_t bytes) {
  auto buffer = std::make_shared<Buffer>(hardware, bytes, false);
  if (!buffer->need_pages()) return nullptr;
  const int file = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  if (file < 0 || !hardware.machine().of(false).replace(buffer->run_.address, bytes, file)) {
    if (file >= 0) close(file);
    return nullptr;
  }
  buffer->shared_ = file;
  return buffer;
}

void Buffer::forget_done() {
  const auto is_done = [](const FenceRef& fence) { return fence->done; };
  std::erase_if(readers_, is_done);
  std::erase_if(writers_, is_done);
}

bool Buffer::is_busy(bool also_reads) {
  forget_done();
  return !writers_.empty() || (also_reads && !readers_.empty());
}

std::vector<FenceRef> Buffer::fences(bool also_reads) {
  forget_done();
  std::vector<FenceRef> all = writers_;
  if (also_reads) all.insert(all.end(), readers_.begin(), readers_.end());
  return all;
}

void Buffer::add_fence(FenceRef fence, bool write) {
  forget_done();
  std::vector<FenceRef>& list = write ? writers_ : readers_;
  // Of one timeline only the last counts.
  std::erase_if(list,
                [&](const FenceRef& other) { return other->timeline != 0 && other->timeline == fence->timeline; });
  list.push_back(std::move(fence));
}

}  // namespace halogen::driver
