#include "driver/perf/client_load.h"

namespace halogen::driver {

void ClientLoad::add(unsigned user_class, uint64_t nanoseconds) {
  if (user_class >= kUserClasses) return;
  done_[user_class] += nanoseconds;
  show(user_class, 0);
}

// Adds to the time that monitors see. A time that was shown never decreases.
void ClientLoad::show(unsigned user_class, uint64_t nanoseconds) {
  if (slot_ == nullptr || user_class >= kUserClasses) return;
  const uint64_t shown = done_[user_class] + nanoseconds;
  if (shown > slot_->busy[user_class]) slot_->busy[user_class] = shown;
}

void ClientLoad::leave() {
  ClientSlot* const slot = std::exchange(slot_, nullptr);
  if (slot == nullptr) return;
  slot->id = 0;
  slot->device = slot->inode = 0;
  slot->process = 0;
}

}  // namespace halogen::driver
