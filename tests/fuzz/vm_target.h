// The device process of the virtual machine door, with a hostile machine: a stream of messages, with memory beside it.
#pragma once

#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "device_server.h"
#include "guest_setup.h"

namespace halogen::fuzz {

// The first byte chooses the device; the rest is what comes over the wire. A file of memory comes with its first part.
inline void vm_stream(std::span<const uint8_t> data) {
  constexpr size_t kMax = 4096;  // so that the answers fit into the socket that nobody reads
  if (data.empty()) return;
  const auto models = spec::device_models();
  const spec::DeviceModel& model = models[data[0] % models.size()];
  data = data.subspan(1, std::min(data.size() - 1, kMax));
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  vm::File wire(ends[1]);
  vm::DeviceServer server{vm::ProxyLink(vm::File(ends[0])), nullptr};
  if (!server.create_device(model, vm::guest_device_options(model)).ok()) return;

  const vm::File memory(memfd_create("guest", MFD_CLOEXEC));
  if (!memory || ftruncate(memory.descriptor(), 1 << 20) != 0) return;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec part{const_cast<uint8_t*>(data.data()), data.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const item = CMSG_FIRSTHDR(&message);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(sizeof(int));
  const int descriptor = memory.descriptor();
  std::memcpy(CMSG_DATA(item), &descriptor, sizeof(int));
  if (data.empty() || sendmsg(wire.descriptor(), &message, MSG_NOSIGNAL) < 0) return;
  shutdown(wire.descriptor(), SHUT_WR);
  static_cast<void>(server.serve(-1));  // until the stream ends, in whatever way
}

}  // namespace halogen::fuzz
