// The state of a context that has not run: registers have their values after a reset, so that its batches do not find
// what batches of other files left. Most are in the image of the context. Its first request must load the others.
#pragma once

#include <cstdint>
#include <vector>

#include "mmio/context_image.h"
#include "spec/device_model.h"

namespace halogen::driver {

struct RegisterValue {
  uint32_t offset = 0;
  uint32_t value = 0;  // with all mask bits set if the register is masked
};

// Returns the image of such a context, with the end of the list of pipeline commands.
std::vector<uint32_t> first_image(const spec::DeviceModel& model, const spec::EngineModel& engine,
                                  const mmio::ContextImage& layout);
// Returns the registers that user batches can write and that images do not hold.
std::vector<RegisterValue> registers_outside(const spec::DeviceModel& model, const spec::EngineModel& engine,
                                             const mmio::ContextImage& layout);

}  // namespace halogen::driver
