// The thread that watches a stream's descriptor.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/exhaustion.h"
#include "base/own_thread.h"
#include "driver/perf/perf.h"
#include "driver/share/private_descriptor.h"

namespace halogen::driver {

int Perf::start_watching() {
  if (thread_.joinable()) return 0;
  wake_ = Descriptor(open_private([] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }));
  if (!wake_) return -EMFILE;
  thread_ = start_own_thread([this] { watch(); });
  return 0;
}

void Perf::stop() {
  if (!thread_.joinable()) return;
  stop_ = true;
  wake();
  thread_.join();
}

void Perf::wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.number(), &one, sizeof one);
}

// Returns whether the program, in all processes, has closed the stream. What programs send into their end is dropped.
bool Perf::is_abandoned(const PerfStream& stream) const {
  constexpr unsigned kMaxMessages = 64;
  char any[16];
  for (unsigned i = 0; i < kMaxMessages; ++i) {
    const ssize_t got = recv(stream.peer(), any, sizeof any, MSG_DONTWAIT);
    if (got < 0) return errno != EAGAIN && errno != EINTR;
    if (got == 0) {
      // An empty message returns 0 too. Only POLLHUP shows that the other end is closed.
      pollfd end{.fd = stream.peer(), .events = 0, .revents = 0};
      if (poll(&end, 1, 0) == 1 && (end.revents & POLLHUP) != 0) return true;
    }
  }
  return false;
}

void Perf::poll_stream() {
  if (!is_open() || !stream_->is_enabled()) return;
  driver_.catch_up();
  if (stream_->has_reports()) stream_->set_readable();
}

void Perf::watch() {
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr uint64_t kRest = 100'000;  // a program that keeps sending must not keep this thread busy
  PerfStreamRef stream;
  uint64_t period = 0;  // nanoseconds; 0: no reports come
  while (!stop_) {
    const timespec time{.tv_sec = static_cast<time_t>(period / kSecond),
                        .tv_nsec = static_cast<long>(period % kSecond)};
    pollfd list[] = {{.fd = wake_.number(), .events = POLLIN, .revents = 0},
                     {.fd = stream ? stream->peer() : -1, .events = POLLIN, .revents = 0}};
    ppoll(list, 2, period != 0 ? &time : nullptr, nullptr);
    if (list[1].revents != 0) {
      const timespec rest{.tv_sec = 0, .tv_nsec = kRest};
      nanosleep(&rest, nullptr);
    }
    uint64_t wakeups = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_.number(), &wakeups, sizeof wakeups);
    if (stop_) return;
    driver_.with_lock([&] {
      static_cast<void>(completes([&] { poll_stream(); }));
      stream = stream_;
      period = stream && stream->is_enabled() ? stream->parts().poll_ns : 0;
    });
  }
}

}  // namespace halogen::driver
