#include "support/test_host.h"

#include <algorithm>
#include <cstring>

namespace halogen {

TestHost::Page* TestHost::page_of(uint64_t address) {
  if (address >= top) return nullptr;
  const uint64_t number = address / kPageBytes;
  Recent& recent = recent_[number % recent_.size()];
  if (recent.number == number) return recent.page;
  std::unique_ptr<Page>& page = pages[number];
  if (!page) page = std::make_unique<Page>();
  recent = {number, page.get()};
  return page.get();
}

bool TestHost::read_memory(PhysAddr address, std::span<std::byte> out) {
  for (uint64_t at = address.value; !out.empty();) {
    const Page* page = page_of(at);
    if (page == nullptr) return false;
    const uint64_t inside = at % kPageBytes;
    const size_t bytes = std::min<size_t>(out.size(), kPageBytes - inside);
    std::memcpy(out.data(), page->data() + inside, bytes);
    out = out.subspan(bytes);
    at += bytes;
  }
  return true;
}

bool TestHost::write_memory(PhysAddr address, std::span<const std::byte> data) {
  for (uint64_t at = address.value; !data.empty();) {
    Page* page = page_of(at);
    if (page == nullptr) return false;
    const uint64_t inside = at % kPageBytes;
    const size_t bytes = std::min<size_t>(data.size(), kPageBytes - inside);
    std::memcpy(page->data() + inside, data.data(), bytes);
    data = data.subspan(bytes);
    at += bytes;
  }
  return true;
}

std::span<std::byte> TestHost::map_memory(PhysAddr address, uint64_t bytes) {
  const uint64_t inside = address.value % kPageBytes;
  if (bytes > kPageBytes - inside) return {};
  Page* page = page_of(address.value);
  if (page == nullptr) return {};
  return std::span(*page).subspan(inside, bytes);
}

}  // namespace halogen
