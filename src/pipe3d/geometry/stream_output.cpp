#include "pipe3d/geometry/stream_output.h"

#include "message/environment.h"

namespace halogen::pipe3d {

void StreamWriter::begin(const StreamOutput& state, memory::AddressSpace& space,
                         const std::array<uint32_t, 4>& offsets) {
  state_ = &state;
  space_ = &space;
  offsets_ = offsets;
  counts_ = {};
}

bool StreamWriter::fits(uint8_t stream, size_t vertices) const {
  for (size_t i = 0; i < state_->buffers.size(); ++i) {
    const StreamOutput::Buffer& buffer = state_->buffers[i];
    const bool used = (state_->used_buffers[stream] >> i & 1) != 0;
    if (used && buffer.enabled && offsets_[i] + uint64_t{buffer.pitch} * vertices > buffer.bytes) {
      return false;
    }
  }
  return true;
}

// Writes the components of a vertex. A run of components is one access; holes keep the memory's value.
bool StreamWriter::write_vertex(uint8_t stream, std::span<const Slot> entry) {
  bool done = true;
  std::array<uint64_t, 4> at{};  // offset in the vertex, by buffer
  for (const StreamOutput::Entry& element : state_->entries[stream]) {
    const StreamOutput::Buffer& buffer = state_->buffers[element.buffer];
    const size_t slot = size_t{state_->read_offset[stream]} * 2 + element.slot;
    std::array<uint32_t, 4> values{};
    size_t count = 0;
    for (size_t c = 0; c < 4; ++c) {
      if ((element.mask >> c & 1) != 0) {
        values[count++] = slot < entry.size() ? entry[slot][c] : 0;
      }
    }
    const uint64_t offset = offsets_[element.buffer] + at[element.buffer];
    const uint64_t bytes = count * sizeof(uint32_t);
    if (!element.hole && buffer.enabled && count != 0 && offset + bytes <= buffer.bytes) {
      const auto from = std::as_bytes(std::span(values).first(count));
      done = ok(space_->write(wrapped_address(buffer.address + offset), from)) && done;
    }
    at[element.buffer] += bytes;
  }
  for (size_t i = 0; i < state_->buffers.size(); ++i) {
    if ((state_->used_buffers[stream] >> i & 1) != 0 && state_->buffers[i].enabled) {
      offsets_[i] += state_->buffers[i].pitch;
    }
  }
  return done;
}

bool StreamWriter::write(uint8_t stream, std::span<const std::span<const Slot>> vertices) {
  ++counts_.needed[stream];
  if (!fits(stream, vertices.size())) {
    return true;
  }
  ++counts_.written[stream];
  bool done = true;
  for (const std::span<const Slot> entry : vertices) {
    done = write_vertex(stream, entry) && done;
  }
  return done;
}

bool StreamWriter::note_offsets() {
  bool done = true;
  for (size_t i = 0; i < state_->buffers.size(); ++i) {
    const StreamOutput::Buffer& buffer = state_->buffers[i];
    if (buffer.enabled && buffer.offset_address != 0) {
      const auto from = std::as_bytes(std::span(&offsets_[i], 1));
      done = ok(space_->write(wrapped_address(buffer.offset_address), from)) && done;
    }
  }
  return done;
}

}  // namespace halogen::pipe3d
