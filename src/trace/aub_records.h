// The records of an AUB trace as types. Two families share one file format: the classic one (opcode 1: older drivers,
// and a few records of newer ones) and the memory trace (opcode 0x2e). Numbers keep their file values. An enumeration
// has the same values as the file; unlisted values are kept as they are.
//
// Data and text point into the reader's buffer and are valid only during the visitor's call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace halogen::trace::aub {

// The position of a record in the (decompressed) file.
struct Place {
  uint64_t offset = 0;  // of its first byte
  uint64_t index = 0;   // counting from 0
};

enum class RegisterSpace : uint8_t { mmio = 0, mchbar = 1, pci_config = 2, azalia = 3, io = 4, vtd = 5 };

enum class MemorySpace : uint8_t {
  ggtt = 0,
  local = 1,
  system = 2,
  gtt_pd_entry = 3,
  ggtt_entry = 4,
  ppgtt = 5,
  ppgtt_pt_entry = 6,
  ggtt_non_aperture = 7,
  ppgtt_pdp_entry = 8,
  ppgtt_pd_entry = 9,
  ppgtt_pml4_entry = 10,
  power_context = 11,
};

enum class Tiling : uint8_t { none = 0, x = 1, y = 2, w = 3 };

std::string_view name_of(RegisterSpace space);  // empty: unknown space
std::string_view name_of(MemorySpace space);
std::string_view name_of_hint(uint8_t hint);  // the content of a memory write, as declared by the writer

// Memory trace ----------------------------------------------------------------------------------------------------

struct Version {
  uint32_t file_version;
  uint8_t metal;
  uint8_t stepping;
  uint8_t device;  // see device_of_aub_code
  uint8_t swizzle;
  uint8_t recording;  // 0 graphics addresses, 1 physical
  uint8_t pch;
  uint8_t tool;
  uint32_t primary_version;
  uint32_t secondary_version;
  std::string_view text;
};

struct OldVersion {  // sub-opcode 0: superseded, its fields are not public
  std::span<const uint32_t> dwords;
};

struct RegisterWrite {
  uint32_t offset;
  uint8_t source;     // 0 CPU, 1 management engine, 2 graphics, 3 PCH, 4 workaround
  uint8_t size_code;  // log2 of bytes
  RegisterSpace space;
  uint64_t mask;
  uint64_t value;
};

struct RegisterCompare {
  uint32_t offset;
  bool no_expect;  // read only, nothing to compare
  uint8_t size_code;
  RegisterSpace space;
  uint64_t mask;
  uint64_t expected;
};

struct RegisterPoll {
  uint32_t offset;
  bool ignore_timeout;
  bool not_equal;
  uint8_t operation;
  uint8_t size_code;
  RegisterSpace space;
  uint64_t mask;
  uint64_t value;
};

struct MemoryWrite {
  uint64_t address;
  bool frontdoor;
  bool repeat;
  Tiling tiling;
  uint8_t hint;
  MemorySpace space;
  std::span<const std::byte> data;  // starts at a dword boundary in host memory
  uint64_t bytes;                   // to write; with repeat, more than `data`, which is then repeated
};

struct MemoryCompare {
  uint64_t address;
  bool no_expect;
  bool repeat;
  bool crc;
  bool not_equal;
  bool deferred;  // a part of a comparison: the result counts with the next part that is not deferred
  Tiling tiling;
  uint8_t hint;
  MemorySpace space;
  uint32_t bytes;                   // to compare
  std::span<const std::byte> data;  // shorter than `bytes` with crc or no_expect
};

enum class Comparison : uint8_t {
  legacy = 0,  // equal or not, as another bit says
  equal = 1,
  not_equal = 2,
  less = 3,
  less_equal = 4,
  greater = 5,
  greater_equal = 6,
};

