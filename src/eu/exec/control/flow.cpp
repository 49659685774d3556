#include "eu/exec/control/flow.h"

#include <bit>

#include "eu/exec/control/exceptions.h"
#include "eu/exec/control/flow_stack.h"
#include "eu/exec/control/masks.h"
#include "eu/exec/general/alu.h"

namespace halogen::eu {

namespace {

// Chooses the channels that run next: those of the deepest call, and among them those at the lowest address.
void reschedule(Thread& thread) {
  unsigned depth = 0;
  for (uint32_t rest = thread.dispatch_mask; rest != 0; rest &= rest - 1) {
    const auto channel = static_cast<size_t>(std::countr_zero(rest));
    depth = thread.call_depth[channel] > depth ? thread.call_depth[channel] : depth;
  }
  uint32_t lowest = kNoIp;
  for (uint32_t rest = thread.dispatch_mask; rest != 0; rest &= rest - 1) {
    const auto channel = static_cast<size_t>(std::countr_zero(rest));
    if (thread.call_depth[channel] == depth && thread.channel_ip[channel] < lowest) {
      lowest = thread.channel_ip[channel];
    }
  }
  uint32_t active = 0;
  uint32_t join = kNoIp;
  for (uint32_t rest = thread.dispatch_mask; rest != 0; rest &= rest - 1) {
    const auto channel = static_cast<size_t>(std::countr_zero(rest));
    const uint32_t waits_at = thread.channel_ip[channel];
    if (thread.call_depth[channel] != depth) {
      continue;
    }
    if (waits_at == lowest) {
      active |= 1u << channel;
    } else if (waits_at < join) {
      join = waits_at;
    }
  }
  thread.active = active;
  thread.join_ip = join;
  thread.ip = lowest;
}

void move_channels(Thread& thread, uint32_t channels, uint32_t ip) {
  for (uint32_t rest = channels; rest != 0; rest &= rest - 1) {
    thread.channel_ip[static_cast<size_t>(std::countr_zero(rest))] = ip;
  }
}

// Moves the leaving channels to `target` and the other active channels to the next instruction.
Step diverge(Thread& thread, const Prepared& prepared, uint32_t leaving, uint32_t target) {
  if (leaving == 0) {
    return Step::next;
  }
  move_channels(thread, leaving, target);
  move_channels(thread, thread.active & ~leaving, prepared.next);
  reschedule(thread);
  return Step::jumped;
}

// The active channels that a branch tests, and those of them for which its predicate and, on Gen6, its comparison hold.
struct Tested {
  uint32_t all;
  uint32_t passed;
};

uint32_t compared_lanes(Frame& frame, const Prepared& prepared) {
  SourceReader first;
  SourceReader second;
  first.open(frame, prepared, prepared.lowered.source[0]);
  second.open(frame, prepared, prepared.lowered.source[1]);
  const Condition relation = prepared.lowered.compute.relation;
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane < prepared.lowered.exec_size; ++lane) {
    const bool truth = first.is_float() ? compare(relation, first.value(lane).real, second.value(lane).real, false)
                                        : compare(relation, first.value(lane).integer, second.value(lane).integer);
    lanes |= truth ? 1u << lane : 0;
  }
  return lanes;
}

Tested test_channels(Frame& frame, const Prepared& prepared) {
  const Thread& thread = frame.thread;
  uint32_t lanes = predicate_lanes(frame.thread, prepared.lowered.mask);
  const bool has_comparison = prepared.in.condition != Condition::none &&
                              (prepared.in.op == Op::if_ || prepared.in.op == Op::while_) && prepared.in.sources == 2;
  if (has_comparison) {
    lanes &= compared_lanes(frame, prepared);
  }
  const bool one_for_all = prepared.in.exec_size <= 1 || (thread.control[0] & ControlBits::kSingleProgramFlow) != 0;
  if (one_for_all) {
    return {thread.active, (lanes & 1) != 0 ? thread.active : 0};
  }
  const unsigned shift = prepared.in.first_channel & 31u;
  return {(prepared.lowered.mask.lanes << shift) & thread.active, (lanes << shift) & thread.active};
}

int32_t register_target(Frame& frame, const Prepared& prepared, unsigned which, unsigned lane) {
  SourceReader source;
  source.open(frame, prepared, prepared.lowered.source[which]);
  return static_cast<int32_t>(source.value(lane).integer);
}

Step do_if(Frame& frame, const Prepared& prepared) {
  const Tested tested = test_channels(frame, prepared);
  return diverge(frame.thread, prepared, tested.all & ~tested.passed, prepared.jip);
}

Step do_else(Frame& frame, const Prepared& prepared) {
  const bool other = prepared.in.branch_control && prepared.in.has_uip;
  return diverge(frame.thread, prepared, frame.thread.active, other ? prepared.uip : prepared.jip);
}

Step do_nothing(Frame&, const Prepared&) {
  return Step::next;
}

Step do_while(Frame& frame, const Prepared& prepared) {
  return diverge(frame.thread, prepared, test_channels(frame, prepared).passed, prepared.jip);
}

// Executes break, cont, halt, goto and brc: channels that pass the test continue at UIP.
Step do_leave(Frame& frame, const Prepared& prepared) {
  uint32_t target = prepared.in.has_uip ? prepared.uip : prepared.jip;
  if (prepared.in.op == Op::brc && !prepared.in.has_jip && !prepared.in.has_uip) {
    target = prepared.offset + static_cast<uint32_t>(register_target(frame, prepared, 0, 1));
  }
  const Tested tested = test_channels(frame, prepared);
  const bool inverted = prepared.in.op == Op::goto_ && frame.rules.goto_leaves_on_false && !prepared.in.branch_control;
  return diverge(frame.thread, prepared, inverted ? tested.all & ~tested.passed : tested.passed, target);
}

Step do_brd(Frame& frame, const Prepared& prepared) {
  const uint32_t passed = test_channels(frame, prepared).passed;
  if (prepared.in.has_jip || passed == 0) {
    return diverge(frame.thread, prepared, passed, prepared.jip);
  }
  // Each channel has its own target.
  Thread& thread = frame.thread;
  move_channels(thread, thread.active & ~passed, prepared.next);
  for (uint32_t rest = passed; rest != 0; rest &= rest - 1) {
    const auto channel = static_cast<unsigned>(std::countr_zero(rest));
    const unsigned lane = (channel - prepared.in.first_channel) & 31u;
    move_channels(thread, 1u << channel,
                  prepared.offset + static_cast<uint32_t>(register_target(frame, prepared, 0, lane)));
  }
  reschedule(thread);
  return Step::jumped;
}

Step do_jmpi(Frame& frame, const Prepared& prepared) {
  if ((predicate_lanes(frame.thread, prepared.lowered.mask) & 1) == 0) {
    return Step::next;
  }
  uint32_t target = prepared.jip;
  if (!prepared.in.has_jip) {
    const EuRules& rules = frame.rules;
    const unsigned which = rules.register_jump_from_next ? 1 : 0;
    const uint32_t base = rules.register_jump_from_next ? prepared.next : prepared.offset;
    target = base + static_cast<uint32_t>(register_target(frame, prepared, which, 0)) * rules.register_jump_unit;
  }
  continue_at(frame.thread, target);
  return Step::jumped;
}

Step do_call(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  const uint32_t passed = test_channels(frame, prepared).passed;
  if (passed == 0) {
    return Step::next;
  }
  const unsigned which = frame.rules.register_jump_from_next ? 1 : 0;
  uint32_t target = prepared.jip;
  if (!prepared.in.has_jip) {
    const auto value = static_cast<uint32_t>(register_target(frame, prepared, which, 0));
    target = prepared.in.op == Op::calla ? value : prepared.offset + value;
  }
  const ir::Target& returns = prepared.lowered.target;
  if (returns.file != ir::File::none) {
    FileView view;
    view.open(frame, prepared, returns.file, returns.access, returns.type);
    view.store(0, prepared.next);
    view.store(1, thread.active);
  }
  move_channels(thread, thread.active & ~passed, prepared.next);
  move_channels(thread, passed, target);
  for (uint32_t rest = passed; rest != 0; rest &= rest - 1) {
    uint8_t& depth = thread.call_depth[static_cast<size_t>(std::countr_zero(rest))];
    depth = depth < 0xff ? static_cast<uint8_t>(depth + 1) : depth;
  }
  reschedule(thread);
  return Step::jumped;
}

Step do_ret(Frame& frame, const Prepared& prepared) {
  Thread& thread = frame.thread;
  const uint32_t passed = test_channels(frame, prepared).passed;
  if (passed == 0) {
    return Step::next;
  }
  const auto target = static_cast<uint32_t>(register_target(frame, prepared, 0, 0));
  move_channels(thread, thread.active & ~passed, prepared.next);
  move_channels(thread, passed, target);
  for (uint32_t rest = passed; rest != 0; rest &= rest - 1) {
    uint8_t& depth = thread.call_depth[static_cast<size_t>(std::countr_zero(rest))];
    depth = depth > 0 ? static_cast<uint8_t>(depth - 1) : depth;
  }
  reschedule(thread);
  return Step::jumped;
}

Handler channel_handler(Op op) {
  switch (op) {
    case Op::if_:
      return do_if;
    case Op::else_:
      return do_else;
    case Op::endif:
    case Op::join:
    case Op::do_:
      return do_nothing;
    case Op::while_:
      return do_while;
    case Op::break_:
    case Op::cont:
    case Op::halt:
    case Op::goto_:
    case Op::brc:
      return do_leave;
    case Op::brd:
      return do_brd;
    case Op::jmpi:
      return do_jmpi;
    case Op::call:
    case Op::calla:
      return do_call;
    case Op::ret:
      return do_ret;
    default:
      return nullptr;
  }
}

}  // namespace

void continue_at(Thread& thread, uint32_t ip) {
  if (thread.join_ip == kNoIp) {
    thread.ip = ip;
    return;
  }
  move_channels(thread, thread.active, ip);
  reschedule(thread);
}

Handler flow_handler(Op op, FlowModel model) {
  return model == FlowModel::channel_ip ? channel_handler(op) : stack_handler(op);
}

Step illegal_instruction(Frame& frame, const Prepared& prepared) {
  // cr0.1 records the cause and cr0.2 the address, whether or not the exception is enabled.
  Thread& thread = frame.thread;
  constexpr uint32_t kEnable = ExceptionBits::kIllegalOpcode >> 16;
  thread.control[1] |= ExceptionBits::kIllegalOpcode;
  thread.control[2] = prepared.offset;
  if ((thread.control[1] & kEnable) != 0 &&
      enter_system_routine(thread, ExceptionBits::kIllegalOpcode, prepared.offset)) {
    return Step::jumped;
  }
  thread.status = ThreadStatus::illegal;
  return Step::stop;
}

}  // namespace halogen::eu
