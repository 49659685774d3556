#include "pipe3d/geometry/primitive_list.h"

#include <algorithm>
#include <unordered_map>

namespace halogen::pipe3d {

void PrimitiveList::begin(uint32_t slots) {
  slots_ = slots;
  primitives_.clear();
  pool_.forget();
}

const Slot* PrimitiveList::keep(std::span<const Slot> entry) {
  Slot* const copy = pool_.take(std::max(slots_, static_cast<uint32_t>(entry.size())));
  Slot* const end = std::ranges::copy(entry, copy).out;
  std::fill(end, std::max(end, copy + slots_), Slot{});
  return copy;
}

PrimitiveList PrimitiveList::settled() const {
  PrimitiveList list;
  list.slots_ = slots_;
  list.primitives_ = primitives_;
  std::unordered_map<const Slot*, const Slot*> copies;
  const auto move = [&](const Slot*& entry) {
    if (entry == nullptr) {
      return;
    }
    const auto [at, fresh] = copies.try_emplace(entry, nullptr);
    if (fresh) {
      at->second = list.keep({entry, slots_});
    }
    entry = at->second;
  };
  for (ScreenPrimitive& primitive : list.primitives_) {
    for (ScreenVertex& vertex : primitive.vertex) {
      move(vertex.slots);
    }
    for (const Slot*& entry : primitive.whole) {
      move(entry);
    }
    move(primitive.flat);
  }
  return list;
}

}  // namespace halogen::pipe3d
