// A bidirectional connection. Sockets are one kind; tests and fuzzers have others.
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
  // Fills `into` and waits as long as needed. Fewer bytes: the peer is gone, or the server is ending.
  virtual size_t read(std::span<std::byte> into) = 0;
  // False: the peer is gone.
  virtual bool write(std::span<const std::byte> bytes) = 0;
  // Waits for a while. False: the server is ending.
  virtual bool pause(std::chrono::milliseconds time) = 0;
};

// Since when a thread waits for the peer's next byte. Other threads may ask.
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

// A connected socket, which it owns. `stop`: a descriptor that becomes readable when the server ends.
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
  Waiting::Clock::time_point looked_{};  // last check whether the server is ending
};

}  // namespace halogen::tbx
