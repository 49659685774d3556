#include "machine_link.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>

namespace halogen::vm {
namespace {

constexpr int kStep_ms = 50;  // between two checks whether the start is cancelled

// Reads lines of the monitor until one has the word. False: the monitor closed, did not answer, or wrote a line without
// end; or the start is cancelled.
bool wait_for(const File& monitor, std::string_view word, unsigned seconds, const std::stop_token& stop) {
  constexpr size_t kLongestLine = 64 * 1024;
  std::string line;
  for (unsigned waited = 0; waited < seconds * 1000 && line.size() < kLongestLine && !stop.stop_requested();) {
    pollfd watched{monitor.descriptor(), POLLIN, 0};
    if (poll(&watched, 1, kStep_ms) == 0) {
      waited += kStep_ms;
      continue;
    }
    char letter = 0;  // what follows the answer is left in the socket
    const ssize_t got = recv(monitor.descriptor(), &letter, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return false;
    line += letter;
    if (letter != '\n') continue;
    if (line.find(word) != std::string::npos) return true;
    line.clear();
  }
  return false;
}

bool ask(const File& monitor, std::string_view command) {
  const std::string line = fmt::format("{{\"execute\":\"{}\"}}\n", command);
  return ::send(monitor.descriptor(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(line.size());
}

}  // namespace

void MachineLink::send(std::string line) {
  drain();
  if (std::ranges::find(lines_, line) != lines_.end()) return;
  if (broken_ || lines_.size() == kMaxMessages) {
    ++lost_;
    return;
  }
  lines_.push_back(std::move(line));
  send_kept();
}

// Sends the rest of a request. False: the socket takes no more.
bool MachineLink::flush() {
  while (!part_.empty() && !broken_) {
    const ssize_t put = ::send(socket_.descriptor(), part_.data(), part_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0) {
      part_.erase(0, static_cast<size_t>(put));
    } else if (errno == EAGAIN) {
      return false;
    } else if (errno != EINTR) {
      broken_ = true;
    }
  }
  return !broken_;
}

void MachineLink::send_kept() {
  while (flush() && keeps()) {
    if (!lines_.empty()) {
      part_ = std::move(lines_.front());
      lines_.pop_front();
    } else {
      part_ = std::move(*line_);
      line_.reset();
    }
  }
  if (!broken_) return;
  part_.clear();
  lines_.clear();
  line_.reset();
}

void MachineLink::write_memory(uint64_t address, uint32_t value) {
  send(fmt::format("writel {:#x} {:#x}\n", address, value));
}

void MachineLink::set_line(std::string_view device, unsigned pin, bool on) {
  drain();
  line_ = fmt::format("set_irq_in {} unnamed-gpio-in {} {}\n", device, pin, on ? 1 : 0);
  send_kept();
}

void MachineLink::out_long(uint16_t port, uint32_t value) {
  send(fmt::format("outl {:#x} {:#x}\n", port, value));
}

void MachineLink::out_word(uint16_t port, uint16_t value) {
  send(fmt::format("outw {:#x} {:#x}\n", port, value));
}

void MachineLink::drain() {
  constexpr unsigned kMaxParts = 16;  // a machine that writes without end does not hold this process
  std::array<char, 4096> answers;
  for (unsigned i = 0; i < kMaxParts; ++i) {
    if (recv(socket_.descriptor(), answers.data(), answers.size(), MSG_DONTWAIT) <= 0) return;
  }
}

Result<void> start_machine(const File& monitor, unsigned seconds, const std::stop_token& stop) {
  const auto answers = [&](std::string_view word) { return wait_for(monitor, word, seconds, stop); };
  const bool started = answers("QMP") && ask(monitor, "qmp_capabilities") && answers("return") &&
                       ask(monitor, "cont") && answers("return");
  if (started) return {};
  if (stop.stop_requested()) return Error{"the start of the machine was cancelled."};
  return Error{"the machine's monitor closed the connection or did not answer while the machine was started."};
}

}  // namespace halogen::vm
