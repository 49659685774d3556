// Exceptions: illegal opcodes, breakpoints, and what software raises by a write to cr0.1. The system routine runs where
// STATE_SIP points; cr0.1 says what happened, cr0.2 where to go on, and clearing the master bit of cr0.0 goes on there.
// From Gen4 on. Left out: external halts, overflows of the mask stacks, and the routine's own save area.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

// Enters the system routine. False: no routine is set, or it runs already.
bool enter_system_routine(Thread& thread, uint32_t cause, uint32_t resume_at);

// What a breakpoint does before its instruction. True: the thread is in the system routine.
bool meets_breakpoint(Thread& thread, uint32_t offset);

// An instruction that writes cr0: it may raise an exception, or come back from one.
Step write_control(Frame& frame, const Prepared& prepared);

}  // namespace halogen::eu
