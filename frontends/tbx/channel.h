// The two directions of one connection. Sockets are one kind; tests and fuzzers have others.
#pragma once

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

// A connected socket. `stop`: a descriptor that becomes readable when the server ends. Owns the socket only.
class SocketChannel final : public Channel {
 public:
  SocketChannel(int socket, int stop);
  ~SocketChannel() override;
  SocketChannel(const SocketChannel&) = delete;
  SocketChannel& operator=(const SocketChannel&) = delete;

  size_t read(std::span<std::byte> into) override;
  bool write(std::span<const std::byte> bytes) override;
  bool pause(std::chrono::milliseconds time) override;

 private:
  bool wait(short events) const;

  int socket_;
  int stop_;
  std::vector<std::byte> buffer_;
  size_t first_ = 0;
  size_t end_ = 0;
};

}  // namespace halogen::tbx
