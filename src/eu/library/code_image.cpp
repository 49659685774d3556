#include "eu/library/code_image.h"

#include <algorithm>
#include <cstring>

#include "eu/isa/decoder.h"

namespace halogen::eu {
namespace {

constexpr size_t kInstruction_B = 16;
constexpr size_t kMaxPages = 512;  // of one program; code on further pages reads as an illegal instruction

constexpr uint64_t mix(uint64_t digest, uint64_t word) {
  digest = (digest ^ word) * 0x9e37'79b9'7f4a'7c15;
  return digest ^ digest >> 32;
}

}  // namespace

const CodePage* CodePages::find(uint64_t number) {
  auto known = pages_.find(number);
  if (known == pages_.end()) {
    known = pages_.emplace(number, CodePage{}).first;
    if (!memory_.read(number, *known->second)) {
      known->second.reset();
      refused_ = true;
    }
  }
  return known->second ? &*known->second : nullptr;
}

CodeImage::Part* CodeImage::part_of(uint64_t number) const {
  if (const auto known = parts_.find(number); known != parts_.end()) {
    return &known->second;
  }
  if (pages_ == nullptr || parts_.size() >= kMaxPages) {
    return nullptr;
  }
  const CodePage* const page = pages_->find(number);
  if (page == nullptr) {
    return nullptr;
  }
  Part& part = parts_[number];
  part.bytes = *page;
  order_.push_back(number);
  return &part;
}

std::optional<Instruction> CodeImage::at(uint32_t offset) const {
  std::array<std::byte, kInstruction_B> bytes{};
  size_t have = 0;
  while (have < bytes.size()) {
    const uint64_t from = uint64_t{offset} + have;
    Part* const part = part_of(from / kCodePage_B);
    if (part == nullptr) {
      return parts_.size() < kMaxPages ? std::nullopt : std::optional<Instruction>(Instruction{});
    }
    const size_t in_page = from % kCodePage_B;
    const size_t take = std::min(bytes.size() - have, kCodePage_B - in_page);
    std::memcpy(bytes.data() + have, part->bytes.data() + in_page, take);
    have += take;
    // A compact instruction may be the last of a page, so the next page need not be mapped.
    const Decoded decoded = decode(gen_, std::span(bytes).first(have));
    if (have < bytes.size() && decoded.fault == DecodeFault::truncated) {
      continue;
    }
    const size_t used = decoded.ok() ? decoded.instruction.size : have;
    for (uint64_t at = offset - offset % kGranule_B; at < uint64_t{offset} + used; at += kGranule_B) {
      Part& holder = parts_.at(at / kCodePage_B);
      const size_t granule = at % kCodePage_B / kGranule_B;
      if (!holder.known[granule]) {
        if (pages_ == nullptr) {
          return std::nullopt;
        }
        holder.known.set(granule);
      }
    }
    Instruction instruction = decoded.instruction;
    if (!decoded.ok()) {
      instruction.op = Op::illegal;
    }
    return instruction;
  }
  return std::nullopt;
}

bool CodeImage::add_page_of(uint32_t offset) {
  // The image may hold the page in part, with older bytes beside the decoded ones: read the whole page again.
  const auto refresh = [&](uint64_t number) {
    const CodePage* const now = pages_->find(number);
    if (Part* const part = now != nullptr ? part_of(number) : nullptr) {
      part->bytes = *now;
      part->known.set();
    }
  };
  refresh(offset / kCodePage_B);
  if (!at(offset)) {
    return false;
  }
  if (const uint64_t last = (uint64_t{offset} + kInstruction_B - 1) / kCodePage_B; parts_.contains(last)) {
    refresh(last);
  }
  return true;
}

void CodeImage::seal() {
  pages_ = nullptr;
  digest_ = 0xcbf2'9ce4'8422'2325;
  for (auto& [number, part] : parts_) {
    part.runs.clear();
    for (size_t granule = 0; granule < part.known.size(); ++granule) {
      if (!part.known[granule]) {
        continue;
      }
      const auto offset = static_cast<uint16_t>(granule * kGranule_B);
      uint64_t word = 0;
      std::memcpy(&word, part.bytes.data() + offset, sizeof(word));
      digest_ = mix(mix(digest_, number * kCodePage_B + offset), word);
      if (!part.runs.empty() && part.runs.back().offset + part.runs.back().bytes == offset) {
        part.runs.back().bytes = static_cast<uint16_t>(part.runs.back().bytes + kGranule_B);
      } else {
        part.runs.push_back({offset, kGranule_B});
      }
    }
  }
}

bool CodeImage::same(const Part& part, const CodePage& now) {
  return std::ranges::all_of(part.runs, [&](const Run& run) {
    return std::memcmp(part.bytes.data() + run.offset, now.data() + run.offset, run.bytes) == 0;
  });
}

bool CodeImage::matches(CodePages& now) const {
  return std::ranges::all_of(order_, [&](uint64_t number) {
    const CodePage* const page = now.find(number);
    return page != nullptr && same(parts_.at(number), *page);
  });
}

bool CodeImage::matches(CodeMemory& now) const {
  CodePage page;
  return std::ranges::all_of(order_,
                             [&](uint64_t number) { return now.read(number, page) && same(parts_.at(number), page); });
}

}  // namespace halogen::eu
