#include "base/own_thread.h"

#include <signal.h>

#include <utility>

#include "base/exhaustion.h"

namespace halogen {

std::thread start_own_thread(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const AtEnd restore([&before] { pthread_sigmask(SIG_SETMASK, &before, nullptr); });
  return std::thread([body = std::move(body)] {
    const OwnThread here;
    complete_in_the_end(body);
  });
}

}  // namespace halogen
