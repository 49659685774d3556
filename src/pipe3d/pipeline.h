// The 3D pipeline at work: a draw from vertices to pixels. It knows memory, state and threads, not engines: whoever
// owns it gives it settings and a DrawCall, and asks for parts of the work until it is done.
//
// Left out so far: tessellation, geometry shaders, stream output (they are named in Outcome::missing), threads that
// clip on Gen4, coarse pixels, chroma keys, planes of depth and w in payloads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event.h"
#include "base/fidelity.h"
#include "gen/generation.h"
#include "memory/address_space.h"
#include "pipe3d/assembly.h"
#include "pipe3d/clipper.h"
#include "pipe3d/draw_call.h"
#include "pipe3d/draw_state.h"
#include "pipe3d/pixel_stage.h"
#include "pipe3d/resolve.h"
#include "pipe3d/settings.h"
#include "pipe3d/vertex_fetch.h"
#include "pipe3d/vertex_stage.h"

namespace halogen::pipe3d {

// What a draw has added to the statistics.
struct Counts {
  uint64_t vertices = 0;
  uint64_t primitives = 0;
  uint64_t vertex_threads = 0;  // vertices that were shaded
  uint64_t clip_in = 0;
  uint64_t clip_out = 0;
  PixelCounts pixels;
};

enum class Stop : uint8_t { finished, unfinished, fault, illegal, endless };

// Which of them count.
struct Statistics {
  bool vertices = false;
  bool vertex_shader = false;
  bool clip = false;
  bool pixels = false;
};

struct Outcome {
  Stop stop = Stop::finished;
  uint64_t instructions = 0;
  Counts counts;
  Statistics statistics;
  std::string_view inexact;  // what is not done as hardware does it
  std::string_view missing;  // what the draw asked for and nobody does; static text
};

class Pipeline {
 public:
  // One part of a draw.
  Outcome draw(const ResolveInput& input, Progress& progress);
  // Clears and resolves of depth and stencil that are no draws.
  Outcome depth_operation(const ResolveInput& input);
  void set_events(EventSink* events, const std::string& path);
  void report(FidelityReport& report) const;

 private:
  bool begin(const ResolveInput& input);
  void fast_clear(Outcome& outcome);
  void chunk(Progress& progress, Outcome& outcome);
  void primitive(const Assembled& assembled, Progress& progress, Outcome& outcome);

  const Generation* generation_ = nullptr;
  AddressSpace* space_ = nullptr;
  PipelineState state_;
  VertexStage vertices_;
  PixelStage pixels_;
  std::vector<Clipper::Piece> pieces_;
  std::vector<ScreenPrimitive> screen_;
  std::optional<Clipper> clipper_;
};

}  // namespace halogen::pipe3d
