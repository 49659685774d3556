// Who a command is for: bits 31:29 of its header.
#pragma once

#include <cstdint>

namespace halogen::engine {

inline constexpr uint32_t kMiClient = 0;
inline constexpr uint32_t kBlitClient = 2;
inline constexpr uint32_t kRenderClient = 3;

constexpr uint32_t client_of(uint32_t header) {
  return header >> 29;
}

}  // namespace halogen::engine
