// Stream output of Gen8 and later: values of vertices go to buffers, primitive by primitive, before they are clipped.
// A primitive that does not fit into every buffer of its stream is left out whole. On Gen6 threads do it themselves.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/address_space.h"
#include "pipe3d/geometry/primitive.h"

namespace halogen::pipe3d {

inline constexpr size_t kStreams = 4;

struct StreamCounts {
  std::array<uint64_t, kStreams> written{};  // primitives
  std::array<uint64_t, kStreams> needed{};   // with enough room
};

class StreamWriter {
 public:
  // `offsets`: where the next vertex goes, in bytes of each buffer.
  void begin(const StreamOutput& state, memory::AddressSpace& space, const std::array<uint32_t, 4>& offsets);
  // One primitive. False: memory refused.
  bool write(uint8_t stream, std::span<const std::span<const Slot>> vertices);
  // Notes the offsets where the state asks for it. False: memory refused.
  bool note_offsets();

  const std::array<uint32_t, 4>& offsets() const { return offsets_; }
  const StreamCounts& counts() const { return counts_; }

 private:
  bool fits(uint8_t stream, size_t vertices) const;
  bool write_vertex(uint8_t stream, std::span<const Slot> entry);

  const StreamOutput* state_ = nullptr;
  memory::AddressSpace* space_ = nullptr;
  std::array<uint32_t, 4> offsets_{};
  StreamCounts counts_;
};

}  // namespace halogen::pipe3d
