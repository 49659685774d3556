#include "driver/gem/live_mappings.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace halogen::driver {
namespace {

constexpr uint64_t end_of(uint64_t address, uint64_t bytes) {
  const uint64_t end = address + (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  return end < address ? ~uint64_t{0} : end;
}

}  // namespace

// Returns the first piece that ends after an address.
LiveMappings::Pieces::const_iterator LiveMappings::first_at(uint64_t address) const {
  auto each = pieces_.upper_bound(address);
  if (each != pieces_.begin() && std::prev(each)->second.end > address) --each;
  return each;
}

std::vector<BufferRef> LiveMappings::add(uint64_t address, uint64_t bytes, const BufferRef& buffer) {
  std::vector<BufferRef> stale = take(address, bytes);
  const std::lock_guard lock(guard_);
  pieces_[address] = {end_of(address, bytes), buffer};
  count_ = pieces_.size();
  return stale;
}

// Allocates everything first: exhaustion of the host changes nothing.
std::vector<BufferRef> LiveMappings::take(uint64_t address, uint64_t bytes) {
  std::vector<BufferRef> kept;
  if (!any()) return kept;
  const std::lock_guard lock(guard_);
  const uint64_t end = end_of(address, bytes);
  const Pieces::const_iterator first = first_at(address);
  Pieces::const_iterator last = first;
  for (; last != pieces_.end() && last->first < end; ++last) kept.push_back(last->second.buffer);
  if (first == last) return kept;
  if (const Piece& cut = std::prev(last)->second; cut.end > end) pieces_.emplace_hint(last, end, cut);
  const auto behind = first->first < address ? std::next(first) : first;
  if (behind != first) pieces_.at(first->first).end = address;
  pieces_.erase(behind, pieces_.lower_bound(end));
  count_ = pieces_.size();
  return kept;
}

bool LiveMappings::touches(uint64_t address, uint64_t bytes) const {
  if (!any()) return false;
  const std::lock_guard lock(guard_);
  const auto each = first_at(address);
  return each != pieces_.end() && each->first < end_of(address, bytes);
}

std::vector<BufferRef> LiveMappings::buffers() const {
  const std::lock_guard lock(guard_);
  std::vector<BufferRef> all;
  all.reserve(pieces_.size());
  for (const auto& [address, piece] : pieces_) all.push_back(piece.buffer);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool LiveMappings::shows(const Buffer& buffer) const {
  if (!any()) return false;
  const std::lock_guard lock(guard_);
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [&](const auto& each) { return each.second.buffer.get() == &buffer; });
}

}  // namespace halogen::driver
