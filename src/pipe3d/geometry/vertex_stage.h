// Vertex shading: threads take entries that vertex fetch has filled, eight or two vertices at a time, and output the
// entries of primitives.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipe3d/shader_unit.h"

namespace halogen::pipe3d {

class VertexStage {
 public:
  explicit VertexStage(eu::KernelLibrary& library) : unit_(library) {}

  void begin(const Generation& generation, const PipelineState& state, memory::AddressSpace& space);

  // Entries of a chunk, before and after shading. Without a shader both are the same.
  EntryStore& input() { return input_; }
  EntryStore& output() { return runs() ? output_ : input_; }
  const EntryStore& output() const { return runs() ? output_ : input_; }
  // Adds a vertex to fetch and shade. Its handle is the same in both stores.
  uint32_t add();
  // Shades all vertices added since `first`.
  ThreadEnd shade(uint32_t first);
  bool runs() const { return state_ != nullptr && state_->vertex_shader.shader.enabled; }
  uint32_t slots() const { return slots_; }
  uint64_t instructions() const { return unit_.instructions(); }
  ShaderUnit& unit() { return unit_; }
  const ShaderUnit& unit() const { return unit_; }

 private:
  ThreadEnd shade_eight(uint32_t first, uint32_t count);
  ThreadEnd shade_pair(uint32_t first, uint32_t count);

  const PipelineState* state_ = nullptr;
  ShaderUnit unit_;
  EntryStore input_;
  EntryStore output_;
  uint32_t slots_ = 0;  // size of output entries
  std::unique_ptr<eu::Thread> thread_;
};

}  // namespace halogen::pipe3d
