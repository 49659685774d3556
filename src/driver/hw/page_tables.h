// Page tables of one address space, written as the chip reads them. Three kinds: none of its own (the global table is
// the space, as on the first chips), a second table beside the global one with the same addresses (Sandy Bridge), and
// trees of 64-bit entries of three or four levels with a space for every context.
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
  // False: no memory for a table. What was written stays.
  virtual bool map(uint64_t address, const PageRun& run) = 0;
  virtual void unmap(uint64_t address, uint64_t bytes) = 0;
  // Tells an engine that has registers for it, at the start and after a reset.
  virtual void load(const spec::EngineModel&) {}
  // Of a context: the outermost tables as its image names them.
  virtual std::array<uint64_t, 4> roots() const { return {}; }
};

// For chips where all contexts share one space.
std::unique_ptr<PageTables> make_shared_tables(Hardware& hardware, GlobalTable& global);
// For chips where each has its own. Null: no memory.
std::unique_ptr<PageTables> make_own_tables(Hardware& hardware);

}  // namespace halogen::driver
