#include "memory/buffered_speculation.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bits.h"

namespace halogen::memory {
namespace {

constexpr uint64_t kPageMask = kFrameBytes - 1;
constexpr size_t kDwordsOfWord = 64;

// Marks the dwords that `bytes` bytes at `offset` touch.
void mark(DwordMask& mask, size_t offset, size_t bytes) {
  const size_t first = offset / 4;
  const size_t end = (offset + bytes - 1) / 4 + 1;
  for (size_t at = first; at < end;) {
    const size_t in_word = at % kDwordsOfWord;
    const size_t count = std::min(end - at, kDwordsOfWord - in_word);
    mask[at / kDwordsOfWord] |= low_mask(static_cast<unsigned>(count)) << in_word;
    at += count;
  }
}

// Calls `part` for each page of an access, until it returns false.
template <class Byte, class Do>
AccessResult for_each_page(uint64_t address, std::span<Byte> host, Do&& part) {
  while (!host.empty()) {
    const size_t bytes = std::min<uint64_t>(host.size(), kFrameBytes - (address & kPageMask));
    if (!part(address, host.first(bytes))) {
      return AccessResult::stopped;
    }
    host = host.subspan(bytes);
    address += bytes;
  }
  return AccessResult::ok;
}

uint64_t key_of(const std::byte* frame) {
  return reinterpret_cast<uintptr_t>(frame);
}

}  // namespace

DwordMask& WrittenPages::at(const std::byte* frame) {
  DwordMask* mask = pages_.find(key_of(frame));
  if (mask == nullptr) {
    mask = &pages_.add(key_of(frame));
    mask->fill(0);
  }
  return *mask;
}

void WrittenPages::add(const std::byte* frame, size_t offset, size_t bytes) {
  mark(at(frame), offset, bytes);
}

void WrittenPages::add(const std::byte* frame, const DwordMask& mask) {
  DwordMask& all = at(frame);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] |= mask[i];
  }
}

bool WrittenPages::touches(const std::byte* frame, const DwordMask& mask) {
  const DwordMask* const written = pages_.find(key_of(frame));
  if (written == nullptr) {
    return false;
  }
  uint64_t both = 0;
  for (size_t i = 0; i < mask.size(); ++i) {
    both |= mask[i] & (*written)[i];
  }
  return both != 0;
}

void BufferedSpeculation::begin(AddressSpace& real, std::mutex& finding) {
  real_ = &real;
  finding_ = &finding;
  written_ = nullptr;
  mappings_.clear();
  pages_.clear();
  last_ = nullptr;
  touches_.clear();
  used_blocks_ = 0;
}

std::byte* BufferedSpeculation::look_up(uint64_t number, Access access) {
  const std::lock_guard lock(*finding_);
  return real_->look_up_frame(GpuVa{number << kFrameBits}, access);
}

BufferedSpeculation::Mapping* BufferedSpeculation::find(uint64_t address) {
  const uint64_t number = address >> kFrameBits;
  if (last_ != nullptr && last_->number == number) {
    return last_;
  }
  Mapping* mapping = mappings_.find(number);
  if (mapping == nullptr) {
    std::byte* const frame = mappings_.size() < kMaxPages ? look_up(number, kRead) : nullptr;
    if (frame == nullptr) {
      return nullptr;
    }
    Page* page = pages_.find(key_of(frame));
    if (page == nullptr) {
      page = &pages_.add(key_of(frame));
      *page = {.frame = frame, .block = nullptr, .read = {}};
    }
    touches_.push_back({number, Direction::read, frame});
    mapping = &mappings_.add(number);
    *mapping = {number, page, false};
  }
  last_ = mapping;
  return mapping;
}

bool BufferedSpeculation::prepare_write(Mapping& mapping) {
  if (mapping.writable) {
    return true;
  }
  Page& page = *mapping.page;
  if ((page.block == nullptr && used_blocks_ >= kMaxBlocks) || look_up(mapping.number, kWrite) != page.frame) {
    return false;
  }
  mapping.writable = true;
  touches_.push_back({mapping.number, Direction::write, page.frame});
  if (page.block == nullptr) {
    if (used_blocks_ == blocks_.size()) {
      blocks_.push_back(std::make_unique<Block>());
    }
    page.block = blocks_[used_blocks_++].get();
    page.block->mask.fill(0);
  }
  return true;
}

void BufferedSpeculation::read_part(Page& page, size_t offset, std::span<std::byte> host) {
  mark(page.read, offset, host.size());
  copy_bytes(host.data(), page.frame + offset, host.size());
  if (page.block == nullptr) {
    return;
  }
  for (size_t at = offset; at < offset + host.size();) {
    const uint64_t mask = page.block->mask[at / 64];
    if (mask == 0) {
      at = (at / 64 + 1) * 64;
      continue;
    }
    if ((mask >> at % 64 & 1) != 0) {
      host[at - offset] = page.block->bytes[at];
    }
    ++at;
  }
}

