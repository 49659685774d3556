// The math functions, for the MATH instruction (Gen6 on) and for messages to the math box (Gen4 and Gen5). Hardware
// returns approximations. The model rounds the host's double precision result once, which is within every published
// error bound.
#pragma once

#include <span>
#include <string_view>

#include "eu/exec/message.h"
#include "eu/message_fields.h"
#include "eu/number.h"

namespace halogen::eu {

// Returns a math function in double precision; the caller rounds. Requires operands that are not NaN.
double math_function(MathFunction function, double a, double b, bool alternate);
// Returns the quotient, rounded toward zero, or the remainder. A division by zero has the quotient with all bits set
// and the numerator as remainder.
Wide integer_math(MathFunction function, Wide numerator, Wide denominator, Type type);

struct MathBound {
  MathFunction function;
  std::string_view name;
  std::string_view hardware;  // error bound of the hardware
};
std::span<const MathBound> math_bounds();

// Executes a message to the math box (Gen4 and Gen5).
SendOutcome math_box(const MessageControl& control, const Message& message, const FloatMode& mode);

}  // namespace halogen::eu
