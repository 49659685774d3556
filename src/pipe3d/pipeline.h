// The 3D pipeline: a draw from vertices to pixels. It knows memory, state and threads, but not engines: the owner
// passes settings and a DrawCall, and runs parts of the work until the draw is finished.
//
// Not modelled: coarse pixels, chroma keys, planes of depth and w in payloads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/event.h"
#include "base/fidelity.h"
#include "base/stop_flag.h"
#include "base/work_end.h"
#include "gen/generation.h"
#include "memory/address_space.h"
#include "pipe3d/geometry/assembly.h"
#include "pipe3d/geometry/clip_stage.h"
#include "pipe3d/geometry/clipper.h"
#include "pipe3d/geometry/domain_stage.h"
#include "pipe3d/geometry/geometry_stage.h"
#include "pipe3d/geometry/hull_stage.h"
#include "pipe3d/geometry/primitive_list.h"
#include "pipe3d/geometry/stream_output.h"
#include "pipe3d/geometry/tessellator.h"
#include "pipe3d/geometry/vertex_fetch.h"
#include "pipe3d/geometry/vertex_stage.h"
#include "pipe3d/pixel/pixel_work.h"
#include "pipe3d/state/draw_call.h"
#include "pipe3d/state/draw_state.h"
#include "pipe3d/state/resolve.h"
#include "pipe3d/state/settings.h"

namespace halogen::pipe3d {

// Statistics of a draw.
struct Counts {
  uint64_t vertices = 0;
  uint64_t primitives = 0;
  uint64_t vertex_threads = 0;  // number of shaded vertices
  uint64_t hull_patches = 0;
  uint64_t domain_points = 0;
  GeometryCounts geometry;
  StreamCounts streams;
  uint64_t clip_in = 0;
  uint64_t clip_out = 0;
  PixelCounts pixels;
};

// An amount for each stage: either the number of EU threads started (for pixels with replayed threads), or of
// instructions.
struct StageAmounts {
  uint64_t vertex = 0;
  uint64_t hull = 0;
  uint64_t domain = 0;
  uint64_t geometry = 0;
  uint64_t clip = 0;
  uint64_t setup = 0;
  uint64_t pixel = 0;
  StageAmounts since(const StageAmounts& before) const {
    return {.vertex = vertex - before.vertex,
            .hull = hull - before.hull,
            .domain = domain - before.domain,
            .geometry = geometry - before.geometry,
            .clip = clip - before.clip,
            .setup = setup - before.setup,
            .pixel = pixel - before.pixel};
  }
  uint64_t sum() const { return vertex + hull + domain + geometry + clip + setup + pixel; }
};

using Stop = WorkEnd;

// Which counts are enabled.
struct Statistics {
  bool vertices = false;
  bool vertex_shader = false;
  bool hull = false;
  bool domain = false;
  bool geometry = false;
  bool streams = false;
  bool clip = false;
  bool pixels = false;
};

struct Outcome {
  Stop stop = Stop::finished;
  uint64_t instructions = 0;
  StageAmounts threads;
  StageAmounts instructions_of;
  Counts counts;
  Statistics statistics;
  std::optional<std::array<uint32_t, 4>> stream_offsets;  // as in ResolveInput, if streams were written
  std::string_view inexact;                               // difference from hardware; static text
  std::string_view missing;  // a feature that the draw needs and the model lacks; static text
};

class Pipeline {
 public:
  explicit Pipeline(eu::KernelLibrary& library)
      : vertices_(library),
        hull_(library),
        domain_(library),
        geometry_(library),
        clip_threads_(library),
        pixels_(library) {}

