// Logical context in memory: the page that receives a context's own reports, the ring context and the engine context.
// Restores parse the image as a command streamer does, so what software put there counts, not the layout that we save.
// Seed 000, "Logical Ring Context Format", "Workaround Batch Buffers" and "CSFE Execlist Context".
//
// Left out: images beyond the first page after the status page (no part of ours lies there), and commands in an image
// other than register loads, no-operations, wake-ups and what the back end executes.
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

// What a register's value is in an image.
uint32_t image_value(Engine& engine, const mmio::RegisterSlot& slot);

class LogicalContext {
 public:
  static constexpr uint64_t kStatusPageBytes = 4096;
  static constexpr uint32_t kRingDwords = 80;    // five cache lines
  static constexpr uint32_t kMostDwords = 4096;  // of an image that is parsed; see most_dwords()
  static constexpr uint32_t kReadDwords = 1024;  // ... at a time
  static constexpr uint32_t kLineDwords = 16;

  enum class Result : uint8_t {
    done,
    ended,    // by a batch buffer end: the image holds no more
    stopped,  // by a fault, or by a command that hangs the engine: its activity says which
  };

  explicit LogicalContext(Engine& engine);

  // What belongs to a context and is not in every image: as after a reset.
  void forget();
  // The commands of the image that start at dword `at` and before `to`; `at` moves on. `context` is the address in the
  // descriptor.
  Result restore(GgttOffset context, uint32_t& at, uint32_t to);
  // The tail is all that a context needs which is in the engine already.
  memory::AccessResult sample_tail(GgttOffset context);
  // ... unless its page tables are to be loaded again.
  void restore_tables(GgttOffset context);
  // The whole image, or the ring context alone when the context says so.
  memory::AccessResult save(GgttOffset context);
  // Of this engine: only that of the render engine has room for the settings of pipelines, others are a page.
  uint32_t most_dwords() const;
  // Length of the image that is saved.
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
  std::vector<uint32_t> words_;  // headers and register words, values zero
  std::vector<Value> values_;
  uint32_t tail_at_ = 0;
};

}  // namespace halogen::engine
