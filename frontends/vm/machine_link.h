// Requests to the machine beside the proxy's connection: interrupts and register writes of a BIOS, through QEMU's qtest
// socket, which works with a running machine; and the start, through its monitor (QMP).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "file.h"

namespace halogen::vm {

// Never waits for the machine, which may itself be waiting for an answer of this process, for example if a message
// interrupt is addressed to the device's own BAR. What the socket does not take is kept and sent later. The machine
// cannot tell equal pending interrupts apart, so only one of them is kept.
class MachineLink {
 public:
  static constexpr size_t kMaxMessages = 64;  // different message interrupts that are kept

  explicit MachineLink(File socket) : socket_(std::move(socket)) {}

  void write_memory(uint64_t address, uint32_t value);            // a message interrupt
  void set_line(std::string_view device, unsigned pin, bool on);  // an input of an interrupt controller
  void out_long(uint16_t port, uint32_t value);
  void out_word(uint16_t port, uint16_t value);
  // Discards replies, which must not fill the socket.
  void drain();

  int descriptor() const { return socket_.descriptor(); }
  // Returns whether requests are kept. Call send_kept() when the socket is writable.
  bool keeps() const { return !part_.empty() || !lines_.empty() || line_.has_value(); }
  void send_kept();
  uint64_t lost() const { return lost_; }  // message interrupts beyond kMaxMessages, or after the socket broke

 private:
  void send(std::string line);
  bool flush();

  File socket_;
  std::string part_;                 // the rest of a request that the socket took in part
  std::deque<std::string> lines_;    // requests, in order
  std::optional<std::string> line_;  // the latest level of the interrupt line
  bool broken_ = false;
  uint64_t lost_ = 0;
};

// Starts a machine that was created in the stopped state, through a connection to its monitor. Waits up to `seconds`
// for each answer. A stop request ends the wait.
Result<void> start_machine(const File& monitor, unsigned seconds, const std::stop_token& stop);

}  // namespace halogen::vm
