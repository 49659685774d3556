// Mode registers that the streamer itself acts on: MI_MODE (stop the rings, are they idle, suspend flushes) and INSTPM
// (sync flush, which command groups reach the back end). Seed 003 5.3.3 and 5.3.11.
#pragma once

#include <cstdint>

#include "mmio/registers.h"

namespace halogen::engine {

class Engine;
struct Command;

class StreamModes final : public mmio::RegisterHandler {
 public:
  explicit StreamModes(Engine& engine);

  // Parsing is halted between commands: by MI_MODE, or for a reset that was asked for.
  bool stopped() const;
  // MI_SUSPEND_FLUSH.
  void suspend_flush(bool suspend);
  // INSTPM says that commands of this group are not passed on.
  bool skips(const Command& command) const;

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  void sync_flush_if_asked();

  Engine& engine_;
};

}  // namespace halogen::engine
