#include "eu/exec/kernel.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "eu/exec/control/exceptions.h"
#include "eu/exec/control/flow.h"
#include "eu/exec/general/alu.h"
#include "eu/exec/send.h"
#include "eu/exec/vector/routines.h"
#include "eu/ir/code_walk.h"
#include "eu/ir/lower.h"
#include "eu/ir/op_traits.h"

namespace halogen::eu {

namespace {

Step do_nop(Frame&, const Prepared&) {
  return Step::next;
}

Handler handler_for(const Instruction& in, const EuRules& rules) {
  if (runs_by_lanes(in.op)) {
    return execute_alu;
  }
  switch (op_traits(in.op).group) {
    case OpClass::nothing:
      return do_nop;
    case OpClass::send:
      return execute_send;
    case OpClass::wait:
      return in.op == Op::sync ? execute_sync : execute_wait;
    case OpClass::branch: {
      const Handler handler = flow_handler(in.op, rules.flow);
      return handler != nullptr ? handler : illegal_instruction;
    }
    default:
      return illegal_instruction;  // OpClass::illegal
  }
}

Step at_breakpoint(Frame& frame, const Prepared& prepared) {
  if (hits_breakpoint(frame.thread, prepared.offset)) {
    return Step::jumped;
  }
  const bool writes_control = prepared.in.dst.is_arf(Arf::control);
  const Handler handler = handler_for(prepared.in, frame.rules);
  return (handler == execute_alu && writes_control ? write_control : handler)(frame, prepared);
}

uint64_t next_number() {
  static std::atomic<uint64_t> next = 1;
  return next++;
}

}  // namespace

Prepared prepare_instruction(const Instruction& in, uint32_t offset, const EuRules& rules, const CodeSource* code,
                             bool only_generic) {
  Prepared prepared;
  prepared.in = in;
  prepared.in.exec_size = std::min<uint8_t>(in.exec_size, kChannels);
  prepared.lowered = ir::lower(prepared.in, rules);
  prepared.offset = offset;
  prepared.next = offset + (in.size == 8 ? 8u : 16u);
  prepared.jip = near_target(in, offset);
  prepared.uip = far_target(in, offset, code, rules);
  prepared.handler = handler_for(in, rules);
  if (is_send(in.op)) {
    prepared.short_descriptor = rules.short_descriptor;
    prepared.sends_message_registers = rules.implied_move;
    if (rules.implied_move && !in.src[0].is_null()) {
      prepared.implied_move =
          std::make_shared<const Prepared>(prepare_instruction(implied_move_of(in), offset, rules, code, true));
    }
  }
  if (in.breakpoint) {
    prepared.handler = at_breakpoint;
  } else if (prepared.handler == execute_alu && in.dst.is_arf(Arf::control)) {
    prepared.handler = write_control;
  }
  if (!only_generic && prepared.handler == execute_alu) {
    bind_routine(prepared);
  }
  return prepared;
}

PreparedKernel::PreparedKernel(std::shared_ptr<const CodeSource> code, uint32_t entry, const EuRules& rules,
                               bool only_generic)
    : code_(std::move(code)), rules_(rules), entry_(entry), number_(next_number()) {
  auto found = reachable_code(*code_, entry, rules);
  if (found.empty()) {
    return;
  }
  // Code that wraps around the end of the address space is not contiguous: keep the instructions from the entry on. The
  // others are prepared when a thread executes them.
  first_ = found.begin()->first;
  const uint32_t last = found.rbegin()->first;
  if (last - first_ > 2 * kCodeReach) {
    first_ = entry;
    std::erase_if(found, [&](const auto& item) { return item.first < entry || item.first - entry > kCodeReach; });
  }
  if (found.empty()) {
    return;
  }
  slots_.resize((found.rbegin()->first - first_) / 8 + 1);
  list_.reserve(found.size());
  for (const auto& [offset, in] : found) {
    list_.push_back(prepare_instruction(in, offset, rules, code_.get(), only_generic));
    slots_[(offset - first_) / 8] = static_cast<uint32_t>(list_.size());
    writes_.cover(written_registers(list_.back()));
  }
}

}  // namespace halogen::eu
