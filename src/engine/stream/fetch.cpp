#include "engine/stream/fetch.h"

#include <algorithm>

#include "engine/stream/preparser.h"

namespace halogen::engine {
namespace {

constexpr std::array<uint32_t, 1024> kZeros{};
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kDwordMask = ~uint64_t{3};

}  // namespace

Fetch::Page Fetch::page_at(StreamSpace space, GpuVa address) {
  if (space == StreamSpace::physical) {
    return {services_.physical_page(PhysAddr{address.value})};
  }
  const bool global = space == StreamSpace::ggtt;
  memory::AddressSpace& memory = services_.space(global ? memory::Stream::ring : memory::Stream::batch,
                                                 global ? memory::TableKind::global : memory::TableKind::per_process);
  const memory::AddressSpace::View view = memory.view(address, memory::kRead);
  return {view.bytes, view.result};
}

std::span<const uint32_t> Fetch::dwords_at(StreamSpace space, GpuVa address) {
  const GpuVa aligned{address.value & kDwordMask};
  if (prefetch_lines_ != 0 && preparser_ != nullptr) {
    if (const std::span<const uint32_t> ahead = preparser_->take(space, aligned); !ahead.empty()) {
      result_ = memory::AccessResult::ok;
      return ahead;
    }
  }
  const auto [bytes, result] = page_at(space, aligned);
  result_ = result;
  if (bytes.size() < sizeof(uint32_t)) {
    const size_t left = (kPageBytes - aligned.value % kPageBytes) / sizeof(uint32_t);
    return !ok(result) || stops_at_holes_ ? std::span<const uint32_t>{} : std::span(kZeros).first(left);
  }
  // Pages are aligned, so the dwords are too.
  std::span<const uint32_t> dwords(reinterpret_cast<const uint32_t*>(bytes.data()), bytes.size() / sizeof(uint32_t));
  if (prefetch_lines_ == 0) {
    return dwords;
  }
  const size_t into_line = aligned.value / sizeof(uint32_t) % kLineDwords;
  const size_t ahead = size_t{kLineDwords} * std::min(prefetch_lines_, kMaxPrefetchLines) - into_line;
  dwords = dwords.first(std::min(dwords.size(), ahead));
  std::ranges::copy(dwords, prefetched_.begin());
  dwords = std::span(prefetched_).first(dwords.size());
  if (preparser_ != nullptr) {
    preparser_->follow(space, aligned, dwords, std::min(prefetch_lines_, kMaxPrefetchLines));
  }
  return dwords;
}

void Fetch::read_ahead(StreamSpace space, GpuVa address) {
  if (prefetch_lines_ == 0 || !stops_at_holes_ || space == StreamSpace::physical) {
    return;
  }
  constexpr uint64_t kLineBytes = kLineDwords * sizeof(uint32_t);
  const uint64_t last =
      (address.value / kLineBytes + std::min(prefetch_lines_, kMaxPrefetchLines)) * kLineBytes - sizeof(uint32_t);
  if (last / kPageBytes != address.value / kPageBytes) {
    static_cast<void>(page_at(space, GpuVa{last}));
  }
}

}  // namespace halogen::engine
