// Page tables of one address space in the chip's own format. Three kinds: none (the global table is the space, as on
// the first chips), a second table beside the global one with the same addresses (Sandy Bridge), and trees of 64-bit
// entries with three or four levels, one per context.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "driver/hw/global_table.h"

namespace halogen::driver {

class PageTables {
 public:
  virtual ~PageTables() = default;
  // False: out of memory for a table. Entries that were written before that stay.
  virtual bool map(uint64_t address, const PageRun& run) = 0;
  virtual void unmap(uint64_t address, uint64_t bytes) = 0;
  // Programs an engine that has registers for it, at start-up and after a reset.
  virtual void load(const spec::EngineModel&) {}
  // Returns the root tables for a context image.
  virtual std::array<uint64_t, 4> roots() const { return {}; }
};

// Creates tables for chips on which all contexts share one space.
std::unique_ptr<PageTables> make_shared_tables(Hardware& hardware, GlobalTable& global);
// Creates tables for chips with one space per context. Null: out of memory.
std::unique_ptr<PageTables> make_own_tables(Hardware& hardware);

}  // namespace halogen::driver
