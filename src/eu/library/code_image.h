// The bytes that a program was decoded from. An open image reads code from memory, page by page, and records which
// bytes were decoded. A sealed image never changes, so host threads may share it.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "eu/exec/executor.h"
#include "spec/descriptors.h"

namespace halogen::eu {

inline constexpr uint32_t kCodePage_B = 4096;
using CodePage = std::array<std::byte, kCodePage_B>;

// The memory that instructions are fetched from. Page numbers are relative to the instruction base.
class CodeMemory {
 public:
  virtual ~CodeMemory() = default;
  // Reads a page. False: memory refused the access.
  virtual bool read(uint64_t page, CodePage& into) = 0;
};

// Reads each page at most once, so that one lookup compares many programs with the same bytes.
class CodePages {
 public:
  explicit CodePages(CodeMemory& memory) : memory_(memory) {}
  // Returns a page. Null: memory refused it.
  const CodePage* find(uint64_t number);
  bool refused() const { return refused_; }

 private:
  CodeMemory& memory_;
  std::map<uint64_t, std::optional<CodePage>> pages_;
  bool refused_ = false;
};

class CodeImage final : public CodeSource {
 public:
  // Creates an open image. `pages` must live until seal().
  CodeImage(spec::GenId gen, CodePages& pages) : gen_(gen), pages_(&pages) {}
  // Creates an open image with the bytes of `other`, which must match memory.
  CodeImage(const CodeImage& other, CodePages& pages)
      : gen_(other.gen_), pages_(&pages), parts_(other.parts_), order_(other.order_) {}

  // Returns the instruction at an offset. An open image reads missing pages. No value: a sealed image lacks the bytes,
  // or memory refused them.
  std::optional<Instruction> at(uint32_t offset) const override;
  // Adds the whole page of an instruction that is reached through a register. False: memory refused it.
  bool add_page_of(uint32_t offset);
  void seal();

  // Return whether memory holds the same bytes. Pages are read in the order in which decoding read them. A page is
  // therefore read only if decoding would read it too, and the comparison faults only where decoding would.
  bool matches(CodePages& now) const;
  bool matches(CodeMemory& now) const;
  // Returns a digest of the decoded bytes and their offsets. Requires a sealed image.
  uint64_t digest() const { return digest_; }

 private:
  static constexpr size_t kGranule_B = 8;  // the size of a compact instruction
  struct Run {
    uint16_t offset = 0;
    uint16_t bytes = 0;
  };
  struct Part {
    CodePage bytes;
    std::bitset<kCodePage_B / kGranule_B> known;
    std::vector<Run> runs;  // of known bytes; filled by seal()
  };

  Part* part_of(uint64_t number) const;
  static bool same(const Part& part, const CodePage& now);

  spec::GenId gen_;
  CodePages* pages_;  // null: sealed
  mutable std::map<uint64_t, Part> parts_;
  mutable std::vector<uint64_t> order_;  // numbers of the parts in the order of reading
  uint64_t digest_ = 0;
};

}  // namespace halogen::eu
