#include "device/own_frames.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"

namespace halogen {

OwnFrames::OwnFrames(uint64_t bytes)
    : bytes_(bytes),
      chunk_count_((bytes + kChunkBytes - 1) / kChunkBytes),
      chunks_(std::make_unique<std::atomic<std::byte*>[]>(chunk_count_)) {}

OwnFrames::~OwnFrames() {
  for (uint64_t i = 0; i < chunk_count_; ++i) {
    delete[] chunks_[i].load(std::memory_order_relaxed);
  }
}

std::byte* OwnFrames::chunk(uint64_t number) {
  std::atomic<std::byte*>& place = chunks_[number];
  std::byte* found = place.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto fresh = std::make_unique<std::byte[]>(kChunkBytes);
    if (place.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel)) {
      found = fresh.release();
    }
  }
  return found;
}

std::byte* OwnFrames::frame(uint64_t number) {
  if (number >= bytes_ >> kFrameBits) {
    return nullptr;
  }
  const uint64_t address = number << kFrameBits;
  return chunk(address / kChunkBytes) + address % kChunkBytes;
}

void OwnFrames::read(uint64_t address, std::span<std::byte> out) const {
  std::ranges::fill(out, std::byte{0});
  for (size_t done = 0; done < out.size() && address < bytes_;) {
    const uint64_t inside = address % kChunkBytes;
    const uint64_t part = std::min({uint64_t{out.size() - done}, kChunkBytes - inside, bytes_ - address});
    if (const std::byte* from = find_chunk(address / kChunkBytes)) {
      std::memcpy(out.data() + done, from + inside, part);
    }
    done += part;
    address += part;
  }
}

void OwnFrames::write(uint64_t address, std::span<const std::byte> data) {
  for (size_t done = 0; done < data.size() && address < bytes_;) {
    const uint64_t inside = address % kChunkBytes;
    const uint64_t part = std::min({uint64_t{data.size() - done}, kChunkBytes - inside, bytes_ - address});
    std::memcpy(chunk(address / kChunkBytes) + inside, data.data() + done, part);
    done += part;
    address += part;
  }
}

uint64_t OwnFrames::resident_bytes() const {
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < chunk_count_; ++i) {
    bytes += find_chunk(i) != nullptr ? kChunkBytes : 0;
  }
  return bytes;
}

void OwnFrames::clear() {
  for (uint64_t i = 0; i < chunk_count_; ++i) {
    if (std::byte* bytes = chunks_[i].load(std::memory_order_acquire)) {
      std::memset(bytes, 0, kChunkBytes);
    }
  }
}

SparseMemory OwnFrames::save() const {
  static constexpr std::array<std::byte, kFrameBytes> kZeros{};
  SparseMemory image(bytes_);
  for (uint64_t i = 0; i < chunk_count_; ++i) {
    const std::byte* bytes = find_chunk(i);
    for (uint64_t at = 0; bytes != nullptr && at < kChunkBytes; at += kFrameBytes) {
      if (std::memcmp(bytes + at, kZeros.data(), kFrameBytes) != 0) {
        image.write(i * kChunkBytes, {bytes, kChunkBytes});
        break;
      }
    }
  }
  return image;
}

void OwnFrames::load(const SparseMemory& image) {
  check(image.size() == bytes_, "an image of other memory");
  for (uint64_t i = 0; i < chunk_count_; ++i) {
    if (image.has_page(i)) {
      image.read(i * kChunkBytes, {chunk(i), kChunkBytes});
    } else if (std::byte* bytes = chunks_[i].load(std::memory_order_acquire)) {
      std::memset(bytes, 0, kChunkBytes);
    }
  }
}

}  // namespace halogen
