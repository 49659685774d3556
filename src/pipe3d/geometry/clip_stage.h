// Gen4: clipping by threads. The unit tests the positions of an object's vertices, which are already divided by w. It
// drops objects outside, passes on objects inside (or in the guard band), and gives the others to a thread, which
// writes the vertices of the clipped object to one entry each. The results may still exceed the range of the
// rasteriser; the clipper handles that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "pipe3d/geometry/assembly.h"
#include "pipe3d/shader_unit.h"

namespace halogen::pipe3d {

class ClipStage final : public message::Urb {
 public:
  explicit ClipStage(eu::KernelLibrary& library) : unit_(library) {}

  enum class Verdict : uint8_t { drop, pass, thread };
  // Planes that at least one vertex is outside of, in the format of the payload.
  struct Outside {
    uint8_t planes = 0;
    uint8_t user_planes = 0;
  };
  struct Judgement {
    Verdict verdict = Verdict::pass;
    Outside outside{};
  };
  using Emit = std::function<void(const Assembled&, const EntryStore&)>;

  // Starts a draw. `slots`: size of input and output entries.
  void begin(const Generation& generation, const PipelineState& state, uint32_t slots, memory::AddressSpace& space);
  bool runs() const { return state_ != nullptr && state_->clip_unit.enabled; }
  static Judgement judge(const PipelineState& state, const Assembled& object, const EntryStore& entries);
  ThreadEnd run(const Assembled& object, const Outside& outside, const EntryStore& entries, const Emit& emit);

  uint64_t instructions() const { return unit_.instructions(); }
  ShaderUnit& unit() { return unit_; }
  const ShaderUnit& unit() const { return unit_; }

  // Handle messages of the running thread.
  std::span<uint32_t> entry(eu::Thread& thread, uint32_t handle) override { return unit_.entry(thread, handle); }
  uint32_t allocate(eu::Thread& thread, uint32_t primitives) override;
  void written(eu::Thread& thread, const message::UrbWrite& write) override;

 private:
  const PipelineState* state_ = nullptr;
  uint32_t slots_ = 0;
  ShaderUnit unit_;
  EntryStore output_;
  std::vector<hw::URB_WRITE_HEADER> written_;
  std::unique_ptr<eu::Thread> thread_;
};

}  // namespace halogen::pipe3d
