// Forms of the 3D pipeline by generation: how its state is found, what its threads start with and how they write to
// render targets. Generations without a device (Gen5, Gen7 and Gen7.5) have no row, because their state is neither that
// of Gen4 nor that of Gen6 or Gen8.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

enum class PipelineForm : uint8_t {
  units,     // units read their state from memory; 3DSTATE_PIPELINED_POINTERS holds the pointers
  combined,  // 3DSTATE_SF and 3DSTATE_WM hold set-up, rasterizer, pixel shader, depth and stencil
  split,     // each of these has a state command of its own
};

// The unit that computes the coefficients of attributes, with which pixel shaders interpolate.
enum class SetupForm : uint8_t {
  thread,          // a thread for each primitive writes them to the URB
  fixed_function,  // the set-up unit
};

// The payload of a pixel shader's thread.
enum class PayloadForm : uint8_t {
  start_vertex,  // position of the start vertex; kernels interpolate with the coefficients of the set-up thread
  barycentrics,  // barycentric coordinates of each channel
};

// A render target write of 16 channels.
enum class TargetMessageForm : uint8_t {
  half_by_half,            // all components of channels 0 to 7, then of 8 to 15; pixel mask in r0.0 of the header
  component_by_component,  // each component of all channels in turn; pixel mask in r1.7 of the header
};

// The header of a vertex in the URB.
enum class VertexHeaderForm : uint8_t {
  with_ndc,     // slot 1 holds the position divided by w
  without_ndc,  // slot 1 holds the position as the shader computed it
};

struct PipelineRules {
  spec::GenMask gens;
  PipelineForm pipeline;
  SetupForm setup;
  PayloadForm pixel_payload;
  TargetMessageForm target_message;
  VertexHeaderForm vertex_header;
  bool ordered_corners;          // the vertices of a rectangle are put into a fixed order before set-up
  bool element_offsets;          // VERTEX_ELEMENT_STATE names the slot it fills; else elements fill slots in order
  bool unbounded_vertices;       // a vertex buffer with Max Index 0 has no bound; else it is empty
  bool topology_in_own_command;  // 3DSTATE_VF_TOPOLOGY names the topology; else 3DPRIMITIVE does
  uint32_t urb_rows = 0;         // of 32 bytes that 3DSTATE_URB divides; 0: it does not exist
};

const PipelineRules& pipeline_rules(spec::GenId gen);

}  // namespace halogen
