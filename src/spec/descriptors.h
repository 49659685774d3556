// Descriptions of commands, structures and registers at run time. The tables behind these types are generated from
// spec/ (docs/spec-language.md); nothing here knows a particular command.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "spec/generation_ids.h"  // generated: GenId, kGenCount, DeviceId, kDeviceCount, EngineClass, Feature, Quirk

namespace halogen::spec {

using GenMask = uint16_t;     // bit n: GenId n
using DeviceMask = uint32_t;  // bit n: DeviceId n
using EngineMask = uint8_t;   // bit n: EngineClass n

constexpr GenMask mask_of(GenId gen) {
  return static_cast<GenMask>(1u << static_cast<unsigned>(gen));
}
constexpr DeviceMask mask_of(DeviceId device) {
  return DeviceMask{1} << static_cast<unsigned>(device);
}
constexpr EngineMask mask_of(EngineClass engine) {
  return static_cast<EngineMask>(1u << static_cast<unsigned>(engine));
}

constexpr uint32_t kNoOffset = 0xffffffff;  // offset of a register that the generation or device lacks
constexpr uint8_t kAbsent = 0xff;           // index of an item that the generation lacks

enum class FieldType : uint8_t {
  uint,
  sint,
  boolean,
  float32,
  ufixed,
  sfixed,
  gpu_va,
  ggtt,
  phys,
  offset,
  reg,
  enumeration,
  structure,
  mbo,
};

// Returns whether the value keeps its bits at their position in the dword.
constexpr bool is_in_place(FieldType type) {
  return type == FieldType::gpu_va || type == FieldType::ggtt || type == FieldType::phys || type == FieldType::offset ||
         type == FieldType::reg;
}

enum class Access : uint8_t { rw, ro, wo, w1c, masked, self_clearing, w_once };

struct EnumValue {
  std::string_view name;
  uint64_t value;
  GenMask gens;
};

struct EnumDesc {
  std::string_view name;
  std::string_view doc;
  std::span<const EnumValue> values;

  // Empty: the value has no name on this generation.
  std::string_view name_of(uint64_t value, GenId gen) const;
};

struct StructDesc;

struct FieldDesc {
  std::string_view name;
  std::string_view doc;
  FieldType type;
  Access access;          // registers only
  uint8_t fraction_bits;  // ufixed, sfixed
  uint16_t first_bit;     // from the start of the item or group element
  uint16_t width;
  const EnumDesc* enumeration;  // `enum:` and fields with `values`, else null
  const StructDesc* structure;  // `struct:`, else null
};

struct ReservedDesc {
  uint16_t first_bit;
  uint16_t width;
  bool ignored;      // hardware ignores the bits: no Event when they are set
  bool must_be_one;  // the bits of an `mbo` field
};

// A field that the model ignores (spec/unread.toml). A non-default value has no effect in the model and is reported.
struct UnreadDesc {
  std::string_view name;    // "ITEM.field"
  std::string_view reason;  // why it is not modelled
  std::string_view text;    // both as one sentence
  uint16_t first_bit;       // as of a field
  uint16_t width;
  // The field has an effect only while another field has this value, or only while it has another value. Width 0:
  // always.
  uint16_t when_bit;
  uint16_t when_width;
  uint64_t when_value;
  bool when_equal;
  std::span<const uint64_t> rest;
};

struct GroupDesc {
  std::string_view name;
  uint16_t first_bit;
  uint16_t element_bits;
  uint16_t count;  // 0: as many as fit the length
  std::span<const FieldDesc> fields;
  std::span<const ReservedDesc> reserved;
  std::span<const UnreadDesc> unread;
};

// One bit layout of an item, shared by all generations that have it.
struct Layout {
  std::span<const FieldDesc> fields;  // in order of first_bit
  std::span<const GroupDesc> groups;
  std::span<const ReservedDesc> reserved;
  std::span<const UnreadDesc> unread;  // includes those of nested structures, but not of groups
};

struct ItemDesc {
  std::string_view name;  // the key, in the manual's spelling
  std::string_view doc;
  std::string_view source;
  std::string_view topic;        // the spec file, without folder and ending
  std::string_view manual_name;  // printed name; differs from `name` if several items share the manual's name
  GenMask gens;
  DeviceMask devices;  // devices that have the item
  std::span<const Layout> layouts;
  std::array<uint8_t, kGenCount> layout_of_gen;  // index into layouts, or kAbsent

