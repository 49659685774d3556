// The pixels of lists of primitives, piece by piece (pixel_pieces.h). Pieces come in rounds, and work can end behind
// each of them. What comes out is as if pieces were drawn one after the other, primitives in each in their order.
//
// With a pool the pieces of a round are spread over threads of the host and drawn straight to memory. A round that
// meets what makes their order count (memory/in_place_speculation.h: a shader that writes, or reads what is drawn; a
// fault; an Event to raise) is rolled back and drawn on one thread. So the number of threads changes nothing but time.
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
  // Before lists of a draw, or of a part of it. `entry_slots`: of their vertices.
  void begin(const Generation& generation, const PipelineState& state, uint32_t entry_slots,
             memory::AddressSpace& space);
  uint32_t entry_slots() const { return entry_slots_; }

  // Pieces from number `next` on, until all are drawn, a thread stopped everything, or `most` instructions were
  // executed. `next` becomes the first that is not drawn. True: all are drawn.
  bool draw(const PrimitiveList& list, uint64_t& next, uint64_t most);

  ThreadEnd end() const { return main_.end(); }  // of the thread that stopped everything, or done
  const PixelCounts& counts() const { return main_.counts(); }
  uint64_t setup_threads() const { return main_.setup_threads(); }
  uint64_t instructions() const { return main_.instructions(); }
  std::string_view missing() const { return main_.missing(); }
  std::string_view inexact() const { return main_.inexact(); }
  void set_events(EventSink* events, const std::string& path) { main_.unit().set_events(events, path); }
  void report(FidelityReport& report) const { main_.report(report); }

 private:
  struct Lane;
  // How well it paid for a kernel so far. It decides about time only.
  struct BackOff {
    uint32_t alone = 0;    // rounds to be drawn on one thread
    uint32_t penalty = 0;  // how many the next failure costs, as a power of two
  };

  bool clear(const PrimitiveList& list, uint64_t& next);
  bool pays(uint64_t pieces) const;
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
  std::vector<Rasteriser> rasters_;  // of the list
  PixelPieces pieces_;
  WorkerPool* pool_ = nullptr;
  memory::InPlaceSpeculation speculation_;
  const memory::PhysicalMemory* memory_ = nullptr;  // of the lanes
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::map<std::pair<uint64_t, uint64_t>, BackOff> back_offs_;  // by instruction base and kernel
};

}  // namespace halogen::pipe3d
