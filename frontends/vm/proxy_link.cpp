#include "proxy_link.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

namespace halogen::vm {
namespace {

struct Header {
  int32_t command;
  int32_t padding;
  uint64_t bytes;
};
static_assert(sizeof(Header) == 16);

constexpr size_t kMaxFiles = MemoryMap::kPieces;  // of one message; Linux closes further ones
constexpr size_t kMaxPieces = 8;                  // with files, in bytes that make no message yet
constexpr size_t kReadBytes = 4096;

std::vector<File> files_of(msghdr& message) {
  std::vector<File> files;
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); item != nullptr; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(item) + i * sizeof(int), sizeof(int));
      files.emplace_back(descriptor);
    }
  }
  return files;
}

}  // namespace

bool ProxyParser::feed(std::span<const std::byte> bytes, std::vector<File> files) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  if (files.empty()) return true;
  if (pieces_.size() == kMaxPieces) return false;
  pieces_.push_back({start_ + bytes_.size(), std::move(files)});
  return true;
}

Result<std::optional<ProxyMessage>> ProxyParser::next() {
  Header header{};
  if (bytes_.size() < sizeof(header)) return std::optional<ProxyMessage>{};
  std::memcpy(&header, bytes_.data(), sizeof(header));
  if (header.bytes > kMaxPayload) {
    return Error{fmt::format("the machine sent a message of {} bytes, which is not a valid length.", header.bytes)};
  }
  const size_t whole = sizeof(header) + header.bytes;
  if (bytes_.size() < whole) return std::optional<ProxyMessage>{};
  ProxyMessage message;
  message.command = static_cast<ProxyCommand>(header.command);
  const auto end = bytes_.begin() + static_cast<std::ptrdiff_t>(whole);
  message.payload.assign(bytes_.begin() + sizeof(header), end);
  bytes_.erase(bytes_.begin(), end);
  start_ += whole;
  for (; !pieces_.empty() && pieces_.front().end <= start_; pieces_.pop_front()) {
    std::ranges::move(pieces_.front().files, std::back_inserter(message.files));
  }
  return std::optional(std::move(message));
}

Result<bool> ProxyLink::fill() {
  std::array<std::byte, kReadBytes> bytes;
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFiles * sizeof(int))> control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(descriptor(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno == ECONNRESET)) return false;
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got < 0) return Error{fmt::format("the link to the machine broke: {}.", std::strerror(errno))};
  std::vector<File> files = files_of(message);
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    return Error{fmt::format("the machine sent more than {} descriptors at once, or more than this process may open.",
                             kMaxFiles)};
  }
  if (!parser_.feed(std::span(bytes).first(static_cast<size_t>(got)), std::move(files))) {
    return Error{"the machine sent descriptors without the message that they belong to."};
  }
  return true;
}

Result<bool> ProxyLink::answer(uint64_t value) {
  struct {
    Header header;
    uint64_t value;
  } const message{{static_cast<int32_t>(ProxyCommand::answer), 0, sizeof(value)}, value};
  auto bytes = std::as_bytes(std::span(&message, 1));
  while (!bytes.empty()) {
    const ssize_t put = send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(put));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) return false;
    if (errno != EAGAIN) return Error{fmt::format("the link to the machine broke: {}.", std::strerror(errno))};
    std::array<pollfd, 2> watched{{{descriptor(), POLLOUT, 0}, {stop_, POLLIN, 0}}};
    const int ready = poll(watched.data(), watched.size(), patience_ms_);
    if (ready == 0) return Error{"the machine does not read the answers to its requests."};
    if (ready > 0 && watched[1].revents != 0) return false;
  }
  return true;
}

}  // namespace halogen::vm
