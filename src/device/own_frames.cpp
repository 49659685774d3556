#include "device/own_frames.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"

namespace halogen::device {

OwnFrames::OwnFrames(uint64_t bytes, uint64_t max_resident, std::span<std::byte> held)
    : bytes_(bytes),
      max_resident_(max_resident),
      chunk_count_((bytes + kChunkBytes - 1) / kChunkBytes),
      held_(held.size() / kChunkBytes >= chunk_count_ ? held : std::span<std::byte>{}),
      chunks_(static_cast<std::byte**>(std::calloc(std::max<uint64_t>(chunk_count_, 1), sizeof(std::byte*)))) {
  check(chunks_ != nullptr, "no address space for a table of frames");
}

OwnFrames::~OwnFrames() {
  if (!held_.empty()) return;
  for (const uint64_t number : made_) {
    delete[] chunks_[number];
  }
}

std::vector<uint64_t> OwnFrames::made() const {
  const std::lock_guard lock(guard_);
  return made_;
}

std::byte* OwnFrames::chunk(uint64_t number) {
  if (std::byte* const found = find_chunk(number)) {
    return found;
  }
  const std::lock_guard lock(guard_);
  if (std::byte* const found = find_chunk(number)) {
    return found;
  }
  if (used_.load(std::memory_order_relaxed) + kChunkBytes > max_resident_ || (permit_ && !permit_(kChunkBytes))) {
    return nullptr;
  }
  made_.push_back(number);
  std::byte* const fresh = held_.empty() ? new std::byte[kChunkBytes]{} : held_.data() + number* kChunkBytes;
  std::atomic_ref(chunks_[number]).store(fresh, std::memory_order_release);
  used_.fetch_add(kChunkBytes, std::memory_order_relaxed);
  return fresh;
}

void OwnFrames::visit(const std::function<void(uint64_t address, std::span<const std::byte>)>& see) const {
  for (const uint64_t number : made()) {
    see(number * kChunkBytes, {find_chunk(number), kChunkBytes});
  }
}

std::byte* OwnFrames::frame(uint64_t number) {
  if (number >= bytes_ >> memory::kFrameBits) {
    return nullptr;
  }
  const uint64_t address = number << memory::kFrameBits;
  std::byte* const bytes = chunk(address / kChunkBytes);
  return bytes == nullptr ? nullptr : bytes + address % kChunkBytes;
}

void OwnFrames::read(uint64_t address, std::span<std::byte> out) const {
  std::ranges::fill(out, std::byte{0});
  for (size_t done = 0; done < out.size() && address < bytes_;) {
    const uint64_t inside = address % kChunkBytes;
    const uint64_t part = std::min({uint64_t{out.size() - done}, kChunkBytes - inside, bytes_ - address});
    if (const std::byte* from = content(address / kChunkBytes)) {
      std::memcpy(out.data() + done, from + inside, part);
    }
    done += part;
    address += part;
  }
}

bool OwnFrames::write(uint64_t address, std::span<const std::byte> data) {
  bool whole = data.empty() || (address < bytes_ && data.size() <= bytes_ - address);
  for (size_t done = 0; done < data.size() && address < bytes_;) {
    const uint64_t inside = address % kChunkBytes;
    const uint64_t part = std::min({uint64_t{data.size() - done}, kChunkBytes - inside, bytes_ - address});
    if (std::byte* const into = chunk(address / kChunkBytes)) {
      std::memcpy(into + inside, data.data() + done, part);
    } else {
      whole = false;
    }
    done += part;
    address += part;
  }
  return whole;
}

void OwnFrames::clear() {
  for (const uint64_t number : made()) {
    std::memset(find_chunk(number), 0, kChunkBytes);
  }
}

SparseMemory OwnFrames::save() const {
  static constexpr std::array<std::byte, memory::kFrameBytes> kZeros{};
  SparseMemory image(bytes_);
  visit([&](uint64_t address, std::span<const std::byte> bytes) {
    for (uint64_t at = 0; at < kChunkBytes; at += memory::kFrameBytes) {
      if (std::memcmp(bytes.data() + at, kZeros.data(), memory::kFrameBytes) != 0) {
        image.write(address, bytes);
        break;
      }
    }
  });
  return image;
}

void OwnFrames::load(const SparseMemory& image) {
  check(image.size() == bytes_, "the snapshot belongs to memory of another size");
  clear();
  for (uint64_t i = 0; i < chunk_count_; ++i) {
    if (image.has_page(i)) {
      std::byte* const bytes = chunk(i);
      check(bytes != nullptr, "the snapshot holds more memory than the limit allows");
      image.read(i * kChunkBytes, {bytes, kChunkBytes});
    }
  }
}

}  // namespace halogen::device
