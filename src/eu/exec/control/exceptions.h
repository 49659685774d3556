// Exceptions, Gen4 and later: illegal opcodes, breakpoints, and software exceptions (raised by a write to cr0.1). The
// system routine starts at STATE_SIP. cr0.1 holds the cause and cr0.2 the return address; the routine returns when it
// clears the master exception bit of cr0.0. Not modelled: external halts, exceptions for mask stack overflows, the save
// area of the routine.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

// Enters the system routine. False: STATE_SIP is not set, or the routine is already running.
bool enter_system_routine(Thread& thread, uint32_t cause, uint32_t resume_at);

// Handles a breakpoint before its instruction executes. True: the thread entered the system routine.
bool hits_breakpoint(Thread& thread, uint32_t offset);

// Executes an instruction that writes cr0. The write may raise an exception or return from one.
Step write_control(Frame& frame, const Prepared& prepared);

}  // namespace halogen::eu
