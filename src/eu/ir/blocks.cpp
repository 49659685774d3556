#include "eu/ir/blocks.h"

#include <algorithm>
#include <map>
#include <set>

#include "eu/ir/code_walk.h"
#include "eu/ir/lower.h"
#include "eu/ir/op_traits.h"

namespace halogen::eu::ir {

namespace {

uint32_t offset_after(uint32_t offset, const Instruction& in) {
  return offset + (in.size == 8 ? 8u : 16u);
}

EndKind end_of(const Instruction& in, const Lowered& lowered) {
  switch (op_traits(in.op).group) {
    case OpClass::branch:
      return EndKind::branch;
    case OpClass::send:
      return in.send.end_of_thread ? EndKind::end_of_thread : EndKind::send;
    case OpClass::wait:
      return EndKind::wait;
    case OpClass::illegal:
      return EndKind::illegal;
    default:
      break;
  }
  const bool changes_mode = lowered.target.file == File::control || lowered.target.file == File::ip;
  return changes_mode || in.breakpoint ? EndKind::mode_change : EndKind::falls_through;
}

std::vector<uint32_t> targets_of(const Instruction& in, uint32_t offset, const CodeSource& code, const EuRules& rules) {
  std::vector<uint32_t> out;
  if (in.has_jip) {
    out.push_back(near_target(in, offset));
  }
  if (in.has_uip) {
    out.push_back(far_target(in, offset, &code, rules));
  }
  return out;
}

bool may_continue(const Instruction& in, EndKind kind) {
  const bool always_jumps = in.op == Op::jmpi && in.predicate == Predicate::none;
  return kind != EndKind::end_of_thread && kind != EndKind::illegal && !always_jumps;
}

bool is_nothing(const Instruction& in) {
  return op_traits(in.op).group == OpClass::nothing;
}

}  // namespace

BlockList::BlockList(const CodeSource& code, uint32_t entry, const EuRules& rules) : entry_(entry) {
  const std::map<uint32_t, Instruction> found = reachable_code(code, entry, rules);
  std::set<uint32_t> leaders{entry};
  for (const auto& [offset, in] : found) {
    for (const uint32_t target : targets_of(in, offset, code, rules)) {
      leaders.insert(target);
    }
  }
  bodies_.reserve(found.size());  // spans stay valid
  bool open = false;
  size_t first = 0;
  uint32_t expected = 0;
  const auto close = [&](Terminator end) {
    blocks_.back().body = std::span<const Lowered>(bodies_).subspan(first);
    blocks_.back().end = std::move(end);
    open = false;
  };
  const auto fall_through = [&](uint32_t next) {
    Terminator end;
    end.next = next;
    close(std::move(end));
  };
  for (const auto& [offset, in] : found) {
    if (open && (offset != expected || leaders.contains(offset))) {
      fall_through(expected);
    }
    if (!open) {
      blocks_.push_back({.offset = offset});
      first = bodies_.size();
      open = true;
    }
    expected = offset_after(offset, in);
    Lowered lowered = lower(in, rules);
    const EndKind kind = end_of(in, lowered);
    if (lowered.compute.operation != Operation::none) {
      bodies_.push_back(lowered);
    }
    if (kind == EndKind::falls_through || (is_nothing(in) && !in.breakpoint)) {
      continue;
    }
    Terminator end;
    end.kind = kind;
    end.instruction = in;
    end.lowered = std::move(lowered);
    end.offset = offset;
    end.next = expected;
    end.continues = may_continue(in, kind);
    end.targets = targets_of(in, offset, code, rules);
    close(std::move(end));
  }
  if (open) {
    fall_through(expected);
  }
}

const Block* BlockList::find(uint32_t offset) const {
  const auto at = std::ranges::lower_bound(blocks_, offset, {}, &Block::offset);
  return at != blocks_.end() && at->offset == offset ? &*at : nullptr;
}

}  // namespace halogen::eu::ir
