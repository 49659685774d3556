// Registers that end a semaphore wait when they are written: the mailboxes of Gen6 and the token of Gen12.
#pragma once

#include "engine/registers.h"

namespace halogen::engine {

class Engine;

class Semaphores final : public RegisterHandler {
 public:
  explicit Semaphores(Engine& engine);

  uint32_t on_write(const RegisterWrite& write) override;

 private:
  Engine& engine_;
};

}  // namespace halogen::engine
