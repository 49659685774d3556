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
constexpr int64_t kLongestPoll_ms = 3'600'000;

bool again(int error) {
  return error == EINTR || error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

SocketChannel::SocketChannel(int socket, int stop, Waiting* waiting, PeerLimits limits)
    : socket_(socket), stop_(stop), waiting_(waiting), limits_(limits), buffer_(kBufferBytes) {}

SocketChannel::~SocketChannel() {
  ::close(socket_);
}

// Waits until the socket is ready. Null `deadline`: as long as needed.
SocketChannel::Wait SocketChannel::wait(short events, const Clock::time_point* deadline) {
  if (waiting_ != nullptr) waiting_->begin();
  for (;;) {
    std::array<pollfd, 2> both{pollfd{socket_, events, 0}, pollfd{stop_, POLLIN, 0}};
    int time = -1;
    if (deadline != nullptr) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
      time = static_cast<int>(std::clamp<int64_t>(left.count(), 0, kLongestPoll_ms));
    }
    const int ready = ::poll(both.data(), both.size(), time);
    if (ready < 0 && errno != EINTR) return Wait::ends;
    if (ready > 0) return both[1].revents != 0 ? Wait::ends : Wait::ready;
    if (deadline != nullptr && Clock::now() >= *deadline) return Wait::late;
  }
}

// Returns whether the server is ending. A message may have taken long and more may already be buffered; the end must
// not wait for all of them.
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
  Clock::time_point deadline{};  // set at the first wait that has one
  while (done < into.size()) {
    if (first_ < end_) {
      const size_t part = std::min(end_ - first_, into.size() - done);
      std::memcpy(into.data() + done, buffer_.data() + first_, part);
      first_ += part;
      done += part;
      starts_message_ = false;
      continue;
    }
    if (!starts_message_ && deadline == Clock::time_point{}) deadline = Clock::now() + limits_.message;
    const Wait waited = wait(POLLIN, starts_message_ ? nullptr : &deadline);
    if (waited == Wait::late) fault_ = "the peer did not complete a message in time";
    if (waited != Wait::ready) return done;
    const bool direct = into.size() - done >= buffer_.size();
    const auto target = direct ? into.subspan(done) : std::span(buffer_);
    const ssize_t got = ::recv(socket_, target.data(), target.size(), MSG_DONTWAIT);
    if (got < 0 && again(errno)) continue;
    if (got <= 0) return done;
    if (direct) {
      done += static_cast<size_t>(got);
      starts_message_ = false;
    } else {
      first_ = 0;
      end_ = static_cast<size_t>(got);
    }
  }
  return done;
}

bool SocketChannel::write(std::span<const std::byte> bytes) {
  Clock::time_point deadline{};  // of the present wait
  while (!bytes.empty()) {
    if (ends()) return false;
    const ssize_t done = ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (done > 0) {
      bytes = bytes.subspan(static_cast<size_t>(done));
      continue;
    }
    if (done == 0 || !again(errno)) return false;
    if (deadline == Clock::time_point{}) deadline = Clock::now() + limits_.reply;
    const Wait waited = wait(POLLOUT, &deadline);
    if (waited == Wait::late) fault_ = "the peer did not read its replies in time";
    if (waited != Wait::ready) return false;
  }
  return true;
}

bool SocketChannel::pause(std::chrono::milliseconds time) {
  pollfd stop{stop_, POLLIN, 0};
  return ::poll(&stop, 1, static_cast<int>(time.count())) <= 0;
}

}  // namespace halogen::tbx
