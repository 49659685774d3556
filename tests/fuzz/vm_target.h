// The device process of the virtual machine door with a hostile machine: a stream of messages, and a file of guest
// memory.
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
#include "support/send_file.h"

namespace halogen::fuzz {

// The first byte selects the device; the rest is the stream. The first part carries the file descriptor of guest
// memory.
inline void vm_stream(std::span<const uint8_t> data) {
  constexpr size_t kMax = 4096;  // so that the replies fit the socket, which is never read
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
  if (data.empty() || test::send_with_file(wire.descriptor(), std::as_bytes(data), memory.descriptor()) < 0) return;
  shutdown(wire.descriptor(), SHUT_WR);
  static_cast<void>(server.serve(-1));  // until the stream ends for any reason
}

}  // namespace halogen::fuzz