struct MemoryPoll {
  uint64_t address;
  bool not_equal;
  Comparison comparison;
  bool ignore_timeout;
  uint8_t size_code;
  Tiling tiling;
  uint8_t hint;
  MemorySpace space;
  uint64_t mask;
  uint64_t value;
};

struct FrameBegin {
  uint16_t number;
};

struct Comment {
  bool sync_on_comment;
  bool sync_on_display;
  std::string_view text;
};

struct Delay {
  uint32_t time;
};

struct MemoryDump {
  uint64_t address;
  uint32_t stride;
  uint32_t width;
  uint32_t height;
  MemorySpace space;
  Tiling tiling;
  std::string_view file_name;
};

// One record with up to 63 separate pieces; the reader passes them one by one.
struct DiscontiguousWrite {
  uint16_t piece;   // counting from 0
  uint16_t pieces;  // in the record
  uint64_t address;
  uint8_t hint;
  MemorySpace space;
  std::span<const std::byte> data;
};

struct TestPhase {
  uint8_t phase;
  uint16_t sub_phase;
};

struct ContiguousRegion {
  uint64_t address;
  uint64_t bytes;
};

struct Predicate {
  bool state;
  uint8_t target;
};

struct CompressedDump {  // sub-opcode 0x10: a surface for the "TRE" tool
  std::span<const uint32_t> dwords;
  uint64_t surface_address;
  uint32_t width;
  uint32_t height;
  uint32_t pitch;
  uint32_t gtt_type;
  uint32_t handle;
};

// Classic ---------------------------------------------------------------------------------------------------------

struct ClassicVersion {
  uint8_t major;
  uint8_t minor;
  std::string_view application;
  uint64_t time;
  std::string_view comment;  // "PCI-ID=0x.." from Mesa and IGT
};

enum class BlockOperation : uint8_t { comment = 0, data_write = 1, command_write = 2, mmio_write = 3 };

// A block's data is not counted in the record's length and may have any size, so the reader passes it in parts.
struct ClassicBlock {
  BlockOperation operation;
  uint8_t type;
  uint8_t space;  // 0 graphics address, 1 local, 2 nonlocal, 3 PCI, 4 GTT entry
  uint32_t subtype;
  uint64_t address;      // of the whole block
  uint64_t total_bytes;  // of the whole block
  uint64_t part_offset;  // of this part in the block
  std::span<const std::byte> data;

  bool is_last() const { return part_offset + data.size() == total_bytes; }
};

struct ClassicBitmap {  // 0x1e
  std::span<const uint32_t> dwords;
};

struct PpgttContextCreate {  // 0x14
  uint32_t handle;
  bool advanced;
  bool is_64bit;
  std::array<uint64_t, 4> roots;
};

struct BufferDump {  // 0x15
  uint64_t base;
  uint64_t width;
  uint64_t height;
  uint64_t pitch;
  uint8_t surface_type;
  uint8_t gtt_type;
  uint32_t handle;
  std::string_view file_type;
};

struct ImageDump {  // 0x44
  uint32_t x_min;
  uint32_t y_min;
  uint32_t pitch;
  uint32_t format;
  uint32_t x_size;
  uint32_t y_size;
  uint64_t base;
  uint32_t flags;
  uint32_t handle;
};

// A record of known length and unknown meaning.
struct Unknown {
  uint8_t opcode;
  uint8_t sub_opcode;
  std::span<const uint32_t> dwords;
};

using Record = std::variant<Version, OldVersion, RegisterWrite, RegisterCompare, RegisterPoll, MemoryWrite,
                            MemoryCompare, MemoryPoll, FrameBegin, Comment, Delay, MemoryDump, DiscontiguousWrite,
                            TestPhase, ContiguousRegion, Predicate, CompressedDump, ClassicVersion, ClassicBlock,
                            ClassicBitmap, PpgttContextCreate, BufferDump, ImageDump, Unknown>;

class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void on(const Place& place, const Record& record) = 0;
};

}  // namespace halogen::trace::aub
