#include "display/display_memory.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"

namespace halogen::display {

namespace {

constexpr unsigned kAddressBits = 32;

}  // namespace

const std::byte* DisplayReader::page(uint64_t number) {
  if (number == last_) {
    return last_page_;
  }
  const auto [found, added] = pages_.try_emplace(number, nullptr);
  if (added) {
    const memory::AddressSpace::View view = space_.view(GpuVa{number << memory::kFrameBits}, {});
    found->second = view.bytes.size() == memory::kFrameBytes ? view.bytes.data() : nullptr;
    missing_ += found->second == nullptr && !view.null ? 1u : 0u;
  }
  last_ = number;
  last_page_ = found->second;
  return last_page_;
}

void DisplayReader::read(uint64_t address, std::span<std::byte> into) {
  while (!into.empty()) {
    address &= low_mask(kAddressBits);
    const uint64_t offset = address % memory::kFrameBytes;
    const size_t bytes = std::min<size_t>(into.size(), memory::kFrameBytes - offset);
    if (const std::byte* const from = page(address >> memory::kFrameBits)) {
      std::memcpy(into.data(), from + offset, bytes);
    } else {
      std::memset(into.data(), 0, bytes);
    }
    into = into.subspan(bytes);
    address += bytes;
  }
}

}  // namespace halogen::display
