// A map from page numbers to values, for work that touches some hundred pages and then starts again with an empty map:
// a look-up takes a step or two, clear() is one store. References stay valid until clear().
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace halogen::memory {

template <class T>
class PageMap {
 public:
  size_t size() const { return used_; }
  // Values in the order of their insertion.
  T& operator[](size_t index) { return things_[index]; }
  const T& operator[](size_t index) const { return things_[index]; }

  T* find(uint64_t page) {
    for (size_t slot = home(page);; slot = (slot + 1) & (slots_.size() - 1)) {
      const Slot& at = slots_[slot];
      if (at.round != round_) {
        return nullptr;
      }
      if (at.page == page) {
        return &things_[at.index];
      }
    }
  }
  // Adds a page that is not in the map. The caller initialises the value, because it may hold that of an earlier use.
  T& add(uint64_t page) {
    if (used_ * 2 >= slots_.size()) {
      grow();
    }
    if (used_ == things_.size()) {
      things_.emplace_back();
      pages_.emplace_back();
    }
    pages_[used_] = page;
    put(page, static_cast<uint32_t>(used_));
    return things_[used_++];
  }
  void clear() {
    used_ = 0;
    if (++round_ == 0) {
      slots_.assign(slots_.size(), {});
      round_ = 1;
    }
  }

 private:
  struct Slot {
    uint64_t page = 0;
    uint32_t index = 0;
    uint32_t round = 0;  // of its insertion; a slot of an earlier round is empty
  };

  size_t home(uint64_t page) const { return (page * 0x9e37'79b9'7f4a'7c15u >> 32) & (slots_.size() - 1); }
  void put(uint64_t page, uint32_t index) {
    size_t slot = home(page);
    while (slots_[slot].round == round_) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = {page, index, round_};
  }
  void grow() {
    slots_.assign(slots_.size() * 2, {});
    for (uint32_t index = 0; index < used_; ++index) {
      put(pages_[index], index);
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::deque<T> things_;
  std::vector<uint64_t> pages_;
  size_t used_ = 0;
  uint32_t round_ = 1;
};

}  // namespace halogen::memory
