#include "trace/ggtt_objects.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace halogen::trace {
namespace {

const memory::EntryFormat* last_level(const memory::PageFormats& formats, memory::WalkMode mode) {
  const memory::PageFormat* const format = formats.find(mode);
  return format == nullptr ? nullptr : &format->levels.back().table;
}

}  // namespace

GgttObjects::GgttObjects(const memory::PageFormats& formats)
    : global_(last_level(formats, memory::WalkMode::ggtt)), process_(last_level(formats, memory::WalkMode::legacy48)) {
  if (global_ != nullptr && global_->local_memory == 0) global_ = nullptr;  // one kind of memory only
}

std::vector<uint64_t> GgttObjects::note_global_entries(std::span<const std::byte> data) {
  std::vector<uint64_t> taken;
  if (global_ == nullptr) return taken;
  for (; data.size() >= global_->bytes; data = data.subspan(global_->bytes)) {
    uint64_t entry = 0;
    std::memcpy(&entry, data.data(), global_->bytes);
    if ((entry & global_->present) == 0) continue;
    const uint64_t page = global_->target(entry) / kPageBytes;
    const bool was_backing = is_backing(page);
    backing_[page] = entry;
    if (!was_backing && is_object(Pool::local, page * kPageBytes)) taken.push_back(page);
  }
  return taken;
}

bool GgttObjects::is_backing(uint64_t page) const {
  const auto entry = backing_.find(page);
  return entry != backing_.end() && (entry->second & global_->local_memory) != 0;
}

bool GgttObjects::take_write(Pool pool, uint64_t address, std::span<const std::byte> data) {
  if (global_ == nullptr || process_ == nullptr) return false;
  const Leaf here{address / kPageBytes, pool};
  if (std::ranges::find(recent_, here) != recent_.end()) {
    note_data(here, {address, data.size()});
    return false;
  }
  if (is_backing(here.page)) return true;
  note_entries(address, data);
  return false;
}

// Remembers a write that looks like page table entries: whole qwords with the present bit, less than a page.
void GgttObjects::note_entries(uint64_t address, std::span<const std::byte> data) {
  if (data.empty() || data.size() % sizeof(uint64_t) != 0 || data.size() >= kPageBytes) return;
  std::vector<Leaf> leaves;
  for (auto rest = data; !rest.empty(); rest = rest.subspan(sizeof(uint64_t))) {
    uint64_t entry = 0;
    std::memcpy(&entry, rest.data(), sizeof entry);
    if ((entry & process_->present) == 0) return;
    leaves.push_back(
        {process_->target(entry) / kPageBytes, (entry & process_->local_memory) != 0 ? Pool::local : Pool::system});
  }
  recent_ = std::move(leaves);
  recent_at_ = address;
}

bool GgttObjects::Known::has(const Piece& piece) const {
  const auto page = pages.find(piece.address / kPageBytes);
  return page != pages.end() && std::ranges::find(page->second.all, piece) != page->second.all.end();
}

void GgttObjects::Known::add(const Piece& piece) {
  Pieces& page = pages[piece.address / kPageBytes];
  if (std::ranges::find(page.all, piece) == page.all.end()) page.all[page.next++ % kMaxPieces] = piece;
}

void GgttObjects::note_data(const Leaf& leaf, const Piece& piece) {
  Known& pool = known(leaf.pool);
  pool.add(piece);
  if (recent_at_ != data_at_ && recent_at_ != data_at_ + sizeof(uint64_t)) pool.starts.insert(leaf.page);
  data_at_ = recent_at_;
}

GgttObjects::Pool GgttObjects::decide(const Piece& piece) const {
  const uint64_t page = piece.address / kPageBytes;
  const Known& system = known(Pool::system);
  const Known& local = known(Pool::local);
  if (system.has(piece) != local.has(piece)) return local.has(piece) ? Pool::local : Pool::system;
  if (last_read_) {
    const Known& same = known(last_read_->pool);
    const bool local_before = last_read_->pool == Pool::local;
    if (last_read_->page == page) {
      // Reads start at the first page of an allocation, so the same page number again belongs to another allocation.
      const bool another = !same.starts.contains(page) && (local_before ? system : local).starts.contains(page);
      return local_before != another ? Pool::local : Pool::system;
    }
    if (last_read_->page + 1 == page && !same.starts.contains(page) && same.pages.contains(page)) {
      return last_read_->pool;
    }
  }
  if (system.starts.contains(page)) return Pool::system;
  if (local.starts.contains(page)) return Pool::local;
  if (system.pages.contains(page)) return Pool::system;
  return local.pages.contains(page) || is_backing(page) ? Pool::local : Pool::system;
}

GgttObjects::Pool GgttObjects::guess_read(uint64_t address, size_t bytes) {
  last_read_ = Leaf{address / kPageBytes, decide({address, bytes})};
  return last_read_->pool;
}

}  // namespace halogen::trace
