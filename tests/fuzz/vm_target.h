// The device process of the virtual machine door with a hostile machine: a stream of messages, and a file of guest
// memory.
#pragma once

#include <fcntl.h>
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

// Returns a descriptor that a machine may send as its memory. Only the first is what a machine should send.
inline vm::File vm_memory(unsigned kind) {
  constexpr off_t kBytes = 1 << 20;
  int pipe[2];
  switch (kind % 8) {
    case 1:  // can be truncated at any time
    case 2: {
      vm::File file(memfd_create("guest", MFD_CLOEXEC));
      static_cast<void>(!ftruncate(file.descriptor(), kind % 8 == 1 ? kBytes : 0));
      return file;
    }
    case 3:
      return vm::File(memfd_create("guest", MFD_CLOEXEC | MFD_HUGETLB));
    case 4:
      return vm::File(open("/dev/zero", O_RDWR | O_CLOEXEC));
    case 5:
      if (pipe2(pipe, O_CLOEXEC) != 0) return vm::File();
      close(pipe[1]);
      return vm::File(pipe[0]);
    case 6:
      return vm::File(open("/", O_RDONLY | O_CLOEXEC));
    default: {
      vm::File file(memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING));
      static_cast<void>(!ftruncate(file.descriptor(), kBytes));
      return file;
    }
  }
}

// The first byte selects the device (low half) and the memory (high half); the rest is the stream. The first part
// carries the file descriptor of guest memory. After the stream the machine takes its memory away while the device
// still works. Neither answers nor interrupts are read.
inline void vm_stream(std::span<const uint8_t> data) {
  constexpr size_t kMax = 32768;
  if (data.empty()) return;
  const auto models = spec::device_models();
  const spec::DeviceModel& model = models[data[0] % 16 % models.size()];
  const vm::File memory = vm_memory(data[0] / 16u);
  data = data.subspan(1, std::min(data.size() - 1, kMax));
  int ends[2], interrupts[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  vm::File wire(ends[1]);
  vm::ProxyLink link{vm::File{ends[0]}, 0};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, interrupts) != 0) return;
  const vm::File unread(interrupts[1]);
  vm::MachineLink machine{vm::File(interrupts[0])};
  vm::DeviceServer server{std::move(link), nullptr};
  if (!server.create_device(model, vm::guest_device_options(model)).ok()) return;
  server.set_machine(machine);

  if (data.empty() || !memory) return;
  if (test::send_with_file(wire.descriptor(), std::as_bytes(data), memory.descriptor()) < 0) return;
  shutdown(wire.descriptor(), SHUT_WR);
  static_cast<void>(server.serve(-1));  // until the stream ends for any reason
  static_cast<void>(!ftruncate(memory.descriptor(), 0));
  server.device().advance(1'000'000);
}

}  // namespace halogen::fuzz
