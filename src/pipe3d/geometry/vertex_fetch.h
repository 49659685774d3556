// Vertex fetch: reads indices and elements from memory into entries of 16-byte slots. Reads outside a buffer return
// zero. Not modelled: formats that texel_format.h and vertex_format.h lack; they read zero and count as unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "memory/address_space.h"
#include "pipe3d/state/draw_call.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

class VertexFetch {
 public:
  VertexFetch(const VertexState& state, const DrawCall& draw, memory::AddressSpace& space)
      : state_(&state), draw_(&draw), space_(&space) {}

  struct Index {
    uint32_t vertex = 0;  // value of VertexID
    bool cut = false;
  };
  // Returns the n-th index of an instance.
  Index index(uint32_t n);
  // Fetches a vertex. Dwords that no element stores keep their value.
  void fetch(uint32_t vertex, uint32_t instance, uint32_t primitive, std::span<uint32_t> entry);

  bool edge() const { return edge_; }        // edge flag of the last fetched vertex
  bool stopped() const { return stopped_; }  // a fault stopped an access
  uint32_t unknown_formats() const { return unknown_; }

 private:
  std::array<uint32_t, 4> source(const VertexElement& element, uint32_t vertex, uint32_t instance);
  uint32_t system(SystemValue value, uint32_t vertex, uint32_t instance, uint32_t primitive) const;

  const VertexState* state_;
  const DrawCall* draw_;
  memory::AddressSpace* space_;
  bool edge_ = true;
  bool stopped_ = false;
  uint32_t unknown_ = 0;
};

}  // namespace halogen::pipe3d
