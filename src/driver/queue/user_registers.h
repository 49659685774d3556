// The registers of an engine that user batches can write, with their values after a reset. A new context starts with
// them: otherwise it would find what batches of other files left.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/device_model.h"

namespace halogen::driver {

struct RegisterValue {
  uint32_t offset = 0;
  uint32_t value = 0;  // with all mask bits set if the register is masked
};

std::vector<RegisterValue> user_registers(const spec::DeviceModel& model, const spec::EngineModel& engine);

}  // namespace halogen::driver
