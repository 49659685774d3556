#include "tbx/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace halogen::tbx {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;

bool again(int error) {
  return error == EINTR || error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

SocketChannel::SocketChannel(int socket, int stop, Waiting* waiting)
    : socket_(socket), stop_(stop), waiting_(waiting), buffer_(kBufferBytes) {}

SocketChannel::~SocketChannel() {
  ::close(socket_);
}

// False: the server is ending.
bool SocketChannel::wait(short events) const {
  std::array<pollfd, 2> both{pollfd{socket_, events, 0}, pollfd{stop_, POLLIN, 0}};
  while (::poll(both.data(), both.size(), -1) < 0) {
    if (errno != EINTR) return false;
  }
  return both[1].revents == 0;
}

// Checks whether the server is ending. A message may have taken long and more may already be here: the end must not
// wait for all of them.
bool SocketChannel::ends() {
  constexpr std::chrono::milliseconds kOften{20};
  const auto now = Waiting::Clock::now();
  if (now - looked_ < kOften) return false;
  looked_ = now;
  pollfd stop{stop_, POLLIN, 0};
  return ::poll(&stop, 1, 0) > 0;
}

size_t SocketChannel::read(std::span<std::byte> into) {
  size_t done = 0;
  if (first_ < end_ && ends()) return 0;
  while (done < into.size()) {
    if (first_ < end_) {
      const size_t part = std::min(end_ - first_, into.size() - done);
      std::memcpy(into.data() + done, buffer_.data() + first_, part);
      first_ += part;
      done += part;
      continue;
    }
    if (waiting_ != nullptr) waiting_->begin();
    const bool goes_on = wait(POLLIN);
    if (waiting_ != nullptr) waiting_->end();
    if (!goes_on) return done;
    const bool direct = into.size() - done >= buffer_.size();
    const auto target = direct ? into.subspan(done) : std::span(buffer_);
    const ssize_t got = ::recv(socket_, target.data(), target.size(), MSG_DONTWAIT);
    if (got < 0 && again(errno)) continue;
    if (got <= 0) return done;
    if (direct) {
      done += static_cast<size_t>(got);
    } else {
      first_ = 0;
      end_ = static_cast<size_t>(got);
    }
  }
  return done;
}

bool SocketChannel::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (!wait(POLLOUT)) return false;
    const ssize_t done = ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (done < 0 && again(errno)) continue;
    if (done <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return true;
}

bool SocketChannel::pause(std::chrono::milliseconds time) {
  pollfd stop{stop_, POLLIN, 0};
  return ::poll(&stop, 1, static_cast<int>(time.count())) <= 0;
}

}  // namespace halogen::tbx
