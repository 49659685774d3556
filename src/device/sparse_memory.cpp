#include "device/sparse_memory.h"

#include <algorithm>
#include <cstring>

namespace halogen::device {

SparseMemory::SparseMemory(uint64_t bytes) : bytes_(bytes), pages_((bytes + kPageBytes - 1) / kPageBytes) {}

void SparseMemory::read(uint64_t address, std::span<std::byte> out) const {
  while (!out.empty()) {
    if (address >= bytes_) {
      std::ranges::fill(out, std::byte{0});
      return;
    }
    const uint64_t in_page = address % kPageBytes;
    const uint64_t take = std::min({uint64_t{out.size()}, kPageBytes - in_page, bytes_ - address});
    if (const auto& page = pages_[address / kPageBytes]) {
      std::memcpy(out.data(), page->data() + in_page, take);
    } else {
      std::memset(out.data(), 0, take);
    }
    out = out.subspan(take);
    address += take;
  }
}

void SparseMemory::write(uint64_t address, std::span<const std::byte> data) {
  while (!data.empty() && address < bytes_) {
    const uint64_t in_page = address % kPageBytes;
    const uint64_t take = std::min({uint64_t{data.size()}, kPageBytes - in_page, bytes_ - address});
    auto& page = pages_[address / kPageBytes];
    if (!page) {
      page = std::make_shared<Page>();
    } else if (page.use_count() > 1) {
      page = std::make_shared<Page>(*page);
    }
    std::memcpy(page->data() + in_page, data.data(), take);
    data = data.subspan(take);
    address += take;
  }
}

void SparseMemory::clear() {
  std::ranges::fill(pages_, nullptr);
}

uint64_t SparseMemory::resident_bytes() const {
  return kPageBytes *
         static_cast<uint64_t>(std::ranges::count_if(pages_, [](const auto& page) { return page != nullptr; }));
}

bool SparseMemory::operator==(const SparseMemory& other) const {
  if (bytes_ != other.bytes_) {
    return false;
  }
  static constexpr Page kZero{};
  for (size_t i = 0; i < pages_.size(); ++i) {
    if (pages_[i] != other.pages_[i]) {
      const Page& a = pages_[i] ? *pages_[i] : kZero;
      const Page& b = other.pages_[i] ? *other.pages_[i] : kZero;
      if (std::memcmp(a.data(), b.data(), a.size()) != 0) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace halogen::device
