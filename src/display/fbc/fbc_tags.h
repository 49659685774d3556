// Tags of GM965's frame buffer compressor: two bits per pair of lines, sixteen tags in a register (G45 PRM vol. 1b
// 6.8.1, seed 003). Pairs begin at even lines of the surface: if the picture starts at an odd line, its first line has
// a tag of its own, and so has its last.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace halogen::display::fbc {

enum class Tag : uint8_t { modified, uncompressed, uncompressible, compressed };

inline constexpr unsigned kTagRegisters = 49;
inline constexpr unsigned kTagsPerRegister = 16;
inline constexpr unsigned kTags = kTagRegisters * kTagsPerRegister;

// The lines of a tag.
struct TagLines {
  unsigned first = 0;
  unsigned count = 0;
};

constexpr unsigned tag_of(unsigned line, bool odd_start) {
  return (line + (odd_start ? 1 : 0)) / 2;
}
constexpr unsigned tags_of(unsigned lines, bool odd_start) {
  return std::min(kTags, (lines + (odd_start ? 1 : 0) + 1) / 2);
}
constexpr TagLines lines_of(unsigned tag, unsigned lines, bool odd_start) {
  const unsigned odd = odd_start ? 1 : 0;
  const unsigned first = tag == 0 ? 0 : 2 * tag - odd;
  const unsigned end = std::min(lines, 2 * tag + 2 - odd);
  return {first, end > first ? end - first : 0};
}

// Plain data: the registers as software reads them. Zero means "all modified", the state after reset.
struct TagArray {
  std::array<uint32_t, kTagRegisters> words{};

  constexpr Tag get(unsigned tag) const { return static_cast<Tag>(words[tag / 16] >> (tag % 16 * 2) & 3); }
  constexpr void set(unsigned tag, Tag value) {
    uint32_t& word = words[tag / 16];
    const unsigned shift = tag % 16 * 2;
    word = (word & ~(3u << shift)) | static_cast<uint32_t>(value) << shift;
  }
  constexpr void modify_all() { words.fill(0); }
  // Marks all modified tags uncompressed at once.
  constexpr void start_pass() {
    for (uint32_t& word : words) {
      word |= modified_bits(word);
    }
  }
  constexpr unsigned modified() const {
    unsigned count = 0;
    for (const uint32_t word : words) {
      count += static_cast<unsigned>(std::popcount(modified_bits(word)));
    }
    return count;
  }
  bool operator==(const TagArray&) const = default;

 private:
  static constexpr uint32_t modified_bits(uint32_t word) { return ~(word | word >> 1) & 0x5555'5555; }
};

}  // namespace halogen::display::fbc
