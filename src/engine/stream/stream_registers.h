// Registers that show where the parser is: ring head, active head, batch buffer heads and states, the last header, idle
// units. They are written from the stream when they are read, and the stream is set from them when a context is
// restored.
#pragma once

#include <cstdint>

#include "mmio/registers.h"

namespace halogen::engine {

class Engine;

class StreamRegisters final : public mmio::RegisterHandler {
 public:
  explicit StreamRegisters(Engine& engine);

  void publish();       // stream -> registers
  void publish_head();  // RING_HEAD alone
  void adopt();         // registers -> stream, with its batch levels
  // RING_HEAD with the head this many bytes further on.
  uint32_t ring_head(uint64_t ahead) const;
  // A context leaves before its end: where it stood.
  void record_preemption();

  // Batch levels from the second on go through one port, too: `number` counts its places in a context image.
  uint32_t stack_dword(unsigned number) const;
  void set_stack_dword(unsigned number, uint32_t value);

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;

 private:
  void publish_batches();
  void publish_stack();

  Engine& engine_;
};

}  // namespace halogen::engine
