#include "machine_link.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

namespace halogen::vm {
namespace {

bool send_line(const File& socket, const std::string& line) {
  return write_all(socket.descriptor(), std::as_bytes(std::span(line)));
}

}  // namespace

Result<File> connect_to(const std::string& path, unsigned seconds, const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kPause{10};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return Error{fmt::format("{} is too long for a socket.", path)};
  path.copy(address.sun_path, path.size());
  for (std::chrono::milliseconds waited{0}; waited < std::chrono::seconds(seconds); waited += kPause) {
    if (stop.stop_requested()) return Error{"the start of the machine was cancelled."};
    File socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return Error{fmt::format("cannot create a socket: {}.", std::strerror(errno))};
    if (connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return socket;
    std::this_thread::sleep_for(kPause);
  }
  return Error{fmt::format("no connection at {}: the machine did not start.", path)};
}

void MachineLink::send(const std::string& line) {
  drain();
  send_line(socket_, line);
}

void MachineLink::write_memory(uint64_t address, uint32_t value) {
  send(fmt::format("writel {:#x} {:#x}\n", address, value));
}

void MachineLink::set_line(std::string_view device, unsigned pin, bool on) {
  send(fmt::format("set_irq_in {} unnamed-gpio-in {} {}\n", device, pin, on ? 1 : 0));
}

void MachineLink::out_long(uint16_t port, uint32_t value) {
  send(fmt::format("outl {:#x} {:#x}\n", port, value));
}

void MachineLink::out_word(uint16_t port, uint16_t value) {
  send(fmt::format("outw {:#x} {:#x}\n", port, value));
}

void MachineLink::drain() {
  std::array<char, 4096> answers;
  while (recv(socket_.descriptor(), answers.data(), answers.size(), MSG_DONTWAIT) > 0) {
  }
}

Result<void> start_machine(const std::string& monitor_path, unsigned seconds, const std::stop_token& stop) {
  auto socket = connect_to(monitor_path, seconds, stop);
  if (!socket) return socket.error();
  const auto wait_for = [&](std::string_view word) {  // in a line of the monitor
    std::string line;
    for (std::byte byte; read_all(socket->descriptor(), std::span(&byte, 1));) {
      line += static_cast<char>(byte);
      if (line.back() != '\n') continue;
      if (line.find(word) != std::string::npos) return true;
      line.clear();
    }
    return false;
  };
  const bool started = wait_for("QMP") && send_line(*socket, "{\"execute\":\"qmp_capabilities\"}\n") &&
                       wait_for("return") && send_line(*socket, "{\"execute\":\"cont\"}\n") && wait_for("return");
  return started ? Result<void>{} : Error{"the machine's monitor closed before the machine ran."};
}

}  // namespace halogen::vm
