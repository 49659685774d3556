// How software sees an error: ESR, EMR, EIR, the address of the command, and the master error. G45 PRM vol. 1b 5.7
// (seed 003); DG1 PRM vol. 13, hardware status page (seed 000). On Gen4 the registers of the render engine serve the
// whole device. Not modelled: display underruns (no public source names a bit) and memory refresh errors (host memory
// needs no refresh).
#pragma once

#include <cstdint>

#include "engine/stream/command.h"
#include "mmio/registers.h"

namespace halogen::engine {

class Engine;

enum class ErrorKind : uint8_t { instruction, command_privilege, memory_privilege, page_table, memory_refresh };

class Errors final : public mmio::RegisterHandler {
 public:
  explicit Errors(Engine& engine);

  void raise(ErrorKind kind);
  void reset();

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  void update();
  uint32_t unrecoverable() const;

  Engine& engine_;
};

}  // namespace halogen::engine
