// One device's register names by MMIO offset.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "spec/descriptors.h"
#include "spec/device_model.h"

namespace halogen::decode {

class RegisterNames {
 public:
  explicit RegisterNames(const spec::DeviceModel& device);

  // Returns "RING_TAIL.rcs0" or "GLOBAL_MOCS[3]", for example. Empty: no description has the offset.
  std::string name_at(uint32_t offset) const;

 private:
  struct Place {
    const spec::RegisterDesc* desc;
    const spec::EngineModel* engine;  // null: absolute
    uint16_t index;
    bool high_half;
  };
  std::unordered_map<uint32_t, Place> places_;
};

}  // namespace halogen::decode
