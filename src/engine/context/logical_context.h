// A logical context in memory: the page for reports of the context, the ring context and the engine context. A restore
// parses the image as a command streamer does, so the contents that software wrote count and not the layout that save()
// uses. Registers that drivers write at fixed dwords stand there; the state of the pipelines follows them
// (context_settings.h). An image whose registers end after its first kReadDwords says so with an MI_NOOP whose
// identification number is the dword where they end. DG1 PRM vol. 13, "Logical Ring Context Format", "Workaround Batch
// Buffers" and "CSFE Execlist Context" (seed 000).
//
// Not modelled: commands in an image other than register loads, no-ops, wake-ups and commands that the back end
// executes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/strong.h"
#include "memory/access.h"
#include "mmio/context_image.h"
#include "mmio/register_bank.h"

namespace halogen::engine {

class Engine;
struct Command;

// Returns the value that a context image holds for a register.
uint32_t image_value(Engine& engine, const mmio::RegisterSlot& slot);

class LogicalContext {
 public:
  static constexpr uint64_t kStatusPageBytes = 4096;
  static constexpr uint32_t kRingDwords = 80;    // five cache lines
  static constexpr uint32_t kMaxDwords = 6144;   // maximum length of an image that is parsed; see max_dwords()
  static constexpr uint32_t kReadDwords = 1024;  // dwords read at a time
  static constexpr uint32_t kLineDwords = 16;

  enum class Result : uint8_t {
    done,
    ended,    // an MI_BATCH_BUFFER_END was found; the image holds no more
    stopped,  // by a fault, or by a command that hangs the engine; its activity says which
  };

  explicit LogicalContext(Engine& engine);

  // Resets the state that belongs to a context and is not in every image.
  void forget();
  // Executes the commands of the image that start at dword `at` or later and before `to`, and advances `at`. `context`
  // is the address in the descriptor.
  Result restore(GgttOffset context, uint32_t& at, uint32_t to);
  // Reads the tail from the image. A context that is already in the engine needs no more, unless its page tables must
  // be loaded again.
  memory::AccessResult sample_tail(GgttOffset context);
  // Loads the page tables from the image again.
  void restore_tables(GgttOffset context);
  // Writes the whole image, or only the ring context if CTXT_SR_CTL inhibits the rest.
  memory::AccessResult save(GgttOffset context);
  // Returns the maximum length of an image. Only the image of the render engine has room for pipeline state; others are
  // one page.
  uint32_t max_dwords() const;
  // Returns the length of a saved image without pipeline state.
  uint32_t dwords() const { return static_cast<uint32_t>(words_.size()); }

 private:
  struct Value {
    uint32_t at;
    const mmio::RegisterSlot* slot;
  };

  bool restore_command(const Command& command);
  void load_registers(std::span<const uint32_t> command);
  void load_register(uint32_t offset, uint32_t value);
  void pack_hidden();
  void unpack_hidden();

  Engine& engine_;
  std::vector<uint32_t> words_;  // headers and register offsets; values are zero
  std::vector<Value> values_;
  uint32_t tail_at_ = 0;
};

}  // namespace halogen::engine
