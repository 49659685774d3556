// A bidirectional connection. Sockets are one kind; tests and fuzzers have others.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace halogen::tbx {

class Channel {
 public:
  virtual ~Channel() = default;
  // Announces that the next byte starts a message. A peer may take any time to send it; all later bytes must follow
  // without long pauses.
  virtual void expect_message() {}
  // Fills `into`. Fewer bytes: the peer is gone or too slow, or the server is ending.
  virtual size_t read(std::span<std::byte> into) = 0;
  // False: the peer is gone or does not read, or the server is ending.
  virtual bool write(std::span<const std::byte> bytes) = 0;
  // Waits for a while. False: the server is ending.
  virtual bool pause(std::chrono::milliseconds time) = 0;
  // Returns the peer's fault that ended the connection. Empty: none is known.
  virtual std::string_view fault() const { return {}; }
};

// The time since which a connection has waited for its peer without using its device. Bytes that the peer sends do not
// end the wait; only a use of the device does. Other threads may call time() and any().
class Waiting {
 public:
  using Clock = std::chrono::steady_clock;

  void begin() {
    if (since_.load(std::memory_order_relaxed) != 0) return;
    since_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  }
  void end() { since_.store(0, std::memory_order_relaxed); }
  // Returns how long the thread has waited. Zero: it does not wait.
  Clock::duration time(Clock::time_point now) const {
    const Clock::rep since = since_.load(std::memory_order_relaxed);
    return since == 0 ? Clock::duration::zero() : now.time_since_epoch() - Clock::duration(since);
  }
  bool any() const { return since_.load(std::memory_order_relaxed) != 0; }

 private:
  std::atomic<Clock::rep> since_{0};
};

// How long a peer may take. The limits bound the time for which peers hold memory and threads, not the work that peers
// ask for.
struct PeerLimits {
  std::chrono::milliseconds message = std::chrono::seconds(30);  // for the rest of a message, or for 64 KiB of its data
  std::chrono::milliseconds reply = std::chrono::seconds(30);    // to read a reply, or 64 KiB of it
};

// A connected socket, which it owns. `stop`: a descriptor that becomes readable when the server ends.
class SocketChannel final : public Channel {
 public:
  SocketChannel(int socket, int stop, Waiting* waiting = nullptr, PeerLimits limits = {});
  ~SocketChannel() override;
  SocketChannel(const SocketChannel&) = delete;
  SocketChannel& operator=(const SocketChannel&) = delete;

  void expect_message() override { starts_message_ = true; }
  size_t read(std::span<std::byte> into) override;
  bool write(std::span<const std::byte> bytes) override;
  bool pause(std::chrono::milliseconds time) override;
  std::string_view fault() const override { return fault_; }

 private:
  using Clock = std::chrono::steady_clock;

  enum class Wait { ready, late, ends };
  Wait wait(short events, const Clock::time_point* deadline);
  bool ends();

  int socket_;
  int stop_;
  Waiting* waiting_;  // may be null
  PeerLimits limits_;
  std::vector<std::byte> buffer_;
  size_t first_ = 0;
  size_t end_ = 0;
  bool starts_message_ = false;  // no byte of the next message has been read
  std::string_view fault_;
  Clock::time_point looked_{};  // last check whether the server is ending
};

}  // namespace halogen::tbx