void BufferedSpeculation::write_part(Page& page, size_t offset, std::span<const std::byte> host) {
  copy_bytes(page.block->bytes.data() + offset, host.data(), host.size());
  for (size_t at = offset; at < offset + host.size();) {
    const size_t in_word = at % 64;
    const size_t count = std::min(offset + host.size() - at, 64 - in_word);
    page.block->mask[at / 64] |= low_mask(static_cast<unsigned>(count)) << in_word;
    at += count;
  }
}

AccessResult BufferedSpeculation::transfer(uint64_t address, std::span<std::byte> host, Access access) {
  if (accessor_ != nullptr) {
    return for_each_page(address, host, [&](uint64_t at, std::span<std::byte> part) {
      const std::byte* const page = accessor_->page(at >> kFrameBits, access);
      if (page != nullptr) {
        copy_bytes(part.data(), page + (at & kPageMask), part.size());
      }
      return page != nullptr;
    });
  }
  if (written_ != nullptr) {
    return real_->read(GpuVa{address}, host, access.instruction);
  }
  if (access.instruction) {
    return AccessResult::stopped;
  }
  return for_each_page(address, host, [&](uint64_t at, std::span<std::byte> part) {
    const Mapping* const mapping = find(at);
    if (mapping == nullptr) {
      return false;
    }
    read_part(*mapping->page, at & kPageMask, part);
    return true;
  });
}

AccessResult BufferedSpeculation::transfer(uint64_t address, std::span<const std::byte> host, Access access) {
  if (accessor_ != nullptr) {
    return for_each_page(address, host, [&](uint64_t at, std::span<const std::byte> part) {
      std::byte* const page = accessor_->page(at >> kFrameBits, access);
      if (page != nullptr) {
        copy_bytes(page + (at & kPageMask), part.data(), part.size());
      }
      return page != nullptr;
    });
  }
  if (written_ != nullptr) {
    const AccessResult result = real_->write(GpuVa{address}, host);
    note_write(address, host.size());
    return result;
  }
  return for_each_page(address, host, [&](uint64_t at, std::span<const std::byte> part) {
    Mapping* const mapping = find(at);
    if (mapping == nullptr || !prepare_write(*mapping)) {
      return false;
    }
    write_part(*mapping->page, at & kPageMask, part);
    return true;
  });
}

// Records the bytes that a direct write has changed. A page without a frame was not written.
void BufferedSpeculation::note_write(uint64_t address, size_t bytes) {
  while (bytes != 0) {
    const size_t part = std::min<uint64_t>(bytes, kFrameBytes - (address & kPageMask));
    if (const std::byte* const frame = real_->look_up_frame(GpuVa{address}, kWrite)) {
      written_->add(frame, address & kPageMask, part);
    }
    address += part;
    bytes -= part;
  }
}

// The caller operates on at most kMaxBytes bytes at `address`.
AddressSpace::View BufferedSpeculation::view(GpuVa address, Access access) {
  constexpr size_t kMaxBytes = 16;
  AddressSpace::View view;
  if (accessor_ != nullptr) {
    std::byte* const page = accessor_->page(address.value >> kFrameBits, access);
    const uint64_t offset = address.value & kPageMask;
    view.result = page == nullptr ? AccessResult::stopped : AccessResult::ok;
    view.bytes = page != nullptr ? std::span(page + offset, kFrameBytes - offset) : std::span<std::byte>();
    return view;
  }
  if (written_ == nullptr) {
    view.result = AccessResult::stopped;
    return view;
  }
  view = real_->view(address, access);
  if (access.writes() && !view.bytes.empty()) {
    written_->add(view.bytes.data() - (address.value & kPageMask), address.value & kPageMask,
                  std::min(kMaxBytes, view.bytes.size()));
  }
  return view;
}

// Replays the look-ups in the real space, with their effects on its TLB and page tables. True: it found the same pages.
bool BufferedSpeculation::same_pages() {
  return std::ranges::all_of(touches_, [&](const Touch& touch) {
    const GpuVa address{touch.number << kFrameBits};
    const Access access{.direction = touch.direction};
    const std::byte* const frame = real_->page_at(address, access);
    return (frame != nullptr ? frame : real_->view(address, access).bytes.data()) == touch.frame;
  });
}

bool BufferedSpeculation::commit(WrittenPages& written) {
  for (size_t i = 0; i < pages_.size(); ++i) {
    if (written.touches(pages_[i].frame, pages_[i].read)) {
      return false;
    }
  }
  if (!same_pages()) {
    return false;
  }
  for (size_t i = 0; i < pages_.size(); ++i) {
    if (pages_[i].block != nullptr) {
      write_back(pages_[i], written);
    }
  }
  return true;
}

void BufferedSpeculation::write_back(const Page& page, WrittenPages& written) {
  DwordMask dwords{};
  for (size_t line = 0; line < page.block->mask.size(); ++line) {
    const size_t at = line * 64;
    for (uint64_t rest = page.block->mask[line]; rest != 0;) {
      const auto first = static_cast<unsigned>(std::countr_zero(rest));
      const auto count = static_cast<unsigned>(std::countr_one(rest >> first));
      copy_bytes(page.frame + at + first, page.block->bytes.data() + at + first, count);
      mark(dwords, at + first, count);
      rest &= ~(low_mask(count) << first);
    }
  }
  written.add(page.frame, dwords);
}

}  // namespace halogen::memory
