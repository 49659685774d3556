// The arithmetic of one lane, exact and slow. Every faster routine is compared with it.
#pragma once

#include <array>
#include <cstdint>

#include "eu/exec/general/operands.h"

namespace halogen::eu {

// The result of an operation before its conversion to the destination's type.
struct Result {
  Value value;
  Type type = Type::d;  // of the value
  bool raw = false;     // `bits` go to the destination as they are
  uint64_t bits = 0;
  bool compared = false;  // `truth` is the flag bit
  bool truth = false;
  bool has_accumulator = false;  // `accumulator` is a second result for the accumulator
  Wide accumulator = 0;
};

// The operands of one lane.
struct LaneInput {
  std::array<Value, 3> value;   // in the execution type
  std::array<Value, 3> source;  // in their own types
  bool chosen = false;          // select: the predicate
};

// Return whether a condition holds for one value (compared with zero) or for two.
bool holds(Condition condition, Wide value);
bool holds(Condition condition, double value);
bool compare(Condition condition, Wide a, Wide b);
bool compare(Condition condition, double a, double b, bool true_if_second_nan);

Result integer_lane(const Prepared& prepared, const LaneInput& input);
Result float_lane(const Frame& frame, const Prepared& prepared, const LaneInput& input);
Result select_lane(const Frame& frame, const Prepared& prepared, const LaneInput& input);
Result compare_lane(const Prepared& prepared, const LaneInput& input);

// Rounds the exact result of a float operation to the type, flushes denormals and applies alternate mode.
double finish_float(Type type, double exact, const FloatMode& mode);
// Returns the first NaN of the operands, made quiet. If no operand is NaN, returns the default NaN.
double pick_nan(const double* values, unsigned count);

// A result in the destination's type. A condition modifier tests `tested_integer` or `tested_real`.
struct Converted {
  uint64_t bits = 0;
  bool is_float = false;
  Wide tested_integer = 0;
  double tested_real = 0.0;
  bool overflow = false;
};
Converted convert(const Result& result, Type dst, bool saturate, const FloatMode& mode);

// Executes an instruction that computes lane by lane.
Step execute_alu(Frame& frame, const Prepared& prepared);

}  // namespace halogen::eu
