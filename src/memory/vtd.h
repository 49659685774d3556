// Advanced contexts: from bus, device, function and PASID to the tables of a process. Ice Lake PRM vol. 6, mode 4 (seed
// 001); VT-d 2.x extended tables (spec/structs/vtd.toml). The unit models the part of the system's IOMMU that the page
// walker uses: the root pointer and the context cache. It belongs to the system agent, so a function level reset does
// not affect it. Registers and queues are in iommu.h. Not modelled: requests without PASID, interrupt remapping.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "memory/page_format.h"
#include "memory/vtd_second_level.h"
#include "memory/walker.h"
#include "spec/device_model.h"

namespace halogen::memory {

inline constexpr uint8_t kGraphicsBus = 0;
inline constexpr uint8_t kGraphicsDevice = 2;
inline constexpr unsigned kFunctions = 8;

// Properties of the hardware that its capability registers show.
struct VtdConfig {
  uint8_t host_address_bits = 39;
  bool memory_types = true;  // MTS: the context entry's page attribute table applies
};

// The fields of a context entry that the model uses.
struct VtdContext {
  bool faults_disabled = false;  // faults are not recorded
  bool nesting = false;
  bool extended_accessed = false;
  bool no_execute = false;
  bool write_protect = false;
  bool supervisor_execute_protection = false;
  bool execute_requests = false;
  bool page_requests = false;
  bool deferred_invalidate = false;
  uint8_t writeback_types = 0xff;  // bit n: page attribute n is write-back
  uint16_t domain = 0;
  uint64_t pasid_table = 0;
  uint32_t pasids = 0;
  uint64_t pasid_state_table = 0;
  SecondLevel::Setup second_level;
};

// A PASID table entry. The walker keeps one per engine.
struct VtdPasid {
  uint64_t table = 0;
  uint8_t type_index = 0;
  bool supervisor_requests = false;
  bool medium_pages = false;
};

class VtdUnit {
 public:
  VtdUnit(const spec::DeviceModel& model, const PhysicalMemory& memory, const VtdConfig& config);

  // Sets the root table address register. Bit 11: entries are extended, which PASIDs need.
  void set_root(uint64_t register_value);
  uint64_t root() const { return root_; }

  // Returns the context from the cache or the tables, valid until the next invalidation. A fault leaves the cache
  // empty.
  const VtdContext* context(unsigned function, Fault& fault);
  std::optional<VtdPasid> read_pasid(const VtdContext& context, uint32_t pasid, Fault& fault) const;
  // Changes the count of contexts that use a PASID, which is in memory. False: deferred invalidation is off, or there
  // is no count for the PASID.
  bool count_use(const VtdContext& context, uint32_t pasid, int change) const;

  void invalidate_context_cache(unsigned function) { cache_[function % kFunctions].reset(); }
  void invalidate_context_cache();
  bool is_cached(unsigned function) const { return cache_[function % kFunctions].has_value(); }

 private:
  std::optional<VtdContext> read_context(unsigned function, Fault& fault) const;

  const spec::DeviceModel* model_;
  const PhysicalMemory* memory_;
  VtdConfig config_;
  uint64_t root_ = 0;
  bool extended_ = false;
  std::array<std::optional<VtdContext>, kFunctions> cache_;
};

// Returns the rules of a walk for an advanced context. `supervisor` and `accessed_dirty` come from the element
// descriptor; `second_level` is null without nesting.
WalkContext advanced_walk(const PageFormats& formats, const VtdContext& context, const VtdPasid& pasid,
                          const SecondLevel* second_level, bool supervisor, bool accessed_dirty,
                          bool updates_ignore_type);

}  // namespace halogen::memory
