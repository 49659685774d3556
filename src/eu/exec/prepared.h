// An instruction in the form that the interpreter runs: lowered once, when a kernel is prepared, and bound to the
// routine that executes it. Only for src/eu/exec.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "eu/exec/executor.h"
#include "eu/ir/lowered.h"
#include "eu/number.h"
#include "gen/eu_rules.h"

namespace halogen::eu {

struct Prepared;
struct Frame;

enum class Step : uint8_t {
  next,    // continue with the next instruction; waiting channels may join there
  jumped,  // the handler has set the thread's ip
  stop     // the thread's status says why
};
using Handler = Step (*)(Frame&, const Prepared&);

// The parts of a routine over arrays of 32-bit or 64-bit elements: see vector/loops.h.
struct Loops {
  using Load = void (*)(const std::byte* thread, const ir::Source& source, unsigned lanes, void* out);
  // Returns the flag bits of comparisons, a bit for each lane. `lanes_on`: enabled lanes, or the predicate of SEL.
  using Compute = uint32_t (*)(const void* a, const void* b, const void* c, void* out, unsigned lanes, bool flush,
                               uint32_t lanes_on);
  using Test = uint32_t (*)(const void* result, unsigned lanes, Condition condition);
  using Store = void (*)(std::byte* thread, const ir::Access& access, unsigned lanes, const void* from, uint32_t mask);

  std::array<Load, 3> load{};
  Compute compute = nullptr;
  Test test = nullptr;     // null: `compute` decides, or there is no condition
  Store store = nullptr;   // null: there is no target
  bool has_modes = false;  // the result depends on rounding mode and alternate floats
  bool is_double = false;
};

// The parts of a routine over arrays of doubles or 64-bit integers: see vector/arrays.h.
struct ArrayContext;
union ArrayValues;
using ArrayCompute = void (*)(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count);
struct Arrays {
  ArrayCompute compute = nullptr;
  Type result = Type::d;   // type of the computed values
  bool raw = false;        // the target gets the bits of the result without conversion
  bool floats = false;     // sources are floats
  bool rounds = false;     // the result is rounded to its type
  bool has_modes = false;  // the result depends on rounding mode and alternate floats
  bool copies = false;     // bits of any type are copied as unsigned integers

  [[nodiscard]] Type raw_type(Type type) const {
    if (!copies) {
      return type;
    }
    const unsigned bytes = traits(type).bytes;
    return bytes == 1 ? Type::ub : bytes == 2 ? Type::uw : bytes == 4 ? Type::ud : Type::uq;
  }
};

// Members that the interpreter's loop and the routines read come first, in as few cache lines as possible.
struct alignas(64) Prepared {
  Handler handler = nullptr;  // the general path
  Handler fast = nullptr;     // the routine of the table in vector/routines.h; null: no row fits
  Handler rest = nullptr;     // the next routine that fits: `fast` calls it for cases it does not handle
  uint32_t offset = 0;
  uint32_t next = 0;
  ir::Lowered lowered;
  Loops loops;
  Arrays arrays;
  uint32_t jip = 0;  // targets as offsets from the instruction base
  uint32_t uip = 0;
  Instruction in;
  // The implied move of src0 to the message registers, on generations where SEND does one.
  std::shared_ptr<const Prepared> implied_move;
  bool short_descriptor = false;         // a descriptor in a register names the function and has no header bit
  bool sends_message_registers = false;  // payloads are in message registers, with or without a move
};

// The context in which a handler executes.
struct Frame {
  Thread& thread;
  const EuRules& rules;  // for flow control and float modes; Prepared::lowered has all other rules applied
  MessageTarget& target;
  FloatMode mode;
  spec::GenId gen;
};

FloatMode float_mode(const Thread& thread, const EuRules& rules);

}  // namespace halogen::eu
