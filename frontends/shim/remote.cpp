#include "remote.h"

#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "call_shapes.h"
#include "descriptors.h"
#include "driver/gem/user_memory.h"
#include "message.h"

namespace halogen::shim {
namespace {

constexpr unsigned kI915 = DRM_COMMAND_BASE;
constexpr uint64_t kChunk = uint64_t{1} << 20;  // of PREAD and PWRITE

bool is_request(unsigned long request, unsigned number) {
  return _IOC_TYPE(request) == DRM_IOCTL_BASE && _IOC_NR(request) == number;
}

// The owner's answers change this process's memory. The node comes from a process of the same user, or of root.
bool may_trust(int node) {
  ucred who{};
  socklen_t length = sizeof who;
  if (getsockopt(node, SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) return false;
  return who.uid == 0 || who.uid == geteuid() || who.uid == getuid();
}

// Returns 0 for a descriptor that is not a socket.
ino_t inode_of(int descriptor) {
  struct stat info {};
  return syscall(SYS_fstat, descriptor, &info) == 0 && S_ISSOCK(info.st_mode) ? info.st_ino : 0;
}

// Returns how many bytes from an address on can be written, in whole pages.
uint64_t writable_bytes(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kPage = 4096;
  uint64_t done = 0;
  while (done < bytes) {
    const uint64_t page = (address + done) / kPage * kPage;
    if (!driver::is_user_range(page, kPage) || !driver::can_use_user(page, kPage, true)) break;
    done = std::min(bytes, page + kPage - address);
  }
  return done;
}

}  // namespace

bool is_execution(unsigned long request) {
  return is_request(request, kI915 + DRM_I915_GEM_EXECBUFFER2);
}

bool has_no_wait(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

// Returns the node of the last call, if it is still open. -1: it is not.
int Remote::node_again() {
  const std::lock_guard lock(guard_);
  return last_node_ >= 0 && inode_of(last_node_) == last_inode_ ? last_node_ : -1;
}

// `node`: -1 for a channel that exists.
int Remote::take_channel(int node, Channel& channel) {
  {
    const std::lock_guard lock(guard_);
    if (node >= 0) {
      last_node_ = node;
      last_inode_ = inode_of(node);
    }
    if (pid_ != getpid()) {  // the parent's channels: closed after the fork, and their memory is not mapped here
      pid_ = getpid();
      for (Channel& each : idle_) static_cast<void>(each.board.release());
      idle_.clear();
    }
    if (!idle_.empty()) {
      channel = std::move(idle_.back());
      idle_.pop_back();
      return 0;
    }
  }
  if (node < 0) return -EIO;
  const int result = open_channel(node, channel);
  if (result != 0) drop_channel(std::move(channel));
  return result;
}

int Remote::open_channel(int node, Channel& channel) {
  if (!may_trust(node)) return -EACCES;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  channel.socket = driver::keep_private(ends[0]);
  const Hello hello{.version = kProtocolVersion};
  const bool sent = want_senders(ends[1]) && send_message(node, &hello, sizeof hello, {&ends[1], 1}, Wait::sleeping);
  close(ends[1]);
  if (!sent) return -EIO;
  HelloAnswer answer;
  Descriptors received;
  const ssize_t got = receive_message(channel.socket, &answer, sizeof answer, received, nullptr, Wait::sleeping);
  if (got != sizeof answer) return -ENOMEM;  // the owner could not receive the channel
  if (answer.result < 0 || received.size() != 1) return answer.result < 0 ? answer.result : -EPROTO;
  channel.board = Board::open(received[0]);
  if (!channel.board) return -ENOMEM;
  return send_message(channel.socket, &kConfirm, sizeof kConfirm, {}, Wait::sleeping) ? 0 : -EIO;
}

void Remote::give_channel(Channel channel) {
  const std::lock_guard lock(guard_);
  idle_.push_back(std::move(channel));
}

void Remote::drop_channel(Channel channel) {
  if (channel.socket >= 0) close(channel.socket);
}

int Remote::make(int node, RemoteCall::Content& content) {
  Channel channel;
  if (const int error = take_channel(node, channel); error != 0) return error;
  const std::optional<int> result = RemoteCall(*channel.board, content).make(channel.socket);
  if (!result) {
    drop_channel(std::move(channel));
    return -EIO;
  }
  give_channel(std::move(channel));
  return *result;
}

int Remote::call(int node, unsigned long request, uint64_t argument) {
  const bool no_wait = is_execution(request) && has_no_wait(node);
  RemoteCall::Content content{.no_wait = no_wait, .request = request, .argument = argument};
  return make(node, content);
}

// Copies large amounts in parts, from the highest offset down: if the range exceeds the buffer, nothing is copied.
int Remote::copy_in_chunks(int node, unsigned long request, uint64_t argument) {
  static_assert(sizeof(drm_i915_gem_pread) == sizeof(drm_i915_gem_pwrite));
  auto copy = driver::read_user<drm_i915_gem_pwrite>(argument);
  if (!copy) return -EFAULT;
  if (copy->size <= kChunk) return call(node, request, argument);
  if (!driver::is_user_range(copy->data_ptr, copy->size)) return -EFAULT;
  if (copy->offset + copy->size < copy->offset) return -EINVAL;
  for (uint64_t left = copy->size; left > 0;) {
    const uint64_t start = (left - 1) / kChunk * kChunk;
    drm_i915_gem_pwrite part = *copy;
    part.offset += start;
    part.data_ptr += start;
    part.size = left - start;
    if (const int result = call(node, request, reinterpret_cast<uintptr_t>(&part)); result != 0) return result;
    left = start;
  }
  return 0;
}

int Remote::map_now(int node, uint64_t argument) {
  auto map = driver::read_user<drm_i915_gem_mmap>(argument);
  if (!map) return -EFAULT;
  RemoteCall::Content content{
      .ask = Ask::map_buffer, .request = map->size, .argument = map->offset, .handle = map->handle};
  if (const int result = make(node, content); result < 0) return result;
  if (content.file < 0) return -EINVAL;
  void* const place = mmap(nullptr, map->size, PROT_READ | PROT_WRITE, MAP_SHARED, content.file,
                           static_cast<off_t>(content.answer.offset));
  const int error = errno;
  close(content.file);
  if (place == MAP_FAILED) return -error;
  map->addr_ptr = reinterpret_cast<uintptr_t>(place);
  return driver::write_user(argument, &*map, sizeof *map) ? 0 : -EFAULT;
}

int Remote::ioctl(int node, unsigned long request, uint64_t argument) {
  if (_IOC_TYPE(request) != DRM_IOCTL_BASE) return -ENOTTY;
  if (!has_known_shape(request)) return -EINVAL;
  if (is_request(request, kI915 + DRM_I915_GEM_MMAP)) return map_now(node, argument);
  const bool copies =
      is_request(request, kI915 + DRM_I915_GEM_PREAD) || is_request(request, kI915 + DRM_I915_GEM_PWRITE);
  return copies ? copy_in_chunks(node, request, argument) : call(node, request, argument);
}

// The owner drops what it has sent, so the memory must be writable before. A range that is writable in part ends the
// read there, like one that is short.
int Remote::read_stream(int stream, uint64_t address, uint64_t bytes) {
  constexpr uint64_t kMaxBytes = uint64_t{4} << 20;  // what an answer has room for
  const uint64_t asked = std::min(bytes, kMaxBytes);
  const uint64_t room = writable_bytes(address, asked);
  RemoteCall::Content content{.ask = Ask::read_stream, .request = room, .argument = address, .stream = stream};
  const int result = make(node_again(), content);
  return result == -ENOSPC && room < asked ? -EFAULT : result;
}

int Remote::stream_ioctl(int stream, unsigned long request, uint64_t argument) {
  RemoteCall::Content content{.ask = Ask::stream_ioctl, .request = request, .argument = argument, .stream = stream};
  return make(node_again(), content);
}

void* Remote::map(int node, void* address, size_t bytes, int protection, int flags, uint64_t offset) {
  RemoteCall::Content content{.ask = Ask::map, .request = bytes, .argument = offset};
  const int result = make(node, content);
  if (result < 0 || content.file < 0) {
    errno = result < 0 ? -result : EINVAL;
    return MAP_FAILED;
  }
  void* const place = mmap(address, bytes, protection, flags, content.file, static_cast<off_t>(content.answer.offset));
  const int error = errno;
  close(content.file);
  errno = error;
  return place;
}

}  // namespace halogen::shim
