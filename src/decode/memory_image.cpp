#include "decode/memory_image.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"

namespace halogen::decode {
namespace {

constexpr unsigned kAddressBits = 48;
constexpr std::array<uint32_t, 1024> kZeros{};

// Bits of a page table entry that all 64-bit formats share.
constexpr uint64_t kPresent = 1u << 0;
constexpr uint64_t kGgttLocal = 1u << 1;
constexpr uint64_t kPageSize = 1u << 7;
constexpr uint64_t kLeafLocal = 1u << 11;
constexpr uint64_t page_of(uint64_t entry) {
  return bits(entry, 47, 12);
}

}  // namespace

size_t MemoryImage::read(engine::StreamSpace space, GpuVa address, std::span<uint32_t> out) {
  size_t done = 0;
  while (done < out.size()) {
    const auto run = dwords_at(space, address + done * sizeof(uint32_t));
    if (run.empty()) break;
    const size_t take = std::min(run.size(), out.size() - done);
    std::copy_n(run.begin(), take, out.begin() + static_cast<std::ptrdiff_t>(done));
    done += take;
  }
  return done;
}

void FlatImage::add(GpuVa address, uint64_t bytes, std::span<const uint32_t> content) {
  const Object object{address.value & low_mask(kAddressBits), bytes, content};
  const auto at = std::upper_bound(objects_.begin(), objects_.end(), object,
                                   [](const Object& a, const Object& b) { return a.first < b.first; });
  objects_.insert(at, object);
}

std::span<const uint32_t> FlatImage::dwords_at(engine::StreamSpace, GpuVa address) {
  const uint64_t at = align_down(address.value & low_mask(kAddressBits), sizeof(uint32_t));
  auto it = std::upper_bound(objects_.begin(), objects_.end(), at,
                             [](uint64_t value, const Object& object) { return value < object.first; });
  if (it == objects_.begin()) return {};
  const Object& object = *--it;
  const uint64_t offset = at - object.first;
  if (offset >= object.bytes) return {};
  const uint64_t index = offset / sizeof(uint32_t);
  const uint64_t left = (object.bytes - offset) / sizeof(uint32_t);
  if (index < object.content.size()) {
    const auto rest = object.content.subspan(index);
    return rest.first(std::min<uint64_t>(rest.size(), left));
  }
  return std::span(kZeros).first(std::min<uint64_t>(kZeros.size(), left));
}

void PagedImage::write(Pool which, uint64_t address, std::span<const std::byte> data) {
  while (!data.empty()) {
    const uint64_t in_page = address % kPageBytes;
    const size_t take = std::min<size_t>(data.size(), kPageBytes - in_page);
    auto& pages = pool(which).pages;
    auto it = pages.find(address / kPageBytes);
    if (it == pages.end() && page_count_ < kMaxPages) {
      it = pages.emplace(address / kPageBytes, std::make_unique<Page>()).first;
      ++page_count_;
    }
    if (it != pages.end()) {
      std::memcpy(std::as_writable_bytes(std::span(*it->second)).data() + in_page, data.data(), take);
    } else {
      dropped_bytes_ += take;
    }
    data = data.subspan(take);
    address += take;
  }
}

void PagedImage::write_ggtt(uint64_t address, std::span<const std::byte> data) {
  while (!data.empty()) {
    const size_t take = std::min<size_t>(data.size(), kPageBytes - address % kPageBytes);
    const auto entry = ggtt_.find(address / kPageBytes);
    if (entry != ggtt_.end() && (entry->second & kPresent) != 0) {
      const uint64_t physical = page_of(entry->second) * kPageBytes + address % kPageBytes;
      const bool local = has_local_memory_ && (entry->second & kGgttLocal) != 0;
      const bool object = find(Pool::ggtt_object, physical) != nullptr;
      write(object ? Pool::ggtt_object : local ? Pool::local : Pool::system, physical, data.first(take));
    } else {
      write(Pool::ggtt_virtual, address, data.first(take));
    }
    data = data.subspan(take);
    address += take;
  }
}

void PagedImage::write_ggtt_entries(uint64_t offset, std::span<const std::byte> data) {
  for (; data.size() >= sizeof(uint64_t); data = data.subspan(sizeof(uint64_t)), offset += sizeof(uint64_t)) {
    uint64_t entry = 0;
    std::memcpy(&entry, data.data(), sizeof entry);
    ggtt_[offset / sizeof(uint64_t)] = entry;
    if ((entry & kPresent) != 0) ggtt_backing_[page_of(entry)] = entry;
  }
}

bool PagedImage::is_ggtt_object(uint64_t address) const {
  const auto entry = ggtt_backing_.find(address / kPageBytes);
  if (entry == ggtt_backing_.end() || (entry->second & kGgttLocal) == 0) return false;
  return std::find(recent_entries_.begin(), recent_entries_.end(), address / kPageBytes) == recent_entries_.end();
}

void PagedImage::write_local(uint64_t address, std::span<const std::byte> data) {
  const bool to_object = is_ggtt_object(address);
  write(to_object ? Pool::ggtt_object : Pool::local, address, data);
  // Remember what looks like page table entries: whole qwords with the present bit, less than a page of them.
  if (to_object || data.size() % sizeof(uint64_t) != 0 || data.size() >= kPageBytes) return;
  std::vector<uint64_t> pages;
  for (auto rest = data; !rest.empty(); rest = rest.subspan(sizeof(uint64_t))) {
    uint64_t entry = 0;
    std::memcpy(&entry, rest.data(), sizeof entry);
    if ((entry & kPresent) == 0) return;
    pages.push_back(page_of(entry));
  }
  recent_entries_ = std::move(pages);
}

const PagedImage::Page* PagedImage::find(Pool which, uint64_t address) const {
  const auto& pages = pools_[static_cast<size_t>(which)].pages;
  const auto it = pages.find(address / kPageBytes);
  return it == pages.end() ? nullptr : it->second.get();
}

std::span<const uint32_t> PagedImage::rest_of_page(Pool which, uint64_t address) const {
  const Page* page = find(which, address);
  if (page == nullptr) return {};
  return std::span(*page).subspan(address % kPageBytes / sizeof(uint32_t));
}

uint64_t PagedImage::table_entry(uint64_t table, uint64_t index) const {
  const uint64_t address = table + index * sizeof(uint64_t);
  const Page* page = has_local_memory_ ? find(Pool::local, address) : nullptr;
  if (page == nullptr) page = find(Pool::system, address);
  return page == nullptr ? 0 : get_bits(*page, static_cast<unsigned>(address % kPageBytes) * 8, 64);
}

std::span<const uint32_t> PagedImage::ggtt_at(uint64_t address) const {
  const auto it = ggtt_.find(address / kPageBytes);
  if (it == ggtt_.end() || (it->second & kPresent) == 0) return rest_of_page(Pool::ggtt_virtual, address);
  const uint64_t physical = page_of(it->second) * kPageBytes + address % kPageBytes;
  if (const auto object = rest_of_page(Pool::ggtt_object, physical); !object.empty()) return object;
  const bool local = has_local_memory_ && (it->second & kGgttLocal) != 0;
  return rest_of_page(local ? Pool::local : Pool::system, physical);
}

std::span<const uint32_t> PagedImage::ppgtt_at(uint64_t address) const {
  struct Level {
    unsigned low_bit;
    bool may_be_leaf;
  };
  constexpr std::array<Level, 4> kLevels{{{39, false}, {30, true}, {21, true}, {12, true}}};
  const size_t first = root_.four_levels ? 0 : 2;
  if (!root_.four_levels && address >> 32 != 0) return {};
  uint64_t table = root_.four_levels ? root_.pointers[0] : root_.pointers[bits(address, 31, 30)];
  table = align_down(table, kPageBytes);
  for (size_t i = first; i < kLevels.size(); ++i) {
    const Level& level = kLevels[i];
    const uint64_t entry = table_entry(table, bits(address, level.low_bit + 8, level.low_bit));
    if ((entry & kPresent) == 0) return {};
    const bool last = i + 1 == kLevels.size();
    if (last || (level.may_be_leaf && (entry & kPageSize) != 0)) {
      const uint64_t mask = low_mask(level.low_bit);
      const uint64_t physical = ((page_of(entry) * kPageBytes) & ~mask) | (address & mask);
      return rest_of_page(has_local_memory_ && (entry & kLeafLocal) != 0 ? Pool::local : Pool::system, physical);
    }
    table = page_of(entry) * kPageBytes;
  }
  return {};
}

std::span<const uint32_t> PagedImage::dwords_at(engine::StreamSpace space, GpuVa address) {
  const uint64_t at = align_down(address.value & low_mask(kAddressBits), sizeof(uint32_t));
  if (space == engine::StreamSpace::ggtt || !root_.valid) return ggtt_at(at);
  if (const auto found = ppgtt_at(at); !found.empty()) return found;
  return rest_of_page(Pool::ppgtt_virtual, at);
}

}  // namespace halogen::decode
