// How software sees an error: ESR, EMR, EIR, the address of the command, and the master error. Seed 003 5.7; seed 000,
// hardware status page (error registers). The registers of Gen4's render engine stand for the whole device. Left out:
// display underruns (no bit is public) and memory refresh errors (memory does not forget here).
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
