// Objects of a file by handle; the lowest free number is used first, as in Linux.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace halogen::driver {

template <class T>  // a pointer type: null is free
class IdTable {
 public:
  explicit IdTable(uint32_t first) : first_(first) {}

  uint32_t add(T object) {
    if (!free_.empty()) {
      const uint32_t index = *free_.begin();
      free_.erase(free_.begin());
      objects_[index] = std::move(object);
      return index + first_;
    }
    objects_.push_back(std::move(object));
    return static_cast<uint32_t>(objects_.size() - 1) + first_;
  }
  T find(uint32_t id) const { return id >= first_ && id - first_ < objects_.size() ? objects_[id - first_] : T{}; }
  T remove(uint32_t id) {
    if (!find(id)) return T{};
    free_.insert(id - first_);
    return std::exchange(objects_[id - first_], T{});
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
  std::set<uint32_t> free_;
};

}  // namespace halogen::driver
