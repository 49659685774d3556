// A file descriptor that is closed at the end of its life.
#pragma once

#include <unistd.h>

#include <utility>

namespace halogen {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  // Gives the descriptor to the caller.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

}  // namespace halogen
