// A second, simple-minded evaluator of arithmetic instructions, written from the facts and not from the model: native
// types of the host where it has them, one lane after the other. Rounding is to the nearest; no alternate mode.
#pragma once

#include "eu/exec/thread.h"
#include "eu/isa/instruction.h"
#include "spec/descriptors.h"

namespace halogen::eu::test {

// What the instruction leaves of a thread: registers, flags, accumulators.
void naive_run(Thread& thread, const Instruction& in, spec::GenId gen);

}  // namespace halogen::eu::test
