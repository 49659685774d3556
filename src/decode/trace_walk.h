// Prints one page walk through the tables of an AUB trace, level by level, as text or JSON (`halogen walk`). Not
// supported: contexts whose root is found through a PASID, and tiled resource tables.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "decode/field_list.h"
#include "memory/walker.h"
#include "spec/device_model.h"

namespace halogen::decode {

struct WalkQuery {
  const spec::DeviceModel* device = nullptr;  // null: the trace must name it
  GpuVa address;
  bool global = false;            // through the global table
  std::optional<size_t> context;  // number of the submission, from 0; no value: the last one
};

struct WalkReport {
  struct Step {
    std::string_view level;
    const spec::StructDesc* entry_format;
    memory::MemorySpace space;  // memory of per-process tables
    uint64_t entry_address;
    uint64_t entry;
    FieldList fields;
  };

  std::string file;
  const spec::DeviceModel* device = nullptr;
  GpuVa address;
  bool global = false;
  std::string_view mode;    // "legacy 48-bit PPGTT"
  size_t context = 0;       // index into `contexts`; per-process walks only
  size_t contexts = 0;      // number of contexts that the trace submits
  std::string_view engine;  // that runs the context
  uint64_t context_image = 0;
  std::vector<Step> steps;
  memory::WalkResult result;
  uint64_t physical = 0;       // valid without a fault
  std::vector<uint32_t> data;  // the first dwords at the address; empty: the trace did not write them

  bool mapped() const { return !result.fault; }
  std::string to_text() const;
  std::string to_json() const;
};

Result<WalkReport> walk_trace(const std::filesystem::path& file, const WalkQuery& query);

}  // namespace halogen::decode
