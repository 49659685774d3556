// How an instruction is run over arrays of lanes when no routine of fast.h fits it: half floats and mixed types,
// saturation, condition modifiers of any result, math functions, uneven and indirect regions, align16, accumulators.
// Every float is a double and every integer an int64_t while it is computed. Only for src/eu/exec.
//
// What a plan does not do it leaves to the general path before anything is written: a NaN in an enabled lane, another
// rounding mode, alternate floats, an address outside the registers.
#pragma once

#include <array>
#include <cstdint>

#include "eu/exec/general/number.h"
#include "eu/exec/prepared.h"

namespace halogen::eu {

inline constexpr unsigned kMostLanes = 32;

union LaneValues {
  alignas(64) double real[kMostLanes];
  int64_t integer[kMostLanes];
};

// What a computation may ask about its instruction.
struct LaneContext {
  const Instruction& in;
  const FloatMode& mode;
  uint32_t chosen;     // predicate, for SEL
  uint32_t truths;     // of comparisons
  LaneValues* second;  // a second result: remainders, carries
};
// Over `count` lanes, a multiple of 8.
using LaneCompute = void (*)(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count);

enum class LaneFile : uint8_t { grf, mrf, accumulator, address, flag, immediate };

struct LaneOperand {
  LaneFile file = LaneFile::grf;
  Type type = Type::ud;
  bool indirect = false;
  bool even = false;  // elements in a row, none between
  bool negate = false;
  bool absolute = false;
  bool invert = false;                       // logic: bitwise not
  bool keeps_denormals = false;              // even where sources are flushed
  std::array<int16_t, kMostLanes> offset{};  // bytes in the file, or from the address
  std::array<uint8_t, kMostLanes> word{};    // of a0, if indirect
  std::array<uint64_t, kMostLanes> constant{};
};

struct LanePlan {
  static constexpr unsigned kSources = 5;  // a plane has three coefficients and two coordinates

  std::array<LaneOperand, kSources> source;
  uint8_t loads = 0;  // of them
  LaneOperand destination;
  LaneCompute compute = nullptr;
  Type result = Type::d;       // of what is computed
  Type accumulator = Type::d;  // of what the accumulator gets
  uint32_t write_mask = ~0u;   // lanes that the destination takes
  bool raw = false;            // bits of the result go to the destination as they are
  bool floats = false;         // sources are floats
  bool modal = false;          // float modes have a say
  bool rounds = false;         // the result is rounded to its type
  bool flushes = false;        // denormal sources are zeros, if the mode says so
  bool keeps = false;          // there is a destination
  bool chooses = false;        // the predicate picks, it does not mask
  bool decides = false;        // the computation gives the flag's bits
  bool writes_flag = false;
  bool accumulates = false;      // the result goes to the accumulator too
  bool unless_disabled = false;  // but not if cr0 says so
  bool carries = false;          // the second result goes to the accumulator
  bool divides = false;          // the second result goes to the next register
};

LaneCompute float_lanes(const Instruction& in, const EuRules& rules, Type exec);
LaneCompute integer_lanes(const Instruction& in, const EuRules& rules);

}  // namespace halogen::eu
