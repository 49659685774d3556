// The time that the contexts of an open node have spent on engines, by class of engine.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "driver/perf/load_page.h"

namespace halogen::driver {

class ClientLoad {
 public:
  ClientLoad(std::shared_ptr<LoadBoard> board, ClientSlot* slot) : board_(std::move(board)), slot_(slot) {}
  ~ClientLoad() { leave(); }
  ClientLoad(const ClientLoad&) = delete;
  ClientLoad& operator=(const ClientLoad&) = delete;

  // Adds time that a context has spent on an engine.
  void add(unsigned user_class, uint64_t nanoseconds);
  // Shows the time of a context that is still on an engine. It is not added: add() follows when the context leaves.
  void show(unsigned user_class, uint64_t nanoseconds);
  // Ends the node: monitors do not see it any more. Contexts may continue.
  void leave();

 private:
  std::shared_ptr<LoadBoard> board_;
  ClientSlot* slot_;  // null: not shown
  std::array<uint64_t, kUserClasses> done_{};
};

}  // namespace halogen::driver
