// Threads of one stage of the pipeline: their kernels, memory and messages. A thread is run from its start to its end;
// a thread that takes too long counts as endless.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/fidelity.h"
#include "gen/generation.h"
#include "message/kernel_cache.h"
#include "message/shared_functions.h"
#include "pipe3d/geometry/entry_store.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

enum class ThreadEnd : uint8_t { done, fault, illegal, endless, waiting };

class ShaderUnit final : public message::Urb {
 public:
  ShaderUnit();
  ~ShaderUnit() override;

  // Before threads of a draw run.
  void begin(const Generation& generation, const PipelineState& state, const Shader& shader,
             memory::AddressSpace& space);
  void set_urb(EntryStore* input, EntryStore* output) {
    input_ = input;
    output_ = output;
  }
  void set_groups(message::Groups* groups) { groups_ = groups; }
  void set_pixels(message::PixelMessages* pixels) { pixels_ = pixels; }
  void set_events(EventSink* events, const std::string& path) { functions_.set_events(events, path); }

  // The kernel that starts at an offset from the instruction base; its code is compared with memory once a draw.
  void use_kernel(uint64_t kernel);
  // A thread with registers empty but r0 and the constants; gives the first register behind them.
  size_t prepare(eu::Thread& thread, const Shader& shader, size_t first_grf) const;
  // The same for a thread that is used again and again: `used` is what was written since it was cleared, and becomes
  // what this and the kernel write. Whoever writes more adds it.
  size_t prepare(eu::Thread& thread, eu::RegisterUse& used, const Shader& shader, size_t first_grf) const;
  const eu::Kernel* kernel() const { return kernel_; }  // null: one that was not lent
  // A thread of which nothing is counted, and whose messages go to `target`.
  ThreadEnd rehearse(eu::Thread& thread, eu::MessageTarget& target);
  // As if so many threads had run the first instructions of the kernel; and messages.
  void count(uint64_t threads, size_t instructions);
  void count(const eu::MessageControl& control, uint64_t times) { functions_.count(control, times); }
  ThreadEnd run(eu::Thread& thread);  // waiting: it is at a barrier, and goes on with another run()

  // Several units of one stage, each on a thread of the host. `main` lends its kernels to those that follow it, which
  // are read by way of `quiet` if they are new; they run nothing else, and hand over what they count, or drop it.
  bool lend(std::span<const uint64_t> kernels, memory::AddressSpace& quiet);
  void take_back();
  void follow(ShaderUnit& main);
  bool follows() const { return main_ != nullptr; }
  bool learned() const { return functions_.learned(); }  // something about messages that main does not know
  void hand_over();
  void drop_counts();

  uint64_t instructions() const { return instructions_; }
  void report(FidelityReport& report) const;

  // Output entries have their numbers as handles, input entries kInputHandles besides. A handle has 16 bits; what
  // threads find above them is not looked at.
  static constexpr uint32_t kInputHandles = 0x8000;
  std::span<uint32_t> entry(eu::Thread& thread, uint32_t handle) override;
  // Gen6: whoever gives entries to threads that ask for them.
  void set_giver(message::Urb* giver) { giver_ = giver; }
  uint32_t allocate(eu::Thread& thread, uint32_t primitives) override {
    return giver_ != nullptr ? giver_->allocate(thread, primitives) : 0;
  }
  std::array<uint32_t, 4> synchronise(eu::Thread& thread, uint32_t streamed) override {
    return giver_ != nullptr ? giver_->synchronise(thread, streamed) : std::array<uint32_t, 4>{};
  }
  void written(eu::Thread& thread, const message::UrbWrite& write) override {
    if (giver_ != nullptr) {
      giver_->written(thread, write);
    }
  }

 private:
  struct Lent {
    uint64_t place = 0;
    message::CachedKernel* kernel = nullptr;
  };
  // How often instructions of a kernel that is lent ran.
  struct LentCounts {
    message::CachedKernel* kernel = nullptr;
    std::unique_ptr<eu::ExecutionCounts> counts;
  };
  void use_lent(uint64_t kernel);
  size_t load(eu::Thread& thread, const Shader& shader, size_t first_grf) const;

  std::unique_ptr<eu::Executor> executor_;
  message::SharedFunctions functions_;
  message::KernelCache kernels_;
  const eu::Kernel* kernel_ = nullptr;
  eu::ExecutionCounts* counts_ = nullptr;
  ShaderUnit* main_ = nullptr;
  std::vector<Lent> lent_;
  std::vector<LentCounts> lent_counts_;
  const Generation* generation_ = nullptr;
  memory::AddressSpace* space_ = nullptr;
  uint64_t instruction_base_ = 0;
  uint64_t surface_base_ = 0;
  std::vector<uint64_t> compared_;  // kernels, in this draw
  EntryStore* input_ = nullptr;
  EntryStore* output_ = nullptr;
  message::PixelMessages* pixels_ = nullptr;
  message::Groups* groups_ = nullptr;
  message::Urb* giver_ = nullptr;
  uint64_t instructions_ = 0;
};

// Registers as dwords.
inline void put_dword(eu::Thread& thread, size_t grf, size_t dword, uint32_t value) {
  const size_t at = grf * eu::kGrfBytes + dword * sizeof(value);
  if (at + sizeof(value) <= thread.grf.size()) {
    std::memcpy(thread.grf.data() + at, &value, sizeof(value));
  }
}
inline void put_float(eu::Thread& thread, size_t grf, size_t dword, float value) {
  put_dword(thread, grf, dword, std::bit_cast<uint32_t>(value));
}

}  // namespace halogen::pipe3d
