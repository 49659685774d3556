// An instruction as the interpreter runs it: worked out once, when a kernel is prepared. Only for src/eu/exec.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "eu/exec/executor.h"
#include "eu/exec/general/number.h"
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

// How a specialised routine reaches its operands: see fast.h.
struct FastOperand {
  uint16_t offset = 0;  // byte in the register file
  int16_t step = 0;     // bytes from lane to lane
  uint64_t clear = 0;   // sign modifiers of floats: bits to clear, then to turn
  uint64_t turn = 0;
  bool negate = false;  // of integers
  bool absolute = false;
  uint64_t immediate = 0;
  bool is_immediate = false;
};
struct FastPlan {
  using Load = void (*)(const std::byte* registers, const FastOperand& operand, unsigned lanes, void* out);
  // Gives what the condition modifier says, a bit for each lane.
  using Compute = uint32_t (*)(const void* a, const void* b, const void* c, void* out, unsigned lanes, bool flush,
                               uint32_t chosen);
  using Test = uint32_t (*)(const void* result, unsigned lanes, Condition condition);
  using Store = void (*)(std::byte* registers, const FastOperand& operand, unsigned lanes, const void* from,
                         uint32_t mask);
  FastOperand source[3];
  FastOperand destination;
  Load load[3]{};
  Compute compute = nullptr;
  Test test = nullptr;    // condition of the result; null: `compute` answers, or nobody asks
  Store store = nullptr;  // null: nothing is kept
  bool is_float = false;
  bool is_double = false;
  bool chooses = false;  // the predicate picks, it does not mask
};

// Of fast_vector.h: eight lanes at a place, or a scalar for all of them; places of the first and the second eight.
struct VectorPlan {
  struct Operand {
    std::array<uint16_t, 2> at{};  // bytes in the thread
    bool scalar = false;
    bool is_immediate = false;
    uint32_t immediate = 0;
    uint32_t clear = 0;  // sign modifiers: bits to clear, then to turn
    uint32_t turn = 0;
  };
  std::array<Operand, 5> source;
  std::array<uint16_t, 2> destination{};
  bool saturate = false;
};

struct LanePlan;

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
  Handler fast = nullptr;  // a specialised routine, if one fits
  Handler rest = nullptr;  // what a routine of fast_vector.h leaves to
  VectorPlan vector;
  FastPlan plan;
  std::shared_ptr<const LanePlan> lane_plan;  // null: `fast` is of another kind
};

// What a handler works with.
struct Frame {
  Thread& thread;
  const EuRules& rules;
  MessageTarget& target;
  FloatMode mode;
  spec::GenId gen;
};

FloatMode float_mode(const Thread& thread, const EuRules& rules);

}  // namespace halogen::eu
