#include "engine/stream/command_stream.h"

#include <algorithm>

namespace halogen::engine {
namespace {

// Returns the number of readable dwords from `address` on: up to the level's end, or up to the end of the ring.
size_t dwords_before_border(const StreamLevel& level, GpuVa address) {
  uint64_t border = level.wrap_at.value;
  if (level.end.value >= address.value) border = std::min(border, level.end.value);
  return border > address.value ? (border - address.value) / sizeof(uint32_t) : 0;
}

std::span<const uint32_t> clip(std::span<const uint32_t> dwords, size_t limit) {
  return dwords.first(std::min(dwords.size(), limit));
}

}  // namespace

bool CommandStream::open_window() {
  const StreamLevel& here = level();
  if (here.address == here.end) return false;
  window_ = clip(memory_->dwords_at(here.space, here.address), dwords_before_border(here, here.address));
  return !window_.empty();
}

std::span<const uint32_t> CommandStream::gather(uint32_t header, uint32_t total) {
  const StreamLevel& here = level();
  scratch_.assign(window_.begin(), window_.end());
  scratch_[0] = header;  // memory may have changed since the header was read
  GpuVa address = here.address;
  std::span<const uint32_t> piece = window_;
  while (scratch_.size() < total) {
    address += piece.size_bytes();
    if (address == here.wrap_at) address = here.wrap_to;
    if (address == here.end) break;
    piece = clip(memory_->dwords_at(here.space, address), dwords_before_border(here, address));
    piece = clip(piece, total - scratch_.size());
    if (piece.empty()) break;
    scratch_.insert(scratch_.end(), piece.begin(), piece.end());
  }
  return scratch_;
}

bool CommandStream::follow(const Next& next, StreamStop& reason) {
  switch (next.action) {
    case Next::Action::advance:
      return true;
    case Next::Action::stop:
      reason = StreamStop::stopped;
      return false;
    case Next::Action::hold:
      reason = StreamStop::held;
      return false;
    case Next::Action::leave:
      window_ = {};
      if (state_.depth == 0) {
        reason = StreamStop::left;
        return false;
      }
      --state_.depth;
      return true;
    case Next::Action::call:
      if (state_.depth + 1u == StreamState::kMaxLevels) {
        reason = StreamStop::too_deep;
        return false;
      }
      ++state_.depth;
      break;
    case Next::Action::jump:
      break;
  }
  window_ = {};
  level() = StreamLevel{.space = next.space, .address = next.address, .end = next.end};
  return true;
}

}  // namespace halogen::engine
