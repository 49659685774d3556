// The pixels of lists of primitives, piece by piece (pixel_pieces.h). Pieces are drawn in rounds, and work can stop
// after each round. The result is as if pieces were drawn one after the other, with the primitives of each in order.
//
// With a pool the pieces of a round are spread over host threads and drawn directly to memory. If the order of pieces
// matters (memory/in_place_speculation.h: a shader that writes memory or reads what is drawn; a fault; an Event), the
// round is rolled back and drawn on one thread. Therefore the number of threads affects only host time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/fidelity.h"
#include "base/worker_pool.h"
#include "memory/in_place_speculation.h"
#include "pipe3d/geometry/primitive_list.h"
#include "pipe3d/pixel/pixel_pieces.h"
#include "pipe3d/pixel/pixel_stage.h"

namespace halogen::pipe3d {

class PixelWork {
 public:
  explicit PixelWork(eu::KernelLibrary& library);
  ~PixelWork();

  void set_pool(WorkerPool* pool) { pool_ = pool; }
  // Starts a draw, or a part of one. `entry_slots`: size of vertex entries.
  void begin(const Generation& generation, const PipelineState& state, uint32_t entry_slots,
             memory::AddressSpace& space);
  uint32_t entry_slots() const { return entry_slots_; }

  // Draws pieces from `next` on, until all are drawn, a thread stops the draw, a stop is requested, or `most`
  // instructions were executed. Sets `next` to the first piece that is not drawn. True: all are drawn.
  bool draw(const PrimitiveList& list, uint64_t& next, uint64_t most);

  ThreadEnd end() const { return main_.end(); }  // end of the thread that stopped the draw, or done
  const PixelCounts& counts() const { return main_.counts(); }
  uint64_t setup_threads() const { return main_.setup_threads(); }
  uint64_t setup_instructions() const { return main_.setup_instructions(); }
  uint64_t shader_instructions() const { return main_.shader_instructions(); }
  uint64_t instructions() const { return setup_instructions() + shader_instructions(); }
  std::string_view missing() const { return main_.missing(); }
  std::string_view inexact() const { return main_.inexact(); }
  void set_events(EventSink* events, const std::string& path) { main_.unit().set_events(events, path); }
  void take_work(oa::WorkCounts& into) { main_.take_work(into); }
  void report(FidelityReport& report) const { main_.report(report); }
  void take_surface_uses(message::SurfaceUses& into) { main_.take_surface_uses(into); }

 private:
  struct Lane;
  // How well parallel rounds have worked for a kernel. Affects host time only.
  struct BackOff {
    uint32_t alone = 0;    // rounds to draw on one thread
    uint32_t penalty = 0;  // serial rounds after the next failure, as a power of two
  };

  bool clear(const PrimitiveList& list, uint64_t& next);
  bool pays(uint64_t pieces) const;
  bool stopping() const { return state_->stop != nullptr && state_->stop->raised(); }
  BackOff& back_off();
  bool draw_beside(const PrimitiveList& list, uint64_t first, uint64_t end);
  void draw_round(const PrimitiveList& list, uint64_t& next, uint64_t end);
  void draw_piece(PixelStage& stage, const PrimitiveList& list, uint64_t number) const;

  const Generation* generation_ = nullptr;
  const PipelineState* state_ = nullptr;
  memory::AddressSpace* space_ = nullptr;
  uint32_t entry_slots_ = 0;
  eu::KernelLibrary& library_;
  PixelStage main_;
  std::vector<Rasteriser> rasters_;  // one per primitive of the list
  PixelPieces pieces_;
  WorkerPool* pool_ = nullptr;
  memory::InPlaceSpeculation speculation_;
  const memory::PhysicalMemory* memory_ = nullptr;  // memory of the lanes
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::map<std::pair<uint64_t, uint64_t>, BackOff> back_offs_;  // by instruction base and kernel
};

}  // namespace halogen::pipe3d
