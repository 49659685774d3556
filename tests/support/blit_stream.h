// Random BLT commands, mostly ones that a driver may write, for tests and for the fuzzer. The caller chooses the source
// of random numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "support/blit_reference.h"

namespace halogen::blit_reference {

class RandomBlits {
 public:
  using Numbers = std::function<uint32_t()>;

  // Surfaces, patterns and mono sources lie in [base, base + bytes); at least 512 KB.
  RandomBlits(Numbers numbers, Rules rules, uint64_t base, uint64_t bytes)
      : numbers_(std::move(numbers)), rules_(rules), base_(base), bytes_(bytes) {}

  // Returns one command, preceded by a setup command if it needs one.
  std::vector<uint32_t> next();
  // The same for one opcode of chapter 8.
  std::vector<uint32_t> next(unsigned opcode);
  std::vector<uint32_t> next_fast_copy();
  // The same with a few bits or dwords of the drawing command changed, or one dword too many.
  std::vector<uint32_t> next_wild();
  Rules& rules() { return rules_; }

 private:
  struct Shape {  // shared by source and destination
    unsigned depth, pixel_B;
    int64_t width, height;
  };
  uint32_t below(uint32_t limit) { return numbers_() % limit; }
  int64_t between(int64_t low, int64_t high) { return low + below(static_cast<uint32_t>(high - low + 1)); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  uint8_t rop(bool pattern, bool source);
  Plane plane(unsigned pixel_B, bool tiled, bool y, bool negative);
  uint64_t place(uint64_t alignment, uint64_t room);
  void destination(Encoded& command, const Plane& plane, const Shape& shape);
  void color_source(Encoded& command, const Plane& destination, unsigned pixel_B);
  void mono_source(Encoded& command, const Shape& shape, bool text);
  void clip(Encoded& command);
  Encoded linear(unsigned opcode);
  Encoded setup(unsigned opcode, const Plane& plane, const Shape& shape);
  Encoded drawing(unsigned opcode, const Plane& plane, const Shape& shape);

  Numbers numbers_;
  Rules rules_;
  uint64_t base_, bytes_;
};

}  // namespace halogen::blit_reference
