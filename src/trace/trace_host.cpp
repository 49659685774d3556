#include "trace/trace_host.h"

#include <algorithm>
#include <cstring>

namespace halogen::trace {

std::span<std::byte> TraceHost::map_memory(PhysAddr address, uint64_t bytes) {
  const uint64_t inside = address.value % kPageBytes;
  if (bytes > kPageBytes - inside) return {};
  auto found = pages_.find(address.value / kPageBytes);
  if (found == pages_.end()) {
    if (pages_.size() >= kMaxPages) return {};
    found = pages_.emplace(address.value / kPageBytes, std::make_unique<Page>()).first;
  }
  return std::span(found->second->bytes).subspan(inside, bytes);
}

bool TraceHost::read_memory(PhysAddr address, std::span<std::byte> out) {
  while (!out.empty()) {
    const size_t take = std::min<size_t>(out.size(), kPageBytes - address.value % kPageBytes);
    const std::span<const std::byte> from = map_memory(address, take);
    if (from.empty()) return false;
    std::memcpy(out.data(), from.data(), take);
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

}  // namespace halogen::trace
