// A server in a thread, and clients on 127.0.0.1 or a unix socket.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "neo_stream.h"
#include "tbx/server.h"

namespace halogen::tbx {

class Client {
 public:
  explicit Client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  explicit Client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { leave(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  bool send(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t done = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (done <= 0) return false;
      bytes = bytes.subspan(static_cast<size_t>(done));
    }
    return true;
  }
  // Receives words. Fewer: the server has ended the connection.
  std::vector<uint32_t> receive(size_t words) const {
    std::vector<uint32_t> result(words);
    auto rest = std::as_writable_bytes(std::span(result));
    while (!rest.empty()) {
      const ssize_t got = ::recv(socket_, rest.data(), rest.size(), 0);
      if (got <= 0) break;
      rest = rest.subspan(static_cast<size_t>(got));
    }
    result.resize(words - (rest.size() + 3) / 4);
    return result;
  }
  void leave() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

 private:
  int socket_;
  bool connected_ = false;
};

// Returns a dword of memory as a client sees it.
inline uint32_t read_word(const Client& client, Messages& out, uint64_t address) {
  out.clear();
  out.read(address, 4);
  EXPECT_TRUE(client.send(out.bytes()));
  const auto words = client.receive(7);
  return words.size() == 7 ? words[6] : 0xdead'beef;
}

class Serving {
 public:
  explicit Serving(const char* device, bool shared = false, std::string trace = {},
                   std::chrono::milliseconds silence_limit = std::chrono::hours(1))
      : Serving(device, with(shared, std::move(trace), silence_limit)) {}
  Serving(const char* device, ServerOptions options) {
    options.model = spec::find_device(device);
    options.log = [this](std::string_view line) {
      const std::lock_guard lock(guard_);
      log_.emplace_back(line);
      changed_.notify_all();
    };
    auto made = Server::listen(std::move(options));
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.message());
    server = std::move(made).value();
    thread_ = std::thread([this] { server->run(); });
  }
  ~Serving() { finish(); }
  void finish() {
    if (!thread_.joinable()) return;
    server->stop();
    thread_.join();
  }
  std::vector<std::string> log() {
    const std::lock_guard lock(guard_);
    return log_;
  }
  void wait_for(std::string_view what) {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] {
      for (const std::string& line : log_) {
        if (line.find(what) != std::string::npos) return true;
      }
      return false;
    });
  }

  std::unique_ptr<Server> server;

 private:
  static ServerOptions with(bool shared, std::string trace, std::chrono::milliseconds silence_limit) {
    ServerOptions options;
    options.shared = shared;
    options.trace = std::move(trace);
    options.silence_limit = silence_limit;
    return options;
  }

  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<std::string> log_;
  std::thread thread_;
};

}  // namespace halogen::tbx