  // Runs one part of a draw.
  Outcome draw(const ResolveInput& input, Progress& progress);
  // Runs one part of a clear or resolve of depth and stencil that is not a draw.
  Outcome depth_operation(const ResolveInput& input, Progress& progress);
  // Drops the kept parts of an unfinished draw. Called if its Progress was replaced, because another draw may have an
  // equal one.
  void forget() { waiting_.reset(); }
  // Sets the pool whose threads help with pixels. Null: none.
  void set_pool(WorkerPool* pool) { pixels_.set_pool(pool); }
  // Sets the flag that ends a part early. A part that it ends in the middle of an object or of a piece of the picture
  // ends with Stop::stopped, and the draw cannot continue. Any other part ends as unfinished.
  void set_stop(const StopFlag& stop) { stop_ = &stop; }
  // Sets the counts that the next parts add to. Threads, and the time of each stage, are left to the caller. Null: no
  // counts.
  void set_work(const oa::CountsWanted& wanted, oa::WorkCounts* counts) {
    wanted_ = counts != nullptr ? wanted : oa::CountsWanted{};
    work_ = counts;
  }
  void set_events(EventSink* events, const std::string& path);
  void report(FidelityReport& report) const;
  // Returns the surfaces that the last part of a draw used.
  message::SurfaceUses take_surface_uses();

 private:
  bool begin(const ResolveInput& input, const PrimitiveList* first = nullptr);
  void drop_stale_list(const Progress& progress);
  void draw_waiting_list(Progress& progress, Outcome& outcome);
  struct Chunk;
  void draw_chunks(Progress& progress, Outcome& outcome);
  void chunk(Progress& progress, Outcome& outcome);
  bool fetch_vertices(Progress& progress, Outcome& outcome, Chunk& chunk);
  void restore_vertices(const Progress& progress, Chunk& chunk);
  void keep_vertices(Progress& progress);
  void assemble(const Chunk& chunk, Progress& progress, Outcome& outcome);
  void note_streams(Outcome& outcome);
  void note_statistics(Outcome& outcome) const;
  void draw_list(Outcome& outcome);
  void draw_list(Progress& progress, Progress& after, Outcome& outcome);
  bool more(const Progress& progress) const;
  bool stopping() const { return stop_ != nullptr && stop_->raised(); }
  bool pauses(const Outcome& outcome) const;
  void process(OpenObjects& open, Outcome& outcome);
  void save(OpenObjects& open);
  void load(const OpenObjects& open);
  void process_objects(OpenObjects& open, Outcome& outcome);
  void process_patches(OpenObjects& open, Outcome& outcome);
  void process_patch(OpenObjects& open, uint32_t id, Outcome& outcome);
  ThreadEnd shade_objects(std::span<const Object> objects, EntryStore& entries, Outcome& outcome);
  void forward(const Assembled& assembled, const EntryStore& entries, uint32_t id, uint8_t stream, Outcome& outcome);
  void primitive(const Assembled& assembled, const EntryStore& entries, uint32_t id, Outcome& outcome);
  void place(const Assembled& assembled, const EntryStore& entries, uint32_t id, Outcome& outcome);
  bool tessellates() const { return state_.tessellation.enabled; }
  std::string_view left_out() const;
  uint32_t last_slots() const;
  StageAmounts instructions() const;
  StageAmounts threads() const;
  void add_work();
  uint64_t used(const Outcome& outcome) const;

  const Generation* generation_ = nullptr;
  memory::AddressSpace* space_ = nullptr;
  PipelineState state_;
  VertexStage vertices_;
  HullStage hull_;
  Tessellator tessellator_;
  DomainStage domain_;
  GeometryStage geometry_;
  StreamWriter streams_;
  ClipStage clip_threads_;
  PixelWork pixels_;
  std::vector<Object> parts_;  // primitives of a patch
  std::vector<ClippedPart> clipped_;
  PrimitiveList list_;       // of a chunk
  uint32_t line_steps_ = 0;  // of the line pattern, in the current strip

  // A chunk whose vertices are done and whose pixels are not. Progress stays before the chunk, so a restored Progress
  // repeats it.
  struct Waiting {
    Progress before;
    Progress after;
    PrimitiveList list;
    uint64_t pieces = 0;  // number of pieces drawn
  };
  std::optional<Waiting> waiting_;
  std::optional<Clipper> clipper_;
  const StopFlag* stop_ = nullptr;  // null: none
  StageAmounts before_;             // instructions at the start of the part
  StageAmounts threads_before_;     // threads at the start of the part
  oa::CountsWanted wanted_;
  oa::WorkCounts* work_ = nullptr;  // null: no counts
};

}  // namespace halogen::pipe3d
