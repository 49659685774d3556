// The kinds of our descriptors, and poll(2) as programs see it, for other calls that wait.
#pragma once

#include <poll.h>
#include <signal.h>
#include <time.h>

#include "driver/gem/file_key.h"

namespace halogen::shim {

// Mark of a file in /sys that triggers an action when written.
constexpr int kControlMark = driver::kSyncFileMark - 5;

// Mark of a file of /proc with a limit.
constexpr int kLimitMark = driver::kSyncFileMark - 7;

// Mark of an event of performance monitoring.
constexpr int kEventMark = driver::kSyncFileMark - 8;

// Returns the mark of a node, sync file, sync object, shared buffer, stream, control file, limit or event.
// 0: another descriptor.
int mark_of(int descriptor);
// Polls like poll(2) called by the program.
int poll_as_program(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* signals);

// Drops the list of an epoll(7) set whose descriptor is closed.
void forget_epoll(int descriptor);

}  // namespace halogen::shim
