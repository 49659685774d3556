#include "proxy_link.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace halogen::vm {
namespace {

struct Header {
  int32_t command;
  int32_t padding;
  uint64_t bytes;
};
static_assert(sizeof(Header) == 16);

// Reads the first bytes of a message with the descriptors that came with them. 0: the other side has gone.
ssize_t receive_header(int socket, Header& header, std::vector<File>& files) {
  iovec part{&header, sizeof(header)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(MemoryMap::kPieces * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); got > 0 && item != nullptr; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(item) + i * sizeof(int), sizeof(int));
      files.emplace_back(descriptor);
    }
  }
  return got;
}

}  // namespace

Result<ProxyLink::Received> ProxyLink::receive() {
  Received received;
  Header header{};
  const ssize_t got = receive_header(descriptor(), header, received.message.files);
  if (got == 0 || (got < 0 && errno == ECONNRESET)) {
    received.closed = true;
    return received;
  }
  if (got < 0) return Error{fmt::format("the link to the machine broke: {}.", std::strerror(errno))};
  const auto start = static_cast<size_t>(got);
  if (!read_all(descriptor(), std::as_writable_bytes(std::span(&header, 1)).subspan(start))) {
    received.closed = true;
    return received;
  }
  if (header.bytes > kMostPayload) {
    return Error{fmt::format("the machine sent a message of {} bytes, which no message has.", header.bytes)};
  }
  received.message.command = static_cast<ProxyCommand>(header.command);
  received.message.payload.resize(header.bytes);
  received.closed = !read_all(descriptor(), received.message.payload);
  return received;
}

Result<void> ProxyLink::answer(uint64_t value) {
  struct {
    Header header;
    uint64_t value;
  } const message{{static_cast<int32_t>(ProxyCommand::answer), 0, sizeof(value)}, value};
  if (!write_all(descriptor(), std::as_bytes(std::span(&message, 1)))) {
    return Error{"the machine went away before its answer was sent."};
  }
  return {};
}

}  // namespace halogen::vm
