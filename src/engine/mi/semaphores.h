// Registers that end a semaphore wait when they are written: the mailboxes of Gen6. The semaphore token of Gen12 is
// only stored, because it is a value that a producer reports, and no public source says where engines receive signals
// from software.
#pragma once

#include "mmio/registers.h"

namespace halogen::engine {

class Engine;

class Semaphores final : public mmio::RegisterHandler {
 public:
  explicit Semaphores(Engine& engine);

  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  Engine& engine_;
};

}  // namespace halogen::engine
