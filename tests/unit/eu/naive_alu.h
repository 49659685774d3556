// A second evaluator of arithmetic instructions, written from the manuals and independent of the model. It uses the
// host's types where they exist and computes one lane after the other. Rounding is to nearest; no alternate mode.
#pragma once

#include "eu/isa/instruction.h"
#include "eu/thread.h"
#include "spec/descriptors.h"

namespace halogen::eu::test {

// Executes one instruction on a thread: registers, flags, accumulators.
void naive_run(Thread& thread, const Instruction& in, spec::GenId gen);

}  // namespace halogen::eu::test
