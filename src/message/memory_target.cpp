#include "message/memory_target.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace halogen::message {
namespace {

using memory::AccessResult;

constexpr unsigned kMaxBytes = 16;

template <class Do>
void for_each_lane(uint32_t lanes, Do&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) {
    visit(static_cast<unsigned>(std::countr_zero(lanes)));
  }
}

}  // namespace

// Counts bytes that are inside the bounds.
void MemoryTarget::touch(uint64_t offset, uint64_t bytes, Use use) const {
  if (space_ != nullptr) {
    touched_->lines.add(wrapped_address(base_ + offset).value, bytes);
    return;
  }
  touched_->local_read_B += use != Use::write ? static_cast<uint32_t>(bytes) : 0;
  touched_->local_written_B += use != Use::read ? static_cast<uint32_t>(bytes) : 0;
}

void MemoryTarget::touch_lanes(uint32_t lanes, const std::array<uint64_t, kLanes>& offsets, unsigned bytes,
                               Use use) const {
  for_each_lane(lanes, [&](unsigned lane) {
    if (inside(offsets[lane], bytes)) {
      touch(offsets[lane], bytes, use);
    }
  });
}

memory::AccessResult MemoryTarget::read_lanes(uint32_t lanes, const std::array<uint64_t, kLanes>& offsets,
                                              unsigned bytes, std::byte* into) const {
  lanes &= (1u << kLanes) - 1;
  if (touched_ != nullptr) [[unlikely]] {
    touch_lanes(lanes, offsets, bytes, Use::read);
  }
  if (space_ == nullptr) {
    for_each_lane(lanes, [&](unsigned lane) {
      if (inside(offsets[lane], bytes)) {
        std::memcpy(into + lane * bytes, local_.data() + offsets[lane], bytes);
      } else {
        std::memset(into + lane * bytes, 0, bytes);
      }
    });
    return AccessResult::ok;
  }
  std::array<GpuVa, kLanes> addresses;
  std::array<uint8_t, kLanes> owners;
  size_t count = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    if (inside(offsets[lane], bytes)) {
      owners[count] = static_cast<uint8_t>(lane);
      addresses[count++] = wrapped_address(base_ + offsets[lane]);
    } else {
      std::memset(into + lane * bytes, 0, bytes);
    }
  });
  alignas(64) std::array<std::byte, kLanes * kMaxBytes> data{};
  const AccessResult result = space_->read_each(std::span(addresses).first(count), bytes, data.data());
  if (!ok(result)) {
    return result;
  }
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(into + owners[i] * bytes, data.data() + i * bytes, bytes);
  }
  return AccessResult::ok;
}

memory::AccessResult MemoryTarget::write_lanes(uint32_t lanes, const std::array<uint64_t, kLanes>& offsets,
                                               unsigned bytes, const std::byte* from) const {
  lanes &= (1u << kLanes) - 1;
  if (touched_ != nullptr) [[unlikely]] {
    touch_lanes(lanes, offsets, bytes, Use::write);
  }
  if (space_ == nullptr) {
    for_each_lane(lanes, [&](unsigned lane) {
      if (inside(offsets[lane], bytes)) {
        std::memcpy(local_.data() + offsets[lane], from + lane * bytes, bytes);
      }
    });
    return AccessResult::ok;
  }
  std::array<GpuVa, kLanes> addresses;
  alignas(64) std::array<std::byte, kLanes * kMaxBytes> data{};
  size_t count = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    if (inside(offsets[lane], bytes)) {
      std::memcpy(data.data() + count * bytes, from + lane * bytes, bytes);
      addresses[count++] = wrapped_address(base_ + offsets[lane]);
    }
  });
  return space_->write_each(std::span(addresses).first(count), bytes, data.data());
}

memory::AccessResult MemoryTarget::read(uint64_t offset, std::span<std::byte> into) const {
  const uint64_t there = bytes_inside(offset, into.size());
  if (touched_ != nullptr && there != 0) [[unlikely]] {
    touch(offset, there, Use::read);
  }
  if (limit_ == kNoLimit) {
    return space_->read(wrapped_address(base_ + offset), into);
  }
  std::fill(into.begin() + static_cast<std::ptrdiff_t>(there), into.end(), std::byte{0});
  if (there == 0) {
    return AccessResult::ok;
  }
  if (space_ == nullptr) {
    std::memcpy(into.data(), local_.data() + offset, there);
    return AccessResult::ok;
  }
  return space_->read(wrapped_address(base_ + offset), into.first(there));
}

memory::AccessResult MemoryTarget::write(uint64_t offset, std::span<const std::byte> from) const {
  const uint64_t there = bytes_inside(offset, from.size());
  if (touched_ != nullptr && there != 0) [[unlikely]] {
    touch(offset, there, Use::write);
  }
  if (limit_ == kNoLimit) {
    return space_->write(wrapped_address(base_ + offset), from);
  }
  if (there == 0) {
    return AccessResult::ok;
  }
  if (space_ == nullptr) {
    std::memcpy(local_.data() + offset, from.data(), there);
    return AccessResult::ok;
  }
  return space_->write(wrapped_address(base_ + offset), from.first(there));
}

MemoryTarget::Spot MemoryTarget::spot(uint64_t offset, unsigned bytes) const {
  if (space_ == nullptr) {
    offset &= ~uint64_t{bytes - 1};
    if (!inside(offset, bytes)) {
      return {};
    }
    if (touched_ != nullptr) {
      touch(offset, bytes, Use::both);
    }
    return {local_.data() + offset, AccessResult::ok};
  }
  offset &= ~uint64_t{bytes - 1};
  const uint64_t address = base_ + offset;
  // An operation must be naturally aligned. A misaligned surface has no such address.
  if (!inside(offset, bytes) || (address & (bytes - 1)) != 0) {
    return {};
  }
  if (touched_ != nullptr) {
    touch(offset, bytes, Use::both);
  }
  const memory::AddressSpace::View view = space_->view(wrapped_address(address), memory::kWrite);
  return {view.bytes.size() >= bytes ? view.bytes.data() : nullptr, view.result};
}

}  // namespace halogen::message
