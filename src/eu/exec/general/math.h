// The math functions: of the MATH instruction (Gen6 on) and of the math box that Gen4 and 5 send to. Hardware gives
// approximations; here the host's double precision result is rounded once, which lies inside each published bound.
#pragma once

#include <span>
#include <string_view>

#include "eu/exec/general/number.h"
#include "eu/exec/message.h"
#include "eu/message_fields.h"

namespace halogen::eu {

// Operands that are not NaN. The result is rounded by the caller.
double math_function(MathFunction function, double a, double b, bool alternate);
// Quotient and remainder toward zero; a division by zero gives all ones as the quotient and the numerator as the rest.
Wide integer_math(MathFunction function, Wide numerator, Wide denominator, Type type);

struct MathBound {
  MathFunction function;
  std::string_view name;
  std::string_view hardware;  // what the hardware's result may differ by from the exact one
};
std::span<const MathBound> math_bounds();

// Gen4 and 5: a message to the math box.
SendOutcome math_box(const MessageControl& control, const Message& message, const FloatMode& mode);

}  // namespace halogen::eu
