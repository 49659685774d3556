// An instruction as the interpreter runs it: worked out once, when a kernel is prepared. Only for src/eu/exec.
#pragma once

#include <cstdint>
#include <vector>

#include "eu/exec/executor.h"
#include "eu/exec/number.h"
#include "gen/eu_rules.h"

namespace halogen::eu {

struct Prepared;
struct Frame;

enum class Step : uint8_t {
  next,    // on to the instruction behind, unless waiting channels join there
  jumped,  // the handler has set the thread's ip
  stop     // the thread's status says why
};
using Handler = Step (*)(Frame&, const Prepared&);
struct FastRoutine;

struct Prepared {
  Instruction in;
  uint32_t offset = 0;
  uint32_t next = 0;
  uint32_t lanes = 1;  // a bit for each channel
  uint32_t jip = 0;    // targets as offsets from the instruction base
  uint32_t uip = 0;
  Type exec = Type::ud;   // execution type
  bool raw_move = false;  // bits pass as they are
  uint8_t source_count = 0;
  Handler handler = nullptr;
  // A specialised routine, if one fits. See fast.h.
  Handler fast = nullptr;
  struct FastOperand {
    uint16_t offset = 0;  // byte in the register file
    uint8_t kind = 0;
    uint8_t step = 0;
    uint32_t flip = 0;  // sign modifiers of floats: bits to clear, then to turn
    uint32_t clear = 0;
    uint64_t scalar = 0;  // immediates
  };
  FastOperand fast_src[3];
  FastOperand fast_dst;
  const void* fast_compute = nullptr;
};

// What a handler works with.
struct Frame {
  Thread& thread;
  const EuRules& rules;
  MessageTarget& target;
  FloatMode mode;
};

FloatMode float_mode(const Thread& thread, const EuRules& rules);

}  // namespace halogen::eu
