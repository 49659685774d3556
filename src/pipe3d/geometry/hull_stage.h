// Hull shading of Gen8 and later: threads take patches and write a patch entry each: tessellation factors, then values
// of the patch and of its vertices. Either a thread has one patch and its lanes are output vertices, or it has eight
// patches and one output vertex. Instances of a patch may wait for each other. Not modelled: two patches in halves of
// registers (no driver uses it).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pipe3d/geometry/geometry_stage.h"
#include "pipe3d/geometry/tessellator.h"
#include "pipe3d/shader_unit.h"

namespace halogen::pipe3d {

class HullStage final : public message::Groups {
 public:
  explicit HullStage(eu::KernelLibrary& library) : unit_(library) {}

  static constexpr size_t kMaxPatches = 8;

  void begin(const Generation& generation, const PipelineState& state, memory::AddressSpace& space);
  // Shades at most kMaxPatches patches. Entry i of patches() is the result of patch i.
  ThreadEnd run(std::span<const Object> objects, EntryStore& input);
  EntryStore& patches() { return patches_; }
  static uint32_t patch_slots(const Tessellation& tessellation);
  // Restores the patches of an earlier run().
  void load(const SavedEntries& saved) { patches_.load(saved, patch_slots(state_->tessellation)); }
  // Returns the factors that the threads wrote at the start of an entry.
  TessellationFactors factors(uint32_t patch) const { return factors(state_->tessellation, patches_.entry(patch)); }
  // Returns the factors in a patch header of two slots; without one, no factor is above zero.
  static TessellationFactors factors(const Tessellation& state, std::span<const Slot> header);

  uint64_t instructions() const { return unit_.instructions(); }
  ShaderUnit& unit() { return unit_; }
  const ShaderUnit& unit() const { return unit_; }

  std::span<std::byte> local_memory(uint32_t /*group*/) override { return {}; }
  void arrive(eu::Thread& thread) override;

 private:
  ThreadEnd run_instances();
  eu::Thread& instance(uint32_t number);

  const PipelineState* state_ = nullptr;
  ShaderUnit unit_;
  EntryStore patches_;
  std::vector<std::unique_ptr<eu::Thread>> threads_;
  uint32_t running_ = 0;  // number of threads of the current patches
  uint32_t arrived_ = 0;
  bool released_ = false;
};

}  // namespace halogen::pipe3d
