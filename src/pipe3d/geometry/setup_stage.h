// Gen4: set-up of attributes by a kernel. One thread per primitive on the screen reads its vertices and writes an entry
// of planes, from which pixel threads get their set-up data.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pipe3d/geometry/screen_setup.h"
#include "pipe3d/shader_unit.h"

namespace halogen::pipe3d {

class SetupStage {
 public:
  explicit SetupStage(eu::KernelLibrary& library) : unit_(library) {}

  void begin(const Generation& generation, const PipelineState& state, uint32_t entry_slots,
             memory::AddressSpace& space);
  // Runs a thread and returns the dwords for pixel threads in `attributes`.
  ThreadEnd set_up(const ScreenPrimitive& primitive, std::vector<uint32_t>& attributes);
  ShaderUnit& unit() { return unit_; }
  const ShaderUnit& unit() const { return unit_; }

 private:
  const PipelineState* state_ = nullptr;
  ShaderUnit unit_;
  EntryStore output_;
  uint32_t entry_slots_ = 0;
  std::unique_ptr<eu::Thread> thread_;
};

}  // namespace halogen::pipe3d
