// Registers that end a semaphore wait when they are written: the mailboxes of Gen6. The token of Gen12 is what a
// producer reports, and only stored; where its engines take signals of software is not public.
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
