// The counters of a process's device, sampled over its run (--counters). The first process of a run that opens a node
// writes the file that the user names; every other process appends its id to the name.
#pragma once

#include <memory>
#include <string>

#include "driver/core/counter_file.h"

namespace halogen::shim {

// Null: not requested, or not possible, which a line on standard error says.
std::unique_ptr<driver::CounterFile> start_counters(const spec::DeviceModel& model, const std::string& root);

}  // namespace halogen::shim
