// Pixels of one draw: tests subspans of a primitive, collects them into threads, and writes the threads' results to
// targets. Primitives are processed in order. Each host thread that draws has its own object.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "message/surface_table.h"
#include "pipe3d/geometry/setup_stage.h"
#include "pipe3d/output/depth_stencil.h"
#include "pipe3d/output/target_extent.h"
#include "pipe3d/output/target_message.h"
#include "pipe3d/output/target_writer.h"
#include "pipe3d/pixel/block_counts.h"
#include "pipe3d/pixel/pixel_replay.h"
#include "pipe3d/pixel/pixel_thread.h"
#include "pipe3d/shader_unit.h"

namespace halogen::pipe3d {

struct PixelCounts {
  uint64_t invocations = 0;  // pixels that had a thread
  uint64_t passed = 0;       // samples that passed depth and stencil
  uint64_t threads = 0;
  uint64_t replayed = 0;  // threads among them that were replayed
  BlockCounts blocks;     // if they are observed
};

class PixelStage final : public message::PixelMessages {
 public:
  explicit PixelStage(eu::KernelLibrary& library) : unit_(library), setup_(library) {}

  // Starts a draw. `entry_slots`: size of vertex entries. `targets` is used for render targets, depth and stencil,
  // `space` for everything else.
  void begin(const Generation& generation, const PipelineState& state, uint32_t entry_slots,
             memory::AddressSpace& space, memory::AddressSpace& targets);
  // Forgets the last primitive. Called before a list is drawn, because its primitives may have the addresses of earlier
  // ones.
  void begin_list() { primitive_ = nullptr; }
  // Draws the part of a primitive inside the window. `raster` belongs to the primitive.
  void draw(const ScreenPrimitive& primitive, const Rasteriser& raster, const Rectangle& window);
  // Stores the states of blocks that became plain. Called after the primitives of a piece.
  void store_states();
  // Forgets states of blocks, because helpers may have changed them.
  void forget_states();
  // Counts the blocks of a rectangle that is cleared without drawing.
  void count_blocks(const Rasteriser& raster);
  // Changes the compression state of a band of the first bound target. `scaled`: the rectangle of the primitive, which
  // counts parts of blocks. True: it was the last band.
  bool change_target(uint32_t layer, const Rectangle& scaled, uint32_t band);
  // Gen6: clears or resolves a band of the depth of a rectangle's pixels.
  bool change_depth(const ScreenPrimitive& rectangle, const Rasteriser& raster, uint32_t band);

  // Helper stages draw for the main stage, each on a host thread and with the main stage's kernels (ShaderUnit). Called
  // for the main stage:
  void share_kernels(memory::AddressSpace& quiet);
  void unshare_kernels();
  void merge_counts_of(PixelStage& helper);
  // Called for a helper:
  void use_kernels_of(PixelStage& main);
  bool fidelity_changed() const { return unit_.fidelity_changed() || setup_.unit().fidelity_changed(); }
  // Returns whether pixels can be drawn in any order with the targets used so far.
  bool pixels_apart() const;
  void drop_counts();

  ThreadEnd end() const { return end_; }  // end of the thread that stopped the draw, or done
  const PixelCounts& counts() const { return counts_; }
  // Adds what the messages and pipes of this stage and of merged helpers have done since begin().
  void take_work(oa::WorkCounts& into);
  uint64_t setup_threads() const { return setup_.unit().threads(); }
  uint64_t setup_instructions() const { return setup_.unit().instructions(); }
  uint64_t shader_instructions() const { return unit_.instructions(); }
  void report(FidelityReport& report) const {
    unit_.report(report);
    setup_.unit().report(report);
    surfaces_.unread().report(report);
  }
  void take_surface_uses(message::SurfaceUses& into) {
    into.merge(surfaces_.uses());
    into.merge(unit_.surface_uses());
    into.merge(setup_.unit().surface_uses());
  }
  // Returns what messages need and the model lacks: static text, or empty.
  std::string_view missing() const { return missing_; }
  // Returns what differs from hardware: static text, or empty.
  std::string_view inexact() const { return inexact_; }
  ShaderUnit& unit() { return unit_; }
  const ShaderUnit& unit() const { return unit_; }

  eu::SendOutcome send(eu::Thread& thread, const eu::Message& message, const eu::MessageControl& control) override;

 private:
  static constexpr uint64_t kWorthReplay = 256;  // minimum pixels of a primitive

  void enter(const Rectangle& window);
  template <bool kCounts>
  void add(const Subspan& subspan);
  void test(const Subspan& subspan, std::array<uint16_t, 4>& coverage);
  bool set_up();
  const PixelShader::Kernel& wide_kernel() const;
  FilledRegisters make_ready(const PixelShader::Kernel& kernel, const PixelGroup& group);
  void dispatch();
  eu::SendOutcome put(TargetMessage message);
  // pixel_fill.cpp
  void forget_replays();
  const PixelReplay* replay(const PixelShader::Kernel& kernel, bool narrow);
  void play(const PixelReplay& known);
  bool fill(const Rectangle& area);
  bool early() const;
  TargetWriter* target(uint8_t index, uint8_t blend);
  void late_test(Lane& lane, const float* depth, const uint8_t* stencil);
  uint32_t write_lane(const TargetMessage& message, unsigned lane);
  bool write_group(const TargetMessage& message, unsigned lanes);
  void count_written(uint64_t blocks, const TargetWriter& writer);
  // pixel_messages.cpp
  eu::SendOutcome interpolate(const eu::Message& sent, const eu::MessageControl& control);
  eu::SendOutcome read_target(const eu::Message& sent, const eu::MessageControl& control);

  const Generation* generation_ = nullptr;
  const PipelineState* state_ = nullptr;
  memory::AddressSpace* space_ = nullptr;
  memory::AddressSpace* target_space_ = nullptr;
  uint32_t entry_slots_ = 0;
  ShaderUnit unit_;
  SetupStage setup_;  // Gen4
  DepthStencilUnit depth_;
  message::SurfaceTable surfaces_{MemoryClient::color};
  struct Bound {
    uint8_t index = 0;
    uint8_t blend = 0;
    TargetExtent extent;
    TargetWriter writer;
  };
  std::vector<std::unique_ptr<Bound>> targets_;

  const ScreenPrimitive* primitive_ = nullptr;
  const Rasteriser* raster_ = nullptr;
  std::vector<uint32_t> attributes_;
  bool is_set_up_ = false;  // attributes of the primitive are computed
  PixelGroup group_;
  unsigned filled_ = 0;    // channels
  uint32_t subspans_ = 0;  // since begin(); decides when the stop flag is asked
  unsigned width_ = 8;     // of threads
  bool test_early_ = false;
  bool counts_blocks_ = false;
  ThreadBlocks blocks_;  // of the thread that runs, if blocks are counted
  bool worth_replay_ = false;
  std::array<PixelReplay, 2> replays_;  // of the primitive: wide and narrow threads
  FollowedKernels followed_;
  std::unique_ptr<eu::Thread> thread_;
  eu::RegisterUse used_ = eu::RegisterUse::all();  // registers that the thread has used since it was cleared
  ThreadEnd end_ = ThreadEnd::done;
  PixelCounts counts_;
  std::string_view missing_;
  std::string_view inexact_;
};

}  // namespace halogen::pipe3d
