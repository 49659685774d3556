#include "eu/exec/control/exceptions.h"

#include "eu/exec/control/flow.h"
#include "eu/exec/general/alu.h"

namespace halogen::eu {

bool enter_system_routine(Thread& thread, uint32_t cause, uint32_t resume_at) {
  if (thread.sip == kNoIp || (thread.control[0] & ControlBits::kMasterException) != 0) {
    return false;
  }
  thread.control[0] |= ControlBits::kMasterException | ControlBits::kAccumulatorDisable;
  thread.control[1] |= cause;
  thread.control[2] = resume_at;
  thread.join_ip = kNoIp;  // no channel joins before the routine ends
  thread.ip = thread.sip;
  return true;
}

// A system routine that returns from a breakpoint sets the suppress bit, so that the instruction executes once.
bool hits_breakpoint(Thread& thread, uint32_t offset) {
  const bool in_routine = (thread.control[0] & ControlBits::kMasterException) != 0;
  if (!in_routine && (thread.control[0] & ControlBits::kBreakpointSuppress) != 0) {
    thread.control[0] &= ~ControlBits::kBreakpointSuppress;
    return false;
  }
  return enter_system_routine(thread, ExceptionBits::kBreakpoint, offset);
}

Step write_control(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  const bool was_in_routine = (thread.control[0] & ControlBits::kMasterException) != 0;
  const Step step = execute_alu(frame, prepared);
  if (step != Step::next) {
    return step;
  }
  constexpr uint32_t kEnable = ExceptionBits::kSoftware >> 16;
  if (was_in_routine && (thread.control[0] & ControlBits::kMasterException) == 0) {
    if (frame.rules.flow == FlowModel::channel_ip) {
      thread.join_ip = 0;  // makes continue_at() look for waiting channels
    }
    continue_at(thread, thread.control[2]);
    return Step::jumped;
  }
  if (!was_in_routine && (thread.control[1] & ExceptionBits::kSoftware) != 0 && (thread.control[1] & kEnable) != 0 &&
      enter_system_routine(thread, ExceptionBits::kSoftware, prepared.next)) {
    return Step::jumped;
  }
  return step;
}

}  // namespace halogen::eu
