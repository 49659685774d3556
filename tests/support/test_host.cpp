#include "support/test_host.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace halogen {

TestHost::Page* TestHost::page_of(uint64_t address) {
  if (address >= top) return nullptr;
  const uint64_t number = address / kPageBytes;
  Recent& recent = recent_[number % recent_.size()];
  if (recent.number == number) return recent.page;
  if (!taken_back_.empty() && taken_back_.contains(number)) return nullptr;
  std::unique_ptr<Page>& page = pages[number];
  if (!page) page = std::make_unique<Page>();
  recent = {number, page.get()};
  return page.get();
}

TestHost::~TestHost() {
  for (const auto& [number, page] : taken_back_) {
    if (page) mprotect(page.get(), kPageBytes, PROT_READ | PROT_WRITE);
  }
}

void TestHost::take_back(device::Device& device, uint64_t first, uint64_t bytes) {
  recent_.fill({});
  std::vector<Page*> gone;
  for (uint64_t number = first / kPageBytes; number < (first + bytes + kPageBytes - 1) / kPageBytes; ++number) {
    auto moved = pages.extract(number);
    if (!moved.empty()) gone.push_back(moved.mapped().get());
    taken_back_[number] = moved.empty() ? nullptr : std::move(moved.mapped());
  }
  device.revoke_memory();
  for (Page* const page : gone) EXPECT_EQ(mprotect(page, kPageBytes, PROT_NONE), 0);
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
