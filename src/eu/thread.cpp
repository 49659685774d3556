#include "eu/thread.h"

namespace halogen::eu {

void Thread::start(uint32_t start_ip, uint32_t mask) {
  ip = start_ip;
  dispatch_mask = mask;
  active = mask;
  join_ip = kNoIp;
  channel_ip.fill(start_ip);
  call_depth.fill(0);
  masks.if_mask = masks.loop_mask = masks.continue_mask = masks.active = mask;
  masks.if_depth = masks.loop_depth = 0;
  masks.if_stack.fill(0);
  masks.loop_stack.fill(0);
  masks.continue_stack.fill(0);
  state[1] = (state[1] & 0xffff'0000) | (mask & 0xffff);
  state[2] = mask;
  state[3] = mask;
  status = ThreadStatus::running;
}

}  // namespace halogen::eu
