// DispatchBench: dispatches without a streamer. It sets the state that a driver sets beforehand, in the memory of
// MessageBench. Offsets are relative to kVa, which is also the dynamic base.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/commands.h"
#include "compute/dispatcher.h"
#include "unit/message/message_bench.h"

namespace halogen::compute {

class DispatchBench : public message::MessageBench {
 protected:
  static constexpr uint32_t kCode = 0x8'0000;         // the instruction base
  static constexpr uint32_t kDescriptors = 0x9'0000;  // one descriptor
  static constexpr uint32_t kConstants = 0x9'1000;    // 1 KiB

  DispatchBench() {
    bases_ = environment_.bases;
    bases_.dynamic = kVa;
    bases_.instruction = kVa + kCode;
    settings_.max_threads = 31;
    settings_.descriptors_offset = kDescriptors;
    settings_.descriptors_B = 32;
    settings_.constants_offset = kConstants;
    settings_.constants_B = 1024;
  }
  JobFault prepare(const std::vector<uint32_t>& walker, Job& job) {
    return make_job(generation_, settings_, bases_, walker, nullptr, memory_.space(), job).fault;
  }

  Settings settings_;
  message::StateBases bases_;
  eu::KernelLibrary kernels_{model_.gen};
};

}  // namespace halogen::compute
