// An instruction as the interpreter runs it: lowered once, when a kernel is prepared, and bound to the routine that
// runs it. Only for src/eu/exec.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "eu/exec/executor.h"
#include "eu/exec/general/number.h"
#include "eu/ir/lowered.h"
#include "gen/eu_rules.h"

namespace halogen::eu {

struct Prepared;
struct Frame;

enum class Step : uint8_t {
  next,    // the next instruction follows, unless waiting channels join there
  jumped,  // the handler has set the thread's ip
  stop     // the thread's status says why
};
using Handler = Step (*)(Frame&, const Prepared&);

// The parts of a routine over arrays of 32-bit or 64-bit elements: see vector/loops.h.
struct Loops {
  using Load = void (*)(const std::byte* thread, const ir::Source& source, unsigned lanes, void* out);
  // Returns what the condition modifier says, a bit for each lane. `lanes_on`: lanes that run, or the predicate of SEL.
  using Compute = uint32_t (*)(const void* a, const void* b, const void* c, void* out, unsigned lanes, bool flush,
                               uint32_t lanes_on);
  using Test = uint32_t (*)(const void* result, unsigned lanes, Condition condition);
  using Store = void (*)(std::byte* thread, const ir::Access& access, unsigned lanes, const void* from, uint32_t mask);

  std::array<Load, 3> load{};
  Compute compute = nullptr;
  Test test = nullptr;     // null: `compute` decides, or there is no condition
  Store store = nullptr;   // null: there is no target
  bool has_modes = false;  // rounding mode and alternate floats have a say
  bool is_double = false;
};

// What is computed over arrays of doubles or 64-bit integers: see vector/arrays.h.
struct ArrayContext;
union ArrayValues;
using ArrayCompute = void (*)(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count);
struct Arrays {
  ArrayCompute compute = nullptr;
  Type result = Type::d;   // of what is computed
  bool raw = false;        // bits of the result go to the target as they are
  bool floats = false;     // sources are floats
  bool rounds = false;     // the result is rounded to its type
  bool has_modes = false;  // float modes have a say
  bool copies = false;     // bits of any type pass as unsigned numbers

  [[nodiscard]] Type raw_type(Type type) const {
    if (!copies) {
      return type;
    }
    const unsigned bytes = traits(type).bytes;
    return bytes == 1 ? Type::ub : bytes == 2 ? Type::uw : bytes == 4 ? Type::ud : Type::uq;
  }
};

// What the loop and the routines read comes first, in as few cache lines as possible.
struct alignas(64) Prepared {
  Handler handler = nullptr;  // the general path
  Handler fast = nullptr;     // a routine of the table in vector/routines.h, if one fits
  Handler rest = nullptr;     // the next routine that fits: takes what `fast` does not do at run time
  uint32_t offset = 0;
  uint32_t next = 0;
  ir::Lowered lowered;
  Loops loops;
  Arrays arrays;
  uint32_t jip = 0;  // targets as offsets from the instruction base
  uint32_t uip = 0;
  Instruction in;
  // Sends of generations that move src0 to the message registers first: that move.
  std::shared_ptr<const Prepared> implied_move;
  bool short_descriptor = false;         // a descriptor in a register names the function and has no header bit
  bool sends_message_registers = false;  // payloads lie in message registers, also where there is no move
};

// What a handler works with.
struct Frame {
  Thread& thread;
  const EuRules& rules;  // for flow control only: all else is in Prepared::lowered
  MessageTarget& target;
  FloatMode mode;
  spec::GenId gen;
};

FloatMode float_mode(const Thread& thread, const EuRules& rules);

}  // namespace halogen::eu