  const Layout* layout(GenId gen) const {
    const uint8_t index = layout_of_gen[static_cast<size_t>(gen)];
    return index == kAbsent ? nullptr : &layouts[index];
  }

  // Unpacks `in` into the item's C++ struct and packs it again, for tests that cannot name the struct. `out` has the
  // size of `in`. False: pack refused.
  bool (*repack)(GenId gen, std::span<const uint32_t> in, std::span<uint32_t> out);
};

struct LengthRule {
  uint16_t fixed;     // total dwords when the length is not encoded, else 0
  uint8_t first_bit;  // of the encoded length in dword 0
  uint8_t width;
  uint8_t bias;
  uint16_t min;
  uint16_t max;

  // Returns the total number of dwords of the command with this header.
  constexpr uint32_t total(uint32_t header) const {
    return fixed != 0 ? fixed : ((header >> first_bit) & ((1u << width) - 1u)) + bias;
  }
};

struct MatchRule {
  uint32_t mask;
  uint32_t value;
  constexpr bool matches(uint32_t header) const { return (header & mask) == value; }
};

enum class CommandId : uint16_t;   // generated
enum class StructId : uint16_t;    // generated
enum class RegisterId : uint16_t;  // generated

// The effect of a command in a non-privileged batch.
enum class PrivilegeEffect : uint8_t {
  noop,               // the whole command is dropped
  drop_write,         // its writes, to memory or a register, are discarded; the rest takes effect
  drop_post_sync,     // only the write after the flush is discarded
  per_process_table,  // uses the per-process table, if the per-process address space is enabled
  per_process_page,   // uses the per-process status page, if the per-process address space is enabled
  parent_privilege,   // may keep or lower the privilege, not raise it
};

// Applies when all its conditions hold.
struct PrivilegeRule {
  GenMask gens;
  PrivilegeEffect effect;
  std::string_view when;            // this field is not zero; empty: always
  std::string_view register_field;  // this field, of the command or its group, names a register that is not on the list
};

struct CommandDesc : ItemDesc {
  CommandId id;
  std::array<LengthRule, kGenCount> length_of_gen;
  std::array<MatchRule, kGenCount> match_of_gen;
  std::array<EngineMask, kGenCount> engines_of_gen;
  std::span<const PrivilegeRule> privilege;
};

struct StructDesc : ItemDesc {
  StructId id;
  std::array<uint16_t, kGenCount> dwords_of_gen;
};

enum class RegisterBase : uint8_t { absolute, engine };

struct RegisterReset {
  DeviceMask devices;
  uint64_t value;
};

struct RegisterDesc : ItemDesc {
  RegisterId id;
  RegisterBase base;
  EngineMask engines;  // with RegisterBase::engine
  uint8_t width_bits;  // 32 or 64
  Access access;
  bool storage;  // plain storage: no unit acts on the register
  std::string_view effects;
  uint16_t count;
  uint32_t stride;
  std::array<uint32_t, kGenCount> offset_of_gen;        // of the generation's first device that has it, or kNoOffset
  std::array<uint32_t, kDeviceCount> offset_of_device;  // or kNoOffset
  std::span<const RegisterReset> resets;

  // With RegisterBase::engine relative to the engine's MMIO base.
  uint32_t offset(DeviceId device) const { return offset_of_device[static_cast<size_t>(device)]; }
  uint64_t reset_value(DeviceId device) const;
};

// Return all items, in the order of their ids.
std::span<const CommandDesc* const> commands();
std::span<const StructDesc* const> structs();
std::span<const RegisterDesc* const> registers();
std::span<const EnumDesc* const> enums();

const CommandDesc* find_command(std::string_view name);
const StructDesc* find_struct(std::string_view name);
const RegisterDesc* find_register(std::string_view name);

inline const CommandDesc& desc(CommandId id) {
  return *commands()[static_cast<size_t>(id)];
}
inline const StructDesc& desc(StructId id) {
  return *structs()[static_cast<size_t>(id)];
}
inline const RegisterDesc& desc(RegisterId id) {
  return *registers()[static_cast<size_t>(id)];
}

}  // namespace halogen::spec
