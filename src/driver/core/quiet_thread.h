// Starts a thread of the driver inside the user's program. It blocks all signals: these belong to the program's own
// threads.
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

#include "base/own_thread.h"

namespace halogen::driver {

template <class Function>
std::thread start_quietly(Function function) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread([function = std::move(function)] {
    const OwnThread here;
    function();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace halogen::driver
