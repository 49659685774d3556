// Registers that show the position of the parser: ring head, active head, batch buffer heads and states, the last
// header, idle units. They are written from the stream when they are read, and the stream is set from them when a
// context is restored.
#pragma once

#include <cstdint>

#include "mmio/registers.h"

namespace halogen::engine {

class Engine;

class StreamRegisters final : public mmio::RegisterHandler {
 public:
  explicit StreamRegisters(Engine& engine);

  void publish();       // stream -> registers
  void publish_head();  // only RING_HEAD
  void adopt();         // registers -> stream, with its batch levels
  // Returns RING_HEAD as it is when the head has moved on by `ahead` bytes.
  uint32_t ring_head(uint64_t ahead) const;
  // Records the position of a context that is preempted.
  void record_preemption();

  // Access the batch levels from the second on as a context image stores them. `number` is the index of a dword in the
  // stack.
  uint32_t stack_dword(unsigned number) const;
  void set_stack_dword(unsigned number, uint32_t value);

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;

 private:
  void publish_batches();
  void publish_stack();

  Engine& engine_;
};

}  // namespace halogen::engine
