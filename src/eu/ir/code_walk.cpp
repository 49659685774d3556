#include "eu/ir/code_walk.h"

#include <vector>

#include "eu/ir/op_traits.h"

namespace halogen::eu {

namespace {

constexpr size_t kMaxInstructions = 1u << 16;

// Returns the instruction after a WHILE at `target`, or `target`. A BREAK names the WHILE, and its channels continue
// after it.
uint32_t after_while(uint32_t target, const CodeSource* code) {
  if (code != nullptr) {
    const auto there = code->at(target);
    if (there && there->op == Op::while_) {
      return target + there->size;
    }
  }
  return target;
}

bool ends_path(const Instruction& in) {
  return is_send(in.op) ? in.send.end_of_thread : in.op == Op::jmpi && in.predicate == Predicate::none;
}

}  // namespace

uint32_t near_target(const Instruction& in, uint32_t offset) {
  return in.op == Op::calla ? static_cast<uint32_t>(in.jip) : offset + static_cast<uint32_t>(in.jip);
}

uint32_t far_target(const Instruction& in, uint32_t offset, const CodeSource* code, const EuRules& rules) {
  const uint32_t target = offset + static_cast<uint32_t>(in.uip);
  return in.op == Op::break_ && in.has_uip && rules.break_names_while ? after_while(target, code) : target;
}

std::map<uint32_t, Instruction> reachable_code(const CodeSource& code, uint32_t entry, const EuRules& rules) {
  std::map<uint32_t, Instruction> found;
  std::vector<uint32_t> to_do{entry};
  const auto near = [&](uint32_t offset) {
    return (offset & 7) == 0 && offset - (entry - kCodeReach) < 2 * kCodeReach &&
           (offset >= entry - kCodeReach || entry < kCodeReach);
  };
  while (!to_do.empty() && found.size() < kMaxInstructions) {
    const uint32_t offset = to_do.back();
    to_do.pop_back();
    if (!near(offset) || found.contains(offset)) {
      continue;
    }
    const auto in = code.at(offset);
    if (!in) {
      continue;
    }
    found.emplace(offset, *in);
    if (in->op == Op::illegal) {
      continue;
    }
    if (in->has_uip) {
      to_do.push_back(far_target(*in, offset, &code, rules));
    }
    if (in->has_jip) {
      to_do.push_back(near_target(*in, offset));
    }
    if (!ends_path(*in)) {
      to_do.push_back(offset + (in->size == 8 ? 8u : 16u));
    }
  }
  return found;
}

}  // namespace halogen::eu
