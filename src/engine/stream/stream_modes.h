// Mode registers that the streamer itself uses: MI_MODE (stop the rings, rings idle, suspend flush) and INSTPM (sync
// flush, command groups that do not reach the back end). G45 PRM vol. 1b 5.3.3 and 5.3.11 (seed 003).
#pragma once

#include <cstdint>

#include "mmio/registers.h"

namespace halogen::engine {

class Engine;
struct Command;

class StreamModes final : public mmio::RegisterHandler {
 public:
  explicit StreamModes(Engine& engine);

  // Returns whether parsing is halted between commands, by MI_MODE or by a reset request.
  bool stopped() const;
  // Applies MI_SUSPEND_FLUSH.
  void suspend_flush(bool suspend);
  // Returns whether INSTPM disables the group of commands that this command belongs to.
  bool skips(const Command& command) const;

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  void sync_flush_if_asked();

  Engine& engine_;
};

}  // namespace halogen::engine
