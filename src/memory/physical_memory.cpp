#include "memory/physical_memory.h"

#include <algorithm>

#include "base/bits.h"
#include "base/check.h"
#include "memory/copy_bytes.h"

namespace halogen::memory {

std::string_view name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::ram:
      return "ram";
    case MemoryKind::data_stolen:
      return "data stolen";
    case MemoryKind::gtt_stolen:
      return "GTT stolen";
    case MemoryKind::wopcm:
      return "WOPCM";
    case MemoryKind::local:
      return "local";
  }
  return "invalid";
}

SparseFrames::SparseFrames(uint64_t frames, uint64_t limit)
    : frames_(frames), limit_(limit), leaves_((frames + low_mask(kLeafBits)) >> kLeafBits) {}

SparseFrames::~SparseFrames() = default;

std::byte* SparseFrames::frame(uint64_t number) {
  if (number >= frames_) {
    return nullptr;
  }
  Leaf& leaf = leaves_[number >> kLeafBits];
  if (!leaf) {
    if (touched_ >= limit_) {
      return nullptr;
    }
    leaf = std::make_unique<Frame[]>(size_t{1} << kLeafBits);
  }
  Frame& frame = leaf[number & low_mask(kLeafBits)];
  if (!frame) {
    if (touched_ >= limit_) {
      return nullptr;
    }
    frame = std::make_unique<std::byte[]>(kFrameBytes);
    ++touched_;
  }
  return frame.get();
}

PhysicalMemory::Watcher::Watcher(const PhysicalMemory& memory) : all_(memory.watchers_) {
  all_->push_back(this);
}

PhysicalMemory::Watcher::~Watcher() {
  std::erase(*all_, this);
}

void PhysicalMemory::tell() const {
  for (Watcher* watcher : *watchers_) {
    watcher->drop_host_addresses();
  }
}

void PhysicalMemory::add(MemoryWindow window) {
  check(window.source != nullptr, "a memory window needs a source");
  check(is_aligned(window.first, kFrameBytes) && is_aligned(window.bytes, kFrameBytes), "windows are whole frames");
  windows_.insert(windows_.begin(), window);
  tell();
}

void PhysicalMemory::remove_all(MemorySpace space) {
  std::erase_if(windows_, [space](const MemoryWindow& window) { return window.space == space; });
  tell();
}

void PhysicalMemory::revoke() {
  if (given_.exchange(false, std::memory_order_relaxed)) {
    tell();
  }
}

const MemoryWindow* PhysicalMemory::window_at(MemorySpace space, PhysAddr address) const {
  for (const MemoryWindow& window : windows_) {
    if (window.contains(space, address.value)) {
      return &window;
    }
  }
  return nullptr;
}

std::byte* PhysicalMemory::find_frame(MemorySpace space, PhysAddr address) const {
  const MemoryWindow* window = window_at(space, address);
  return window == nullptr ? nullptr : window->source->frame((address.value - window->first) >> kFrameBits);
}

DirectRange PhysicalMemory::direct_range(MemorySpace space, PhysAddr address) const {
  note_given();
  const MemoryWindow* window = window_at(space, address);
  if (window == nullptr) {
    return {};
  }
  const FrameSource::Piece piece = window->source->piece((address.value - window->first) >> kFrameBits);
  const uint64_t start = piece.first << kFrameBits;  // from the start of the window
  if (piece.bytes.empty() || start >= window->bytes) {
    return {};
  }
  uint64_t first = window->first + start;
  uint64_t bytes = std::min<uint64_t>(window->bytes - start, piece.bytes.size());
  // Newer windows precede this one in the list. None of them holds the address.
  for (const MemoryWindow* newer = windows_.data(); newer != window; ++newer) {
    if (newer->space != space || newer->bytes == 0) {
      continue;
    }
    if (newer->first > address.value) {
      bytes = std::min(bytes, newer->first - first);
    } else if (const uint64_t end = newer->first + newer->bytes; end > first) {
      bytes -= end - first;
      first = end;
    }
  }
  return {first, bytes, piece.bytes.data() + (first - window->first - start)};
}

bool PhysicalMemory::read(MemorySpace space, PhysAddr address, std::span<std::byte> into) const {
  bool whole = true;
  while (!into.empty()) {
    const uint64_t offset = address.value & (kFrameBytes - 1);
    const size_t part = std::min<uint64_t>(into.size(), kFrameBytes - offset);
    if (const std::byte* bytes = find_frame(space, address)) {
      copy_bytes(into.data(), bytes + offset, part);
    } else {
      clear_bytes(into.data(), part);
      whole = false;
    }
    into = into.subspan(part);
    address += part;
  }
  return whole;
}

bool PhysicalMemory::write(MemorySpace space, PhysAddr address, std::span<const std::byte> from) const {
  bool whole = true;
  while (!from.empty()) {
    const uint64_t offset = address.value & (kFrameBytes - 1);
    const size_t part = std::min<uint64_t>(from.size(), kFrameBytes - offset);
    if (std::byte* bytes = find_frame(space, address)) {
      copy_bytes(bytes + offset, from.data(), part);
    } else {
      whole = false;
    }
    from = from.subspan(part);
    address += part;
  }
  return whole;
}

}  // namespace halogen::memory
