// Which memory the operands of a BLT may be in, on chips whose page tables mark snooped ("cacheable") pages: G45 PRM
// vol. 1b 8.5 (seed 003). Hardware does not check, and the model's memory is coherent: the BLT is executed.
#pragma once

#include "blit/blit_job.h"
#include "engine/stream/command.h"
#include "memory/address_space.h"

namespace halogen::engine {

class Engine;

// Raises an Event for each broken rule. The first page of each operand is looked at.
void check_cacheable_operands(Engine& engine, const Command& command, const blit::BlitJob& job,
                              const memory::AddressSpace& space);

}  // namespace halogen::engine
