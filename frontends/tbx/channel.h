// The two directions of one connection. Sockets are one kind; tests and fuzzers have others.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace halogen::tbx {

class Channel {
 public:
  virtual ~Channel() = default;
  // Fills `into`, waiting as long as it takes; less than asked for: the peer has gone, or the server ends.
  virtual size_t read(std::span<std::byte> into) = 0;
  // False: the peer has gone.
  virtual bool write(std::span<const std::byte> bytes) = 0;
  // Nothing happens for a while. False: the server ends.
  virtual bool pause(std::chrono::milliseconds time) = 0;
};

// Since when somebody waits for a peer's next byte; other threads may ask.
class Waiting {
 public:
  using Clock = std::chrono::steady_clock;

  void begin() { since_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed); }
  void end() { since_.store(0, std::memory_order_relaxed); }
  // Zero: it does not wait.
  Clock::duration time(Clock::time_point now) const {
    const Clock::rep since = since_.load(std::memory_order_relaxed);
    return since == 0 ? Clock::duration::zero() : now.time_since_epoch() - Clock::duration(since);
  }
  bool any() const { return since_.load(std::memory_order_relaxed) != 0; }

 private:
  std::atomic<Clock::rep> since_{0};
};

// A connected socket. `stop`: a descriptor that becomes readable when the server ends. Owns the socket only.
class SocketChannel final : public Channel {
 public:
  SocketChannel(int socket, int stop, Waiting* waiting = nullptr);
  ~SocketChannel() override;
  SocketChannel(const SocketChannel&) = delete;
  SocketChannel& operator=(const SocketChannel&) = delete;

  size_t read(std::span<std::byte> into) override;
  bool write(std::span<const std::byte> bytes) override;
  bool pause(std::chrono::milliseconds time) override;

 private:
  bool wait(short events) const;
  bool ends();

  int socket_;
  int stop_;
  Waiting* waiting_;  // may be null
  std::vector<std::byte> buffer_;
  size_t first_ = 0;
  size_t end_ = 0;
  Waiting::Clock::time_point looked_{};  // whether the server ends
};

}  // namespace halogen::tbx
