// Domain shading of Gen8 and later: threads shade the points of one patch, eight at a time, and output vertices. Not
// modelled: points of two patches in one thread (hardware may avoid it too), and pairs of points in halves of
// registers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "pipe3d/geometry/tessellator.h"
#include "pipe3d/shader_unit.h"

namespace halogen::pipe3d {

class DomainStage {
 public:
  explicit DomainStage(eu::KernelLibrary& library) : unit_(library) {}

  void begin(const Generation& generation, const PipelineState& state, memory::AddressSpace& space);
  // Shades points. Vertex i of vertices() is point i.
  ThreadEnd run(EntryStore& patches, uint32_t patch, uint32_t id, std::span<const DomainPoint> points);
  EntryStore& vertices() { return vertices_; }
  static uint32_t vertex_slots(const Tessellation& tessellation);

  uint64_t instructions() const { return unit_.instructions(); }
  ShaderUnit& unit() { return unit_; }
  const ShaderUnit& unit() const { return unit_; }

 private:
  const PipelineState* state_ = nullptr;
  ShaderUnit unit_;
  EntryStore vertices_;
  std::unique_ptr<eu::Thread> thread_;
};

}  // namespace halogen::pipe3d
