#include "eu/exec/kernel.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "eu/exec/analysis/code_walk.h"
#include "eu/exec/control/exceptions.h"
#include "eu/exec/control/flow.h"
#include "eu/exec/general/alu.h"
#include "eu/exec/send.h"
#include "eu/exec/vector/fast.h"
#include "eu/exec/vector/fast_accumulate.h"
#include "eu/exec/vector/fast_math.h"
#include "eu/exec/vector/fast_multiply.h"
#include "eu/exec/vector/fast_vector.h"
#include "eu/exec/vector/lanes.h"
#include "eu/ir/op_traits.h"

namespace halogen::eu {

namespace {

// Types of elements: what a vector immediate spreads to.
Type element_type(const Operand& operand) {
  switch (operand.type) {
    case Type::v:
      return Type::w;
    case Type::uv:
      return Type::uw;
    case Type::vf:
    case Type::nf:
      return Type::f;
    default:
      return operand.type;
  }
}

Step do_nop(Frame&, const Prepared&) {
  return Step::next;
}

Handler handler_for(const Instruction& in, const EuRules& rules) {
  switch (op_traits(in.op).group) {
    case OpClass::nothing:
      return do_nop;
    case OpClass::send:
      return execute_send;
    case OpClass::wait:
      return in.op == Op::sync ? execute_sync : execute_wait;
    case OpClass::illegal:
      return illegal_instruction;
    case OpClass::branch: {
      const Handler handler = flow_handler(in.op, rules.flow);
      return handler != nullptr ? handler : illegal_instruction;
    }
    case OpClass::move:
    case OpClass::select:
    case OpClass::logic:
    case OpClass::shift:
    case OpClass::compare:
    case OpClass::bits:
    case OpClass::arithmetic:
    case OpClass::function:
    case OpClass::group:
    case OpClass::macro:
    case OpClass::mask:
      break;
  }
  return execute_alu;
}

}  // namespace

Type execution_type(const Instruction& in) {
  bool has_double = false;
  bool has_single = false;
  bool has_half = false;
  bool has_signed = false;
  unsigned widest = 2;
  for (unsigned i = 0; i < value_count(in); ++i) {
    const Type type = element_type(in.src[i]);
    has_double |= type == Type::df;
    has_single |= type == Type::f;
    has_half |= type == Type::hf;
    if (!traits(type).is_float) {
      has_signed |= traits(type).is_signed;
      widest = std::max<unsigned>(widest, traits(type).bytes);
    }
  }
  if (has_double) {
    return Type::df;
  }
  if (has_single) {
    return Type::f;
  }
  if (has_half) {
    // Mixed mode: a single destination makes it single.
    return in.dst.type == Type::f ? Type::f : Type::hf;
  }
  if (widest == 8) {
    return has_signed ? Type::q : Type::uq;
  }
  if (widest == 4) {
    return has_signed ? Type::d : Type::ud;
  }
  return has_signed ? Type::w : Type::uw;
}

namespace {

Step at_breakpoint(Frame& frame, const Prepared& prepared) {
  if (meets_breakpoint(frame.thread, prepared.offset)) {
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
  prepared.offset = offset;
  prepared.next = offset + (in.size == 8 ? 8u : 16u);
  const unsigned lanes = in.exec_size > 32 ? 32u : in.exec_size;
  prepared.in.exec_size = static_cast<uint8_t>(lanes);
  prepared.lanes = lanes >= 32 ? ~0u : (1u << lanes) - 1;
  prepared.jip = near_target(in, offset);
  prepared.uip = far_target(in, offset, code, rules);
  prepared.exec = execution_type(in);
  prepared.source_count = static_cast<uint8_t>(value_count(in));
  const bool is_move = in.op == Op::mov || in.op == Op::dim || in.op == Op::smov;
  const bool from_wide = in.src[0].is_arf(Arf::accumulator);
  prepared.raw_move = is_move && element_type(in.src[0]) == in.dst.type && !in.saturate && !from_wide &&
                      (in.src[0].file == File::immediate || (!in.src[0].negate && !in.src[0].absolute));
  prepared.handler = handler_for(in, rules);
  if (in.breakpoint) {
    prepared.handler = at_breakpoint;
  } else if (prepared.handler == execute_alu && in.dst.is_arf(Arf::control)) {
    prepared.handler = write_control;
  }
  if (!only_generic && prepared.handler == execute_alu) {
    choose_fast(prepared, rules);
    if (prepared.fast == nullptr) {
      choose_multiply(prepared, rules);
    }
    if (prepared.fast == nullptr) {
      choose_accumulate(prepared, rules);
    }
    if (prepared.fast == nullptr) {
      choose_math(prepared, rules);
    }
    if (prepared.fast == nullptr) {
      choose_lanes(prepared, rules);
    }
    choose_vector(prepared, rules);
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
  // A wrapped range is cut at its end: the rest is prepared on the way.
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
    writes_.cover(written_registers(in, rules));
  }
}

}  // namespace halogen::eu
