// Threads of one pipeline stage: their kernels, memory and messages. run() executes a thread until it ends, blocks at a
// barrier, or is stopped; a thread that exceeds the instruction limit counts as endless.
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
#include "base/stop_flag.h"
#include "gen/generation.h"
#include "message/kernel_table.h"
#include "message/shared_functions.h"
#include "message/thread_payload.h"
#include "pipe3d/geometry/entry_store.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

enum class ThreadEnd : uint8_t {
  done,
  fault,
  illegal,
  endless,
  waiting,
  stopped  // a stop was requested in the middle of the thread or of its primitive
};

class ShaderUnit final : public message::Urb {
 public:
  explicit ShaderUnit(eu::KernelLibrary& library);
  ~ShaderUnit() override;

  // Starts a draw.
  void begin(const Generation& generation, const PipelineState& state, const Shader& shader,
             memory::AddressSpace& space);
  void set_urb(EntryStore* input, EntryStore* output) {
    input_ = input;
    output_ = output;
  }
  void set_groups(message::Groups* groups) { groups_ = groups; }
  void set_pixels(message::PixelMessages* pixels) { pixels_ = pixels; }
  void set_events(EventSink* events, const std::string& path) { functions_.set_events(events, path); }

  // Selects the kernel at an offset from the instruction base. Its code is compared with memory once per draw.
  void use_kernel(uint64_t kernel);
  // Clears a thread and writes r0 and the constants. Returns the first register after them.
  size_t prepare(eu::Thread& thread, const Shader& shader, size_t first_grf) const;
  // The same for a thread that is reused. `used` holds the registers written since it was cleared, and receives those
  // that this function and the kernel write. A caller that writes more registers adds them.
  size_t prepare(eu::Thread& thread, eu::RegisterUse& used, const Shader& shader, size_t first_grf) const;
  // Writes a part of the payload to its registers.
  template <class Payload>
  void put(eu::Thread& thread, const Payload& payload) const {
    message::put_payload(thread, gen_, payload);
  }
  const eu::Kernel* kernel() const { return kernel_; }  // null: the main unit does not share it
  // Runs a thread without counting it. Its messages are sent to `target`.
  ThreadEnd rehearse(eu::Thread& thread, eu::MessageTarget& target);
  // Count threads that did not run, as if they had run the first `instructions` instructions of the kernel. Count
  // messages that were sent elsewhere.
  void count(uint64_t threads, size_t instructions);
  void count(const eu::MessageControl& control, uint64_t times) { functions_.count(control, times); }
  ThreadEnd run(eu::Thread& thread);  // waiting: at a barrier; continues with another run()

  // Several units of one stage, each on a host thread. `main` shares its kernels with the other units, which run
  // nothing else. A kernel that is new to `main` is read through `quiet`. The other units merge their counts into
  // those of `main`, or drop them.
  void share_kernels(std::span<const uint64_t> kernels, memory::AddressSpace& quiet);
  void unshare_kernels() { shared_.clear(); }
  void use_kernels_of(ShaderUnit& main);
  bool is_helper() const { return main_ != nullptr; }
  // Returns whether this unit has found a kind of message to be less exact than `main` had recorded.
  bool fidelity_changed() const { return functions_.fidelity_changed(); }
  void merge_counts();
  void drop_counts();

  // Returns whether a stop was requested.
  bool stopping() const { return stop_ != nullptr && stop_->raised(); }

  uint64_t instructions() const { return instructions_; }
  uint64_t threads() const { return threads_; }  // number of threads started
  void report(FidelityReport& report) const;
  message::SurfaceUses& surface_uses() { return functions_.surface_uses(); }
  // Adds the messages and the pipe activity since begin(), as far as the draw's state says that they are observed.
  void take_work(oa::Stage stage, oa::WorkCounts& into);

  // The handle of an output entry is its number; input entries add kInputHandles. A handle has 16 bits; higher bits in
  // messages are ignored.
  static constexpr uint32_t kInputHandles = 0x8000;
  static constexpr uint32_t kHandleNumber = kInputHandles - 1;
  std::span<uint32_t> entry(eu::Thread& thread, uint32_t handle) override;
  // Gen6: the stage that allocates entries for threads that request them.
  void set_urb_allocator(message::Urb* allocator) { urb_allocator_ = allocator; }
  uint32_t allocate(eu::Thread& thread, uint32_t primitives) override {
    return urb_allocator_ != nullptr ? urb_allocator_->allocate(thread, primitives) : 0;
  }
  std::array<uint32_t, 4> synchronise(eu::Thread& thread, const hw::FF_SYNC_HEADER& header) override {
    return urb_allocator_ != nullptr ? urb_allocator_->synchronise(thread, header) : std::array<uint32_t, 4>{};
  }
  void written(eu::Thread& thread, const message::UrbWrite& write) override {
    if (urb_allocator_ != nullptr) {
      urb_allocator_->written(thread, write);
    }
  }

 private:
  struct Shared {
    uint64_t offset = 0;  // from the instruction base
    message::DispatchedKernel* kernel = nullptr;
  };
  // Execution counts of a shared kernel in this unit.
  struct SharedCounts {
    message::DispatchedKernel* kernel = nullptr;
    std::shared_ptr<const eu::Program> program;
    std::unique_ptr<eu::ExecutionCounts> counts;
  };
  bool compare_now(uint64_t kernel);
  void use_shared(uint64_t kernel);
  void use(message::DispatchedKernel& kernel);
  size_t load(eu::Thread& thread, const Shader& shader, size_t first_grf) const;
  template <class Turn>
  ThreadEnd run_turns(const eu::Thread& thread, Turn&& turn) const;

  message::SharedFunctions functions_;
  message::KernelTable kernels_;
  message::DispatchedKernel* own_ = nullptr;  // the kernel in use; null: one of main's
  const eu::Kernel* kernel_ = nullptr;
  eu::ExecutionCounts* counts_ = nullptr;
  uint64_t offset_ = 0;  // offset of the kernel in use
  ShaderUnit* main_ = nullptr;
  std::vector<Shared> shared_;
  std::vector<SharedCounts> shared_counts_;
  spec::GenId gen_{};
  memory::AddressSpace* space_ = nullptr;
  const StopFlag* stop_ = nullptr;  // null: none
  uint64_t instruction_base_ = 0;
  uint64_t surface_base_ = 0;
  std::vector<uint64_t> compared_;  // kernels compared in this draw
  EntryStore* input_ = nullptr;
  EntryStore* output_ = nullptr;
  message::PixelMessages* pixels_ = nullptr;
  message::Groups* groups_ = nullptr;
  message::Urb* urb_allocator_ = nullptr;
  uint64_t instructions_ = 0;
  uint64_t threads_ = 0;
};

// Write registers as dwords.
inline void put_dword(eu::Thread& thread, size_t grf, size_t dword, uint32_t value) {
  const size_t at = grf * eu::kGrfBytes + dword * sizeof(value);
  if (at + sizeof(value) <= thread.grf.size()) {
    std::memcpy(thread.grf.data() + at, &value, sizeof(value));
  }
}
inline void put_float(eu::Thread& thread, size_t grf, size_t dword, float value) {
  put_dword(thread, grf, dword, std::bit_cast<uint32_t>(value));
}
// Copies the part of a URB entry that a shader reads to registers from `grf` on, two slots per register. Returns the
// register after them. Slots that the entry lacks leave their half unchanged.
size_t put_entry_rows(eu::Thread& thread, size_t grf, const Shader& shader, std::span<const Slot> entry);

}  // namespace halogen::pipe3d
