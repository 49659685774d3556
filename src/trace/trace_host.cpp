#include "trace/trace_host.h"

#include <algorithm>
#include <cstring>

namespace halogen::trace {

TraceHost::Page* TraceHost::find(uint64_t number) const {
  const auto found = pages_.find(number);
  return found == pages_.end() ? nullptr : found->second.get();
}

std::span<std::byte> TraceHost::map_memory(PhysAddr address, uint64_t bytes) {
  const uint64_t inside = address.value % kPageBytes;
  if (bytes > kPageBytes - inside) return {};
  Page* page = find(address.value / kPageBytes);
  if (page == nullptr) {
    if (!budget_->take()) return {};
    page = pages_.emplace(address.value / kPageBytes, std::make_unique<Page>()).first->second.get();
  }
  return std::span(page->bytes).subspan(inside, bytes);
}

bool TraceHost::read_memory(PhysAddr address, std::span<std::byte> out) {
  while (!out.empty()) {
    const uint64_t inside = address.value % kPageBytes;
    const size_t take = std::min<size_t>(out.size(), kPageBytes - inside);
    if (const Page* const page = find(address.value / kPageBytes)) {
      std::memcpy(out.data(), page->bytes.data() + inside, take);
    } else {
      std::memset(out.data(), 0, take);
    }
    out = out.subspan(take);
    address += take;
  }
  return true;
}

bool TraceHost::write_memory(PhysAddr address, std::span<const std::byte> data) {
  while (!data.empty()) {
    const size_t take = std::min<size_t>(data.size(), kPageBytes - address.value % kPageBytes);
    const std::span<std::byte> into = map_memory(address, take);
    if (into.empty()) return false;
    std::memcpy(into.data(), data.data(), take);
    data = data.subspan(take);
    address += take;
  }
  return true;
}

void TraceHost::visit(const std::function<void(uint64_t address, std::span<const std::byte>)>& see) const {
  for (const auto& [number, page] : pages_) see(number * kPageBytes, page->bytes);
}

}  // namespace halogen::trace
