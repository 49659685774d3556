// The part of a BAR behind which the global table lies: the only way in for software (seed 001, GTTMMADR; seed
// 003 4.6). Writes drop cached translations of the entries they touch, as hardware watches the alias. Sizes and
// alignments that the rule refuses are served and reported. The table itself is memory: stolen, or on Gen4 wherever
// PGTBL_CTL says.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/event.h"
#include "gen/generation.h"
#include "memory/physical_memory.h"

namespace halogen::device {

struct TablePlace {
  memory::MemorySpace space = memory::MemorySpace::system;
  uint64_t base = 0;
  uint64_t bytes = 0;
  bool operator==(const TablePlace&) const = default;
};

class GttPort {
 public:
  // `changed` is told the numbers of the first and the last entry that a write touched.
  using Changed = std::function<void(uint64_t first, uint64_t last)>;

  GttPort(const Generation& generation, const memory::PhysicalMemory& memory, EventSink& events, std::string path,
          Changed changed);

  void place(const TablePlace& place) { place_ = place; }
  const TablePlace& table() const { return place_; }
  unsigned entry_bytes() const { return entry_bytes_; }

  uint64_t read(uint64_t offset, unsigned bytes);
  void write(uint64_t offset, unsigned bytes, uint64_t value);
  // Whole entries one after the other, as a processor that combines writes sends them. False: not inside the table.
  bool write_block(uint64_t offset, std::span<const std::byte> from);

 private:
  bool check_access(uint64_t offset, unsigned bytes, uint64_t value, std::string_view verb);

  AccessRule rule_;
  unsigned entry_bytes_;
  const memory::PhysicalMemory& memory_;
  EventSink& events_;
  std::string path_;
  Changed changed_;
  TablePlace place_;
};

}  // namespace halogen::device
