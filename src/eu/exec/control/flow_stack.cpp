#include "eu/exec/control/flow_stack.h"

#include "eu/exec/control/masks.h"
#include "eu/exec/general/alu.h"

namespace halogen::eu {

namespace {

Step jump(Thread& thread, uint32_t target) {
  thread.ip = target;
  return Step::jumped;
}

// Returns the enabled channels whose predicate holds.
uint32_t passing_channels(const Frame& frame, const Prepared& prepared) {
  const uint32_t running = running_channels(frame.thread, frame.rules);
  const uint32_t lanes = predicate_lanes(frame.thread, prepared.lowered.mask);
  if (prepared.in.exec_size <= 1 || (frame.thread.control[0] & ControlBits::kSingleProgramFlow) != 0) {
    return (lanes & 1) != 0 ? running : 0;
  }
  return running & (lanes << (prepared.in.first_channel & 31));
}

bool any_enabled(const Frame& frame) {
  return running_channels(frame.thread, frame.rules) != 0;
}

void push_if(Thread& thread) {
  MaskStacks& masks = thread.masks;
  if (masks.if_depth == kMaskStack) {
    thread.control[1] |= ExceptionBits::kStackOverflow;
    return;
  }
  masks.if_stack[masks.if_depth++] = masks.if_mask;
}

void pop_if(Thread& thread, unsigned count) {
  MaskStacks& masks = thread.masks;
  for (; count > 0 && masks.if_depth > 0; --count) {
    masks.if_mask = masks.if_stack[--masks.if_depth];
  }
}

void pop_loop(Thread& thread) {
  MaskStacks& masks = thread.masks;
  if (masks.loop_depth > 0) {
    --masks.loop_depth;
    masks.loop_mask = masks.loop_stack[masks.loop_depth];
    masks.continue_mask = masks.continue_stack[masks.loop_depth];
  }
}

Step do_if(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  const uint32_t passing = passing_channels(frame, prepared);
  if (prepared.in.op == Op::iff && passing == 0) {
    return jump(thread, prepared.jip);
  }
  push_if(thread);
  thread.masks.if_mask &= passing;
  return any_enabled(frame) ? Step::next : jump(thread, prepared.jip);
}

Step do_else(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  MaskStacks& masks = thread.masks;
  if (masks.if_depth > 0) {
    masks.if_mask = masks.if_stack[masks.if_depth - 1u] & ~masks.if_mask;
  }
  if (any_enabled(frame)) {
    return Step::next;
  }
  pop_if(thread, prepared.in.pop_count);
  return jump(thread, prepared.jip);
}

Step do_endif(Frame& frame, const Prepared& prepared) {
  pop_if(frame.thread, prepared.in.pop_count);
  return Step::next;
}

Step do_do(Frame& frame, const Prepared&) {
  Thread& thread = frame.thread;
  MaskStacks& masks = thread.masks;
  const uint32_t running = running_channels(thread, frame.rules);
  if (masks.loop_depth == kMaskStack) {
    thread.control[1] |= ExceptionBits::kStackOverflow;
  } else {
    masks.loop_stack[masks.loop_depth] = masks.loop_mask;
    masks.continue_stack[masks.loop_depth] = masks.continue_mask;
    ++masks.loop_depth;
  }
  masks.loop_mask = masks.continue_mask = running;
  return Step::next;
}

Step do_break(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  const uint32_t passing = passing_channels(frame, prepared);
  thread.masks.loop_mask &= ~passing;
  thread.masks.continue_mask &= ~passing;
  if (thread.masks.loop_mask != 0) {
    // Channels that continued may wait for the loop's end, so the code up to it runs even if no channel is enabled.
    return Step::next;
  }
  pop_if(thread, prepared.in.pop_count);
  pop_loop(thread);
  return jump(thread, prepared.jip);
}

Step do_cont(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  thread.masks.continue_mask &= ~passing_channels(frame, prepared);
  if (thread.masks.continue_mask != 0) {
    return Step::next;
  }
  pop_if(thread, prepared.in.pop_count);
  return jump(thread, prepared.jip);
}

Step do_while(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  thread.masks.continue_mask = thread.masks.loop_mask;
  const uint32_t passing = passing_channels(frame, prepared);
  if (passing != 0) {
    thread.masks.loop_mask = thread.masks.continue_mask = passing;
    return jump(thread, prepared.jip);
  }
  pop_loop(thread);
  return Step::next;
}

Step do_halt(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  thread.masks.active &= ~passing_channels(frame, prepared);
  return thread.masks.active != 0 || prepared.jip == prepared.offset ? Step::next : jump(thread, prepared.jip);
}

Step do_jmpi(Frame& frame, const Prepared& prepared) {
  if ((predicate_lanes(frame.thread, prepared.lowered.mask) & 1) == 0) {
    return Step::next;
  }
  if (prepared.in.has_jip) {
    return jump(frame.thread, prepared.jip);
  }
  SourceReader source;
  source.open(frame, prepared, prepared.lowered.source[1]);
  const auto count = static_cast<uint32_t>(source.value(0).integer);
  return jump(frame.thread, prepared.next + count * frame.rules.register_jump_unit);
}

Step do_push(Frame& frame, const Prepared&) {
  push_if(frame.thread);
  return Step::next;
}

}  // namespace

Handler stack_handler(Op op) {
  switch (op) {
    case Op::if_:
    case Op::iff:
      return do_if;
    case Op::else_:
      return do_else;
    case Op::endif:
    case Op::pop:
      return do_endif;
    case Op::do_:
      return do_do;
    case Op::while_:
      return do_while;
    case Op::break_:
      return do_break;
    case Op::cont:
      return do_cont;
    case Op::halt:
      return do_halt;
    case Op::jmpi:
      return do_jmpi;
    case Op::push:
      return do_push;
    default:
      return nullptr;
  }
}

}  // namespace halogen::eu
