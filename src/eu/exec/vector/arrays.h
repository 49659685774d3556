// Routines over arrays of doubles or of 64-bit integers, for instructions that no other routine takes: half floats and
// mixed types, saturation, condition modifiers of any result, uneven and indirect regions, align16, accumulators. Only
// for src/eu/exec.
//
// What an array routine does not do it leaves to the general path before anything is written: a NaN in an enabled lane,
// another rounding mode, alternate floats, an address outside the registers.
#pragma once

#include <array>
#include <cstdint>

#include "eu/exec/general/number.h"
#include "eu/exec/prepared.h"

namespace halogen::eu {

union ArrayValues {
  alignas(64) double real[ir::kMaxLanes];
  int64_t integer[ir::kMaxLanes];
};

// What a computation may ask about its instruction.
struct ArrayContext {
  const ir::Lowered& lowered;
  const FloatMode& mode;
  uint32_t chosen;      // predicate, for selections
  uint32_t truths;      // of comparisons
  ArrayValues* second;  // a second result: remainders, carries
};

// Return the computation over `count` lanes, a multiple of 8. Null: the operation has no array routine.
ArrayCompute float_arrays(const ir::Compute& compute);
ArrayCompute integer_arrays(const ir::Lowered& lowered);

}  // namespace halogen::eu
