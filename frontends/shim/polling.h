// What descriptors of ours are, and poll(2) as programs have it: for other calls that wait.
#pragma once

#include <poll.h>
#include <signal.h>
#include <time.h>

#include "driver/gem/file_key.h"

namespace halogen::shim {

// Of a file in /sys that is acted on when it is written.
constexpr int kControlMark = driver::kSyncFileMark - 5;

// The mark of a node, sync file, sync object or shared buffer; 0: none of ours.
int mark_of(int descriptor);
int poll_as_program(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* signals);

// A descriptor is closed that may have been one of epoll(7).
void forget_epoll(int descriptor);

}  // namespace halogen::shim
