// The context that the render engine executes, as counters and reports name it.
#pragma once

#include <cstdint>

namespace halogen::oa {

struct ContextTag {
  bool valid = false;
  uint64_t descriptor = 0;

  uint32_t id() const { return static_cast<uint32_t>(descriptor >> 32); }
  // Returns what names a context for as long as it exists: the place of its image.
  uint32_t image() const {
    constexpr uint32_t kImageMask = 0xffff'f000;
    return static_cast<uint32_t>(descriptor) & kImageMask;
  }
  bool operator==(const ContextTag&) const = default;
};

}  // namespace halogen::oa
