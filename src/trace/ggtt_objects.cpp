#include "trace/ggtt_objects.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace halogen::trace {
namespace {

const EntryFormat* last_level(const PageFormats& formats, WalkMode mode) {
  const PageFormat* const format = formats.find(mode);
  return format == nullptr ? nullptr : &format->levels.back().table;
}

}  // namespace

GgttObjects::GgttObjects(const PageFormats& formats)
    : global_(last_level(formats, WalkMode::ggtt)), process_(last_level(formats, WalkMode::legacy48)) {}

void GgttObjects::note_global_entries(std::span<const std::byte> data) {
  if (global_ == nullptr) return;
  for (; data.size() >= global_->bytes; data = data.subspan(global_->bytes)) {
    uint64_t entry = 0;
    std::memcpy(&entry, data.data(), global_->bytes);
    if ((entry & global_->present) != 0) backing_[global_->target(entry) / kPageBytes] = entry;
  }
}

bool GgttObjects::is_object(uint64_t address) const {
  const auto entry = backing_.find(address / kPageBytes);
  if (entry == backing_.end() || (entry->second & global_->local_memory) == 0) return false;
  return std::ranges::find(recent_, address / kPageBytes) == recent_.end();
}

bool GgttObjects::take_local_write(uint64_t address, std::span<const std::byte> data) {
  if (is_object(address)) return true;
  // Remember what looks like page table entries: whole qwords with the present bit, less than a page of them.
  if (process_ == nullptr || data.size() % sizeof(uint64_t) != 0 || data.size() >= kPageBytes) return false;
  std::vector<uint64_t> pages;
  for (auto rest = data; !rest.empty(); rest = rest.subspan(sizeof(uint64_t))) {
    uint64_t entry = 0;
    std::memcpy(&entry, rest.data(), sizeof entry);
    if ((entry & process_->present) == 0) return false;
    pages.push_back(process_->target(entry) / kPageBytes);
  }
  recent_ = std::move(pages);
  return false;
}

}  // namespace halogen::trace
