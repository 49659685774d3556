// The part of a BAR that gives access to the global table, and software's only access to it (Ice Lake PRM vol. 6,
// GTTMMADR, seed 001; G45 PRM vol. 1b 4.6, seed 003). A write drops cached translations of its entries, because
// hardware watches the alias. Sizes and alignments that the rule forbids are served and reported. The table lies in
// stolen memory, or on Gen4 at the address in PGTBL_CTL.
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
  // `changed` gets the numbers of the first and the last entry of a write.
  using Changed = std::function<void(uint64_t first, uint64_t last)>;

  GttPort(const Generation& generation, const memory::PhysicalMemory& memory, EventSink& events, std::string path,
          Changed changed);

  void place(const TablePlace& place) { place_ = place; }
  const TablePlace& table() const { return place_; }
  unsigned entry_bytes() const { return entry_bytes_; }

  uint64_t read(uint64_t offset, unsigned bytes);
  void write(uint64_t offset, unsigned bytes, uint64_t value);
  // Writes consecutive whole entries, as a CPU that combines writes does. False: not inside the table.
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
