// Range tables, unit bases, privilege lists and context images, as data from spec/tables/.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "spec/descriptors.h"

namespace halogen::spec {

// One row of an MMIO range table: the wake domain that serves it and the replication of its registers.
struct MmioRange {
  uint32_t start;
  uint32_t end;                  // last byte
  std::string_view domain;       // "" : no endpoint
  std::string_view replication;  // "" : one instance
  uint8_t instances;
};

struct RangeTable {
  std::string_view name;
  std::string_view doc;
  std::string_view source;
  DeviceMask devices;
  bool null;                        // no registers: reads give zero and writes are ignored
  std::span<const MmioRange> rows;  // sorted, without overlap

  const MmioRange* find(uint32_t offset) const;
};

// Where a unit's registers start: command streamers and the fixed-function blocks beside them.
struct UnitBase {
  std::string_view name;
  uint32_t base;
};

struct UnitTable {
  std::string_view name;
  std::string_view doc;
  std::string_view source;
  DeviceMask devices;
  std::span<const UnitBase> rows;
};

enum class ListAccess : uint8_t { read, write };

struct PrivilegeRow {
  std::string_view name;
  RegisterBase base;
  uint32_t offset;
  uint32_t dwords;
};

struct PrivilegeList {
  std::string_view name;
  std::string_view doc;
  std::string_view source;
  DeviceMask devices;
  EngineMask engines;
  int8_t instance;  // only this instance of the class, or -1 for all
  ListAccess access;
  bool slots;  // what software adds by FORCE_TO_NONPRIV; not in hardware
  std::span<const PrivilegeRow> rows;
};

struct ImageRegister {
  std::string_view name;
  uint32_t offset;  // as stored in the image
};

struct ImageEntry {
  uint16_t at;     // dword
  uint16_t noops;  // >0: that many MI_NOOP
  uint32_t lri;    // otherwise the header of an MI_LOAD_REGISTER_IMM, or a literal if registers is empty
  std::span<const ImageRegister> registers;

  constexpr uint32_t dwords() const { return noops != 0 ? noops : 1u + 2u * static_cast<uint32_t>(registers.size()); }
};

struct ContextImageDesc {
  std::string_view name;
  std::string_view doc;
  std::string_view source;
  DeviceMask devices;
  EngineMask engines;
  std::span<const ImageEntry> entries;
};

std::span<const RangeTable> range_tables();
std::span<const UnitTable> unit_tables();
std::span<const PrivilegeList> privilege_lists();
std::span<const ContextImageDesc> context_images();

}  // namespace halogen::spec
