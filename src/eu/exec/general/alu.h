// The arithmetic of one lane, exact and slow: the judge of every faster routine.
#pragma once

#include <array>
#include <cstdint>

#include "eu/exec/general/operands.h"

namespace halogen::eu {

// What an operation gives before it is converted to its destination.
struct Result {
  Value value;
  Type type = Type::d;  // of the value
  bool raw = false;     // `bits` go to the destination as they are
  uint64_t bits = 0;
  bool compared = false;  // `truth` is what the condition modifier says
  bool truth = false;
  bool has_accumulator = false;  // the accumulator gets a value of its own
  Wide accumulator = 0;
};

// Operands of a lane as the operation sees them.
struct LaneInput {
  std::array<Value, 3> value;   // in the execution type
  std::array<Value, 3> source;  // in their own types
  bool chosen = false;          // select: the predicate
};

bool holds(Condition condition, Wide value);
bool holds(Condition condition, double value);
bool compare(Condition condition, Wide a, Wide b);
bool compare(Condition condition, double a, double b, bool true_if_second_nan);

Result integer_lane(const Prepared& prepared, const LaneInput& input);
Result float_lane(const Frame& frame, const Prepared& prepared, const LaneInput& input);
Result select_lane(const Frame& frame, const Prepared& prepared, const LaneInput& input);
Result compare_lane(const Prepared& prepared, const LaneInput& input);

// The end of every float operation: NaN rules, rounding to the type, denormals, alternate mode.
double finish_float(Type type, double exact, const FloatMode& mode);
// First NaN of the operands, quiet; else the default one.
double pick_nan(const double* values, unsigned count);

// `value` in the destination's type as bits. The tested value is what a condition modifier looks at.
struct Converted {
  uint64_t bits = 0;
  bool is_float = false;
  Wide tested_integer = 0;
  double tested_real = 0.0;
  bool overflow = false;
};
Converted convert(const Result& result, Type dst, bool saturate, const FloatMode& mode);

// Everything that writes a destination lane by lane.
Step execute_alu(Frame& frame, const Prepared& prepared);

}  // namespace halogen::eu
