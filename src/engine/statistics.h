// Statistics registers of the pipelines.
#pragma once

#include "engine/work_report.h"
#include "mmio/registers.h"

namespace halogen::engine {

// Adds the counts of a report to the statistics registers that the engine has.
void add_statistics(mmio::Registers& registers, spec::GenId gen, const WorkReport& report);

}  // namespace halogen::engine
