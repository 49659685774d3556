// Routines over arrays of doubles or of 64-bit integers, for instructions that no other routine accepts: half floats
// and mixed types, saturation, condition modifiers of any result, irregular and indirect regions, align16,
// accumulators. Only for src/eu/exec.
//
// An array routine calls the general path, before it writes anything, in these cases: a NaN in an enabled lane, a
// rounding mode other than to nearest, alternate floats, an address outside the registers.
#pragma once

#include <array>
#include <cstdint>

#include "eu/exec/prepared.h"
#include "eu/number.h"

namespace halogen::eu {

union ArrayValues {
  alignas(64) double real[ir::kMaxLanes];
  int64_t integer[ir::kMaxLanes];
};

// The state of one instruction that a computation reads and writes, besides sources and result.
struct ArrayContext {
  const ir::Lowered& lowered;
  const FloatMode& mode;
  uint32_t chosen;      // the predicate, a bit for each lane
  uint32_t truths;      // output of comparisons and of min/max, a bit for each lane
  ArrayValues* second;  // a second result: remainders, carries
};

// Return the computation over `count` lanes, a multiple of 8. Null: the operation has no array routine.
ArrayCompute float_arrays(const ir::Compute& compute);
ArrayCompute integer_arrays(const ir::Lowered& lowered);

}  // namespace halogen::eu
