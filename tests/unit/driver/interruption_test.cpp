// Signals during a wait: the handler runs after the call, and decides whether it is restarted.
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "sync_door.h"

namespace halogen::driver {
namespace {

std::atomic<int> handled{0};
void on_signal(int) {
  ++handled;
}

class Interrupted : public SyncDoor {
 protected:
  // Runs `function` while another thread keeps sending SIGUSR1 to this thread, so that the signal also arrives during
  // a wait.
  template <class Function>
  static void while_signalled(int flags, void (*handler)(int), Function function) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
    handled = 0;
    std::atomic<bool> stop{false};
    std::thread sender([&, target = pthread_self()] {
      while (!stop) {
        pthread_kill(target, SIGUSR1);
        sched_yield();
      }
    });
    function();
    stop = true;
    sender.join();
    signal(SIGUSR1, SIG_IGN);
  }
};

TEST_P(Interrupted, SignalEndsWaitAndHandlerRunsAfterIt) {
  Gate gate;
  const uint32_t object = sync_object();
  const uint32_t batch = make_empty();
  ASSERT_EQ(run({.in = gate.descriptor(), .batch = batch}), 0);
  while_signalled(0, on_signal, [&] {
    {
      Interruption interruption;
      drm_i915_gem_wait wait{.bo_handle = batch, .flags = 0, .timeout_ns = int64_t{1} << 50};
      EXPECT_EQ(call(DRM_IOCTL_I915_GEM_WAIT, wait), -EINTR);
      EXPECT_LT(wait.timeout_ns, int64_t{1} << 50) << "the remaining time";
      const int before = handled;
      EXPECT_TRUE(interruption.is_due());
      EXPECT_FALSE(interruption.deliver());
      EXPECT_GT(handled, before) << "not before";
    }
    {
      Interruption interruption;
      EXPECT_EQ(wait_objects({object}, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, INT64_MAX), -EINTR);
    }
  });
  while_signalled(SA_RESTART, on_signal, [&] {
    Interruption interruption;
    EXPECT_EQ(wait(batch), -EINTR);
    EXPECT_TRUE(interruption.deliver()) << "the call is to be restarted";
  });
  while_signalled(0, SIG_IGN, [&] {
    const Interruption interruption;
    EXPECT_EQ(wait(batch, 1'000'000), -ETIME) << "an ignored signal";
  });
  gate.open();
  const Interruption interruption;
  EXPECT_EQ(wait(batch), 0);
}

// Signals that the program blocks do not interrupt, and its mask is restored.
TEST_P(Interrupted, SignalMaskIsRestored) {
  Gate gate;
  const uint32_t batch = make_empty();
  ASSERT_EQ(run({.in = gate.descriptor(), .batch = batch}), 0);
  sigset_t mask, before, after;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &mask, &before);
  while_signalled(0, on_signal, [&] {
    {
      const Interruption interruption;
      EXPECT_EQ(wait(batch, 1'000'000), -ETIME);
    }
    EXPECT_EQ(handled, 0);
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
      EXPECT_EQ(sigismember(&after, signal) == 1, signal == SIGUSR1 || sigismember(&before, signal) == 1);
    }
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  gate.open();
  EXPECT_EQ(wait(batch), 0);
}

INSTANTIATE_TEST_SUITE_P(Chips, Interrupted, ::testing::Values("g45", "icl"), chip_name);

}  // namespace
}  // namespace halogen::driver
