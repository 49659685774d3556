// Stream output of Gen8 and later: writes values of vertices to buffers, primitive by primitive, before clipping. A
// primitive that does not fit into every buffer of its stream is omitted as a whole. On Gen6 threads write streams
// themselves.
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
  std::array<uint64_t, kStreams> written{};  // primitives written
  std::array<uint64_t, kStreams> needed{};   // primitives that would have been written with enough space
};

class StreamWriter {
 public:
  // Starts a draw. `offsets`: byte offset of the next vertex in each buffer.
  void begin(const StreamOutput& state, memory::AddressSpace& space, const std::array<uint32_t, 4>& offsets);
  // Writes one primitive. False: stopped by a fault.
  bool write(uint8_t stream, std::span<const std::span<const Slot>> vertices);
  // Stores the offsets to memory if the state requests it. False: stopped by a fault.
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
