// Tells two kinds of local memory apart that some trace writers give the same addresses: pages behind the global table
// (ring, status page, context image) and ordinary pages. An ordinary page comes right after the page table entry that
// points at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "memory/page_format.h"

namespace halogen::trace {

class GgttObjects {
 public:
  explicit GgttObjects(const PageFormats& formats);

  // Entries written to the global table.
  void note_global_entries(std::span<const std::byte> data);
  // A write to local memory: true when it belongs to an object behind the global table.
  bool take_local_write(uint64_t address, std::span<const std::byte> data);

 private:
  static constexpr uint64_t kPageBytes = 4096;

  bool is_object(uint64_t address) const;

  const EntryFormat* global_;  // null: the device has no such tables
  const EntryFormat* process_;
  std::unordered_map<uint64_t, uint64_t> backing_;  // physical page number -> entry
  std::vector<uint64_t> recent_;                    // physical pages of the last page table write
};

}  // namespace halogen::trace
