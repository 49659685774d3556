// Objects of a file by handle; the lowest free number is used first, as in Linux. Removing needs no memory of the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace halogen::driver {

template <class T>  // a pointer type: null is free
class IdTable {
 public:
  explicit IdTable(uint32_t first) : first_(first) {}

  uint32_t add(T object) {
    if (!free_.empty()) {
      std::pop_heap(free_.begin(), free_.end(), std::greater());
      const uint32_t index = free_.back();
      free_.pop_back();
      objects_[index] = std::move(object);
      return index + first_;
    }
    if (free_.capacity() <= objects_.size()) free_.reserve(2 * objects_.size() + 8);
    objects_.push_back(std::move(object));
    return static_cast<uint32_t>(objects_.size() - 1) + first_;
  }
  T find(uint32_t id) const { return id >= first_ && id - first_ < objects_.size() ? objects_[id - first_] : T{}; }
  T remove(uint32_t id) {
    if (!find(id)) return T{};
    free_.push_back(id - first_);
    std::push_heap(free_.begin(), free_.end(), std::greater());
    return std::exchange(objects_[id - first_], T{});
  }
  void clear() {
    objects_.clear();
    free_.clear();
  }
  template <class Function>
  void for_each(const Function& function) const {
    for (const T& each : objects_) {
      if (each) function(*each);
    }
  }

 private:
  uint32_t first_;
  std::vector<T> objects_;
  std::vector<uint32_t> free_;  // a heap: the lowest first; has room for all
};

}  // namespace halogen::driver
