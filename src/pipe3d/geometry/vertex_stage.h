// Vertex shading: entries that vertex fetch has filled go through threads, eight vertices or two at a time, and come
// out as entries that primitives are made of.
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

  // Entries of a chunk. Those that are there stay when `kept` are moved to the front.
  EntryStore& input() { return input_; }
  EntryStore& output() { return runs() ? output_ : input_; }
  const EntryStore& output() const { return runs() ? output_ : input_; }
  // A vertex to be fetched and shaded: the same handle in both.
  uint32_t add();
  // Shades all that were added since `first`.
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
  uint32_t slots_ = 0;  // of output entries
  std::unique_ptr<eu::Thread> thread_;
};

}  // namespace halogen::pipe3d
