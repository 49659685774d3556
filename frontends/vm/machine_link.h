// Requests to the machine beside the proxy's connection: interrupts and register writes of a BIOS, through QEMU's qtest
// socket, which works with a running machine; and the start, through its monitor (QMP).
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "file.h"

namespace halogen::vm {

// Connects to a socket; waits up to `seconds`, or until asked to stop.
Result<File> connect_to(const std::string& path, unsigned seconds, const std::stop_token& stop);

class MachineLink {
 public:
  explicit MachineLink(File socket) : socket_(std::move(socket)) {}

  void write_memory(uint64_t address, uint32_t value);            // a message interrupt
  void set_line(std::string_view device, unsigned pin, bool on);  // an input of an interrupt controller
  void out_long(uint16_t port, uint32_t value);
  void out_word(uint16_t port, uint16_t value);
  // Discards replies, which must not fill the socket.
  void drain();

 private:
  void send(const std::string& line);

  File socket_;
};

// Starts a machine that was created in the stopped state.
Result<void> start_machine(const std::string& monitor_path, unsigned seconds, const std::stop_token& stop);

}  // namespace halogen::vm
