// Gen4: clipping by threads. The unit judges an object by the places of its vertices, which are divided by w already:
// it drops what is outside, passes on what is inside (or in the guard band), and gives the rest to a thread, which
// writes the vertices of what is left of it, one entry each. What leaves has not been cut to what the rasteriser can
// hold: the clipper does that.
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
  struct Judgement {
    Verdict verdict = Verdict::pass;
    uint32_t flags = 0;  // as threads are told in r0.2, without the topology
  };
  using Emit = std::function<void(const Assembled&, const EntryStore&)>;

  // `slots`: of the entries that come and go.
  void begin(const Generation& generation, const PipelineState& state, uint32_t slots, memory::AddressSpace& space);
  bool runs() const { return state_ != nullptr && state_->clip_unit.enabled; }
  static Judgement judge(const PipelineState& state, const Assembled& object, const EntryStore& entries);
  ThreadEnd run(const Assembled& object, uint32_t flags, const EntryStore& entries, const Emit& emit);

  uint64_t instructions() const { return unit_.instructions(); }
  ShaderUnit& unit() { return unit_; }
  const ShaderUnit& unit() const { return unit_; }

  // Messages of the thread that runs.
  std::span<uint32_t> entry(eu::Thread& thread, uint32_t handle) override { return unit_.entry(thread, handle); }
  uint32_t allocate(eu::Thread& thread, uint32_t primitives) override;
  void written(eu::Thread& thread, const message::UrbWrite& write) override;

 private:
  struct Written {
    uint32_t handle = 0;
    uint32_t flags = 0;
  };

  const PipelineState* state_ = nullptr;
  uint32_t slots_ = 0;
  ShaderUnit unit_;
  EntryStore output_;
  std::vector<Written> written_;
  std::unique_ptr<eu::Thread> thread_;
};

}  // namespace halogen::pipe3d
