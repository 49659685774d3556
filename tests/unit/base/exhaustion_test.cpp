// Exhaustion of the host: what an exception becomes at an entry, and what threads do.
#include "base/exhaustion.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "base/own_thread.h"
#include "base/worker_pool.h"
#include "support/host_faults.h"

namespace halogen {
namespace {

TEST(Exhaustion, ExceptionsBecomeErrnos) {
  EXPECT_EQ(contain([] { return 7; }), 7);
  EXPECT_EQ(contain([]() -> int { throw std::bad_alloc(); }), -ENOMEM);
  EXPECT_EQ(contain([]() -> int { throw std::length_error("too long"); }), -ENOMEM);
  EXPECT_EQ(contain([]() -> int { throw std::system_error(EAGAIN, std::generic_category()); }), -EAGAIN);
  EXPECT_EQ(contain([]() -> int { throw std::system_error(EMFILE, std::system_category()); }), -EMFILE);
  EXPECT_EQ(contain([] { return static_cast<int>(std::vector<char>(~size_t{0} / 2).size()); }), -ENOMEM);
}

TEST(Exhaustion, OtherExceptionsPassThrough) {
  EXPECT_THROW(contain([]() -> int { throw std::logic_error("a bug"); }), std::logic_error);
}

TEST(Exhaustion, EndOfScopeRunsAfterAnException) {
  bool ended = false;
  EXPECT_FALSE(completes([&] {
    const AtEnd end([&] { ended = true; });
    throw std::bad_alloc();
  }));
  EXPECT_TRUE(ended);
}

TEST(Exhaustion, ThreadCallsItsBodyAgain) {
  std::atomic<int> calls = 0;
  start_own_thread([&] {
    if (++calls < 3) throw std::bad_alloc();
  }).join();
  EXPECT_EQ(calls, 3);
}

TEST(Exhaustion, SignalMaskIsRestoredIfAThreadCannotStart) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  test::HostFaults faults(test::HostCall::thread, 1);
  EXPECT_EQ(faults.in([] { return contain([] { return start_own_thread([] {}).joinable() ? 1 : 0; }); }), -EAGAIN);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < 32; ++signal) EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
}

TEST(WorkerPool, ExceptionOfAPieceReachesTheCaller) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    WorkerPool pool(threads);
    for (size_t thrower = 0; thrower < 5; ++thrower) {
      std::atomic<int> running = 0;
      const auto work = [&](size_t piece) {
        ++running;
        const AtEnd end([&] { --running; });
        if (piece == thrower) throw std::bad_alloc();
      };
      EXPECT_EQ(contain([&] {
                  pool.for_each(5, work);
                  return 0;
                }),
                -ENOMEM);
      EXPECT_EQ(running, 0) << "every piece that began has ended";
    }
    std::atomic<int> done = 0;
    pool.for_each(100, [&](size_t) { ++done; });
    EXPECT_EQ(done, 100) << "the next job is complete";
  }
}

TEST(WorkerPool, PiecesAreDoneWithoutTheThreadsThatTheHostRefuses) {
  for (uint64_t n = 1; n <= 4; ++n) {
    for (const test::HostCall call : {test::HostCall::thread, test::HostCall::memory}) {
      WorkerPool pool(4);
      test::HostFaults faults(call, n, true);
      std::atomic<int> done = 0;
      const std::function<void(size_t)> work = [&](size_t) { ++done; };
      faults.in([&] {
        pool.for_each(50, work);
        return 0;
      });
      EXPECT_EQ(done, 50);
    }
  }
}

}  // namespace
}  // namespace halogen
