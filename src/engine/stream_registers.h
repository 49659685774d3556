// Registers that show where the parser is: ring head, active head, batch buffer heads and states, the last header.
// They are written from the stream when somebody looks, and the stream is set from them when a context is restored.
#pragma once

#include <cstdint>

#include "engine/registers.h"

namespace halogen::engine {

class Engine;

class StreamRegisters final : public RegisterHandler {
 public:
  explicit StreamRegisters(Engine& engine);

  void publish();  // stream -> registers
  void adopt();    // registers -> stream, with its batch levels

  uint32_t on_read(const RegisterSlot& slot, unsigned copy, uint32_t stored) override;

 private:
  Engine& engine_;
};

}  // namespace halogen::engine
