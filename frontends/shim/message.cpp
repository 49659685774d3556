#include "message.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace halogen::shim {

void Descriptors::add(int descriptor) {
  if (count_ == list_.size()) {
    close(descriptor);
  } else {
    list_[count_++] = descriptor;
  }
}

void Descriptors::close_all() {
  for (const int each : all()) {
    if (each >= 0) close(each);
  }
  count_ = 0;
}

bool want_senders(int socket) {
  const int yes = 1;
  return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0;
}

bool send_message(int socket, const void* data, size_t bytes, std::span<const int> descriptors, Wait wait) {
  if (descriptors.size() > Descriptors::kMax) return false;
  iovec part{const_cast<void*>(data), bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * Descriptors::kMax)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    std::memset(control, 0, CMSG_SPACE(descriptors.size_bytes()));
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = -1;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL | (wait == Wait::never ? MSG_DONTWAIT : 0));
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes);
}

namespace {

// Receives without room for descriptors. No value: there is no message.
std::optional<Sender> receive_sender(int socket, int flags) {
  char word = 0;
  iovec part{&word, sizeof word};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0) return std::nullopt;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  const bool is_known = header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_CREDENTIALS;
  if (!is_known) return std::nullopt;
  ucred who{};
  std::memcpy(&who, CMSG_DATA(header), sizeof who);
  return Sender{who.pid, who.uid};
}

}  // namespace

std::optional<Sender> next_sender(int socket) {
  return receive_sender(socket, MSG_PEEK);
}

void drop_message(int socket) {
  static_cast<void>(receive_sender(socket, 0));
}

// The control buffer has room for all descriptors that a message can carry: none is left open unseen.
ssize_t receive_message(int socket, void* data, size_t bytes, Descriptors& descriptors, Sender* sender, Wait wait) {
  iovec part{data, bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * Descriptors::kMax) + CMSG_SPACE(sizeof(ucred))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = -1;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait == Wait::never ? MSG_DONTWAIT : 0));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return got;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type == SCM_RIGHTS) {
      for (size_t at = CMSG_LEN(0); at + sizeof(int) <= header->cmsg_len; at += sizeof(int)) {
        int descriptor = -1;
        std::memcpy(&descriptor, reinterpret_cast<const char*>(header) + at, sizeof descriptor);
        descriptors.add(descriptor);
      }
    } else if (header->cmsg_type == SCM_CREDENTIALS && sender != nullptr) {
      ucred who{};
      std::memcpy(&who, CMSG_DATA(header), sizeof who);
      *sender = {who.pid, who.uid};
    }
  }
  // Our messages fit the buffers, so a truncated message is not one of ours.
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    errno = (message.msg_flags & MSG_CTRUNC) != 0 ? EMFILE : EMSGSIZE;
    return -1;
  }
  return got;
}

}  // namespace halogen::shim
