#include "remote.h"

#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>

#include "descriptors.h"
#include "driver/gem/file_key.h"
#include "driver/gem/user_memory.h"

namespace halogen::shim {
namespace {

constexpr std::chrono::microseconds kPollTime{50};

unsigned processors() {
  static const unsigned count = std::thread::hardware_concurrency();
  return count;
}

}  // namespace

bool send_message(int channel, const void* data, size_t bytes, int descriptor) {
  iovec part{const_cast<void*>(data), bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  ssize_t sent = -1;
  do {
    sent = sendmsg(channel, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes);
}

ssize_t receive_message(int channel, void* data, size_t bytes, int& descriptor, Wait wait) {
  descriptor = -1;
  iovec part{data, bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = -1;
  const bool looks = wait == Wait::polling && processors() > 1;
  const auto end = std::chrono::steady_clock::now() + kPollTime;
  do {
    got = recvmsg(channel, &message, MSG_CMSG_CLOEXEC | (looks ? MSG_DONTWAIT : 0));
  } while (got < 0 && (errno == EINTR || (looks && errno == EAGAIN && std::chrono::steady_clock::now() < end)));
  while (got < 0 && ((looks && errno == EAGAIN) || errno == EINTR)) got = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return got;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  }
  return got;
}

bool is_execution(unsigned long request) {
  return _IOC_TYPE(request) == DRM_IOCTL_BASE && _IOC_NR(request) == DRM_COMMAND_BASE + DRM_I915_GEM_EXECBUFFER2;
}

bool has_no_wait(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

DescriptorFields descriptor_fields(unsigned long request, uint64_t argument) {
  constexpr unsigned kExecute = DRM_COMMAND_BASE + DRM_I915_GEM_EXECBUFFER2;
  DescriptorFields fields;
  if (_IOC_TYPE(request) != DRM_IOCTL_BASE) return fields;
  switch (_IOC_NR(request)) {
    case _IOC_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD):
      fields.out = offsetof(drm_prime_handle, fd);
      break;
    case _IOC_NR(DRM_IOCTL_PRIME_FD_TO_HANDLE):
      fields.in = offsetof(drm_prime_handle, fd);
      break;
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD):
      fields.out = offsetof(drm_syncobj_handle, fd);
      break;
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE):
      fields.in = offsetof(drm_syncobj_handle, fd);
      break;
    case kExecute: {
      const auto arguments = driver::read_user<drm_i915_gem_execbuffer2>(argument);
      if (!arguments) break;
      const size_t low = offsetof(drm_i915_gem_execbuffer2, rsvd2);
      if ((arguments->flags & I915_EXEC_FENCE_OUT) != 0) fields.out = low + 4;
      if ((arguments->flags & (I915_EXEC_FENCE_IN | I915_EXEC_FENCE_SUBMIT)) != 0) fields.in = low;
      break;
    }
    default:
      break;
  }
  return fields;
}

// Adds the parts of this process's memory that the process with the device will read, if known and short.
static void add_argument(Board& board, const RemoteCall& call) {
  constexpr unsigned kExecute = DRM_COMMAND_BASE + DRM_I915_GEM_EXECBUFFER2;
  if (call.ask != Ask::ioctl || (_IOC_DIR(call.request) & _IOC_WRITE) == 0) return;
  board.add_piece(call.argument, _IOC_SIZE(call.request));
  if (_IOC_TYPE(call.request) != DRM_IOCTL_BASE || _IOC_NR(call.request) != kExecute) return;
  const auto arguments = driver::read_user<drm_i915_gem_execbuffer2>(call.argument);
  if (!arguments || arguments->buffer_count > Board::kPieceBytes / sizeof(drm_i915_gem_exec_object2)) return;
  board.add_piece(arguments->buffers_ptr, arguments->buffer_count * sizeof(drm_i915_gem_exec_object2));
}

Remote::Channel Remote::take_channel(int node) {
  const std::lock_guard lock(guard_);
  if (pid_ != getpid()) {  // channels of a parent belong to the parent
    pid_ = getpid();
    idle_.clear();  // closed after the fork
  }
  if (!idle_.empty()) {
    const Channel channel = idle_.back();
    idle_.pop_back();
    return channel;
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return {};
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // the process with the device reads our arguments
  const char word = 'c';
  const bool sent = send_message(node, &word, 1, ends[1]);
  close(ends[1]);
  if (!sent) {
    close(ends[0]);
    return {};
  }
  Channel channel{.socket = driver::keep_private(ends[0])};
  int page = -1, got = -1;
  channel.board = Board::create(page);
  const RemoteCall call{.ask = Ask::board};
  RemoteAnswer answer;
  const bool shared = channel.board != nullptr && send_message(channel.socket, &call, sizeof call, page) &&
                      receive_message(channel.socket, &answer, sizeof answer, got) == sizeof answer &&
                      answer.result == 0;
  if (!shared) Board::close(std::exchange(channel.board, nullptr));
  if (page >= 0) close(page);
  return channel;
}

void Remote::give_channel(Channel channel) {
  const std::lock_guard lock(guard_);
  idle_.push_back(channel);
}

void Remote::drop_channel(Channel channel) {
  close(channel.socket);
  Board::close(channel.board);
}

bool Remote::ask(int node, const RemoteCall& call, int given, bool by_message, RemoteAnswer& answer, int& got) {
  got = -1;
  const Channel channel = take_channel(node);
  if (channel.socket < 0) return false;
  if (channel.board != nullptr && !by_message && given < 0) {
    add_argument(*channel.board, call);
    if (!channel.board->ask(channel.socket, call, answer)) {
      drop_channel(channel);
      return false;
    }
    give_channel(channel);
    return true;
  }
  if (channel.board != nullptr) channel.board->note_message();
  bool answered = send_message(channel.socket, &call, sizeof call, given);
  while (answered) {
    const ssize_t bytes = receive_message(channel.socket, &answer, sizeof answer, got, Wait::polling);
    if (bytes == 1) continue;  // a wake-up
    answered = bytes == static_cast<ssize_t>(sizeof answer);
    break;
  }
  if (!answered) {
    drop_channel(channel);
    return false;
  }
  give_channel(channel);
  return true;
}

int Remote::map_now(int node, uint64_t argument) {
  auto call = driver::read_user<drm_i915_gem_mmap>(argument);
  if (!call) return -EFAULT;
  RemoteAnswer answer;
  int got = -1;
  if (!ask(node, {Ask::map_buffer, call->handle, call->size, call->offset}, -1, true, answer, got)) return -EIO;
  if (answer.result < 0 || got < 0) return answer.result < 0 ? static_cast<int>(answer.result) : -EINVAL;
  void* const place =
      mmap(nullptr, call->size, PROT_READ | PROT_WRITE, MAP_SHARED, got, static_cast<off_t>(answer.offset));
  const int error = errno;
  close(got);
  if (place == MAP_FAILED) return -error;
  call->addr_ptr = reinterpret_cast<uintptr_t>(place);
  return driver::write_user(argument, &*call, sizeof *call) ? 0 : -EFAULT;
}

int Remote::ioctl(int node, unsigned long request, uint64_t argument) {
  constexpr unsigned kMapNow = DRM_COMMAND_BASE + DRM_I915_GEM_MMAP;
  if (_IOC_TYPE(request) == DRM_IOCTL_BASE && _IOC_NR(request) == kMapNow) return map_now(node, argument);
  const DescriptorFields fields = descriptor_fields(request, argument);
  int given = -1;
  if (fields.in) {
    const auto number = driver::read_user<int>(argument + *fields.in);
    if (!number) return -EFAULT;
    given = *number;
    if (fcntl(given, F_GETFD) < 0) return -EBADF;
  }
  RemoteAnswer answer;
  int got = -1;
  const uint32_t no_wait = is_execution(request) && has_no_wait(node) ? 1 : 0;
  if (!ask(node, {Ask::ioctl, 0, request, argument, no_wait}, given, fields.out.has_value(), answer, got)) return -EIO;
  if (got >= 0) {
    if (!fields.out || !driver::write_user(argument + *fields.out, &got, sizeof got)) {
      close(got);
      return -EFAULT;
    }
  }
  return static_cast<int>(answer.result);
}

void* Remote::map(int node, void* address, size_t bytes, int protection, int flags, uint64_t offset) {
  RemoteAnswer answer;
  int got = -1;
  if (!ask(node, {Ask::map, 0, bytes, offset}, -1, true, answer, got)) {
    errno = EIO;
    return MAP_FAILED;
  }
  if (got < 0) {
    errno = answer.result < 0 ? static_cast<int>(-answer.result) : EINVAL;
    return MAP_FAILED;
  }
  void* const result = mmap(address, bytes, protection, flags, got, static_cast<off_t>(answer.offset));
  const int error = errno;
  close(got);
  errno = error;
  return result;
}

}  // namespace halogen::shim
