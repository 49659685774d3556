// Wake domains and replicated endpoints of one device, as data from spec/tables/ (docs/spec-language.md, Tables). A
// wake table lists the registers that request and acknowledge a domain. A replication table lists how many copies an
// endpoint has, which fuse disables a copy and which selector register selects one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "spec/tables.h"

namespace halogen::spec {

// One request register and its acknowledgement. A domain may have several; each of them keeps it awake.
struct WakePort {
  std::string_view domain;
  uint32_t request;
  uint32_t ack;
  Access access;          // masked: bits 31:16 enable bits 15:0; rw: the low bits are stored as written
  uint32_t request_bits;  // bits that exist in the request and are mirrored by the acknowledgement
};

struct OffsetRange {
  uint32_t start;
  uint32_t end;  // last byte
};

struct WakeTable {
  std::string_view name;
  std::string_view doc;
  std::string_view source;
  DeviceMask devices;
  std::string_view ranges;  // the range table that gives each offset its domain
  bool writes_wake;         // a write wakes its domain by itself; only reads need a request
  std::span<const WakePort> ports;
  std::span<const OffsetRange> shadow;  // registers that are accessible while their domain sleeps
};

enum class FuseSense : uint8_t { none, enable, disable };  // none: every instance is always present

struct ReplicationGroup {
  std::string_view name;
  uint8_t instances;  // of each slice when the group lies in a slice, else in all
  FuseSense sense;
  uint32_t fuse_register;  // where the fuse can be read
  uint8_t fuse_first_bit;  // bit of instance 0
  uint8_t fuse_bits;       // number of fuses; if fewer than instances, the pattern repeats
};

enum class SelectorOrigin : uint8_t { host, command_streamer };

struct SteeringSelector {
  std::string_view name;
  uint32_t offset;
  SelectorOrigin origin;
  std::string_view endpoints;  // replication or endpoint class this selector serves; "" : all others of its origin
};

struct BitRange {
  uint8_t high;
  uint8_t low;
  bool present;  // false: the device has no such field
};

struct ReplicationTable {
  std::string_view name;
  std::string_view doc;
  std::string_view source;
  DeviceMask devices;
  std::string_view ranges;        // the range table whose rows name the groups
  std::string_view slice_ranges;  // the range table of registers that lie in a slice, or ""
  uint8_t slices;
  BitRange multicast;  // fields of every selector of this device
  BitRange slice;
  BitRange subslice;
  uint32_t selector_reset;
  std::span<const ReplicationGroup> groups;
  std::span<const SteeringSelector> selectors;
};

std::span<const WakeTable> wake_tables();
std::span<const ReplicationTable> replication_tables();

// Return a device's tables, and a range table by name. Null: the device has none, or the name is unknown.
const WakeTable* find_wake_table(DeviceId device);
const ReplicationTable* find_replication_table(DeviceId device);
const RangeTable* find_range_table(std::string_view name);

// Returns ranges that hold no register but that software may access: reserved for a hypervisor, or targets of accesses
// meant to have no effect.
std::span<const MmioRange> null_ranges(DeviceId device);

}  // namespace halogen::spec
