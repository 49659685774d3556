#include "spec/domain_tables.h"

namespace halogen::spec {

namespace {

template <class Table>
const Table* find_for(std::span<const Table> tables, DeviceId device) {
  for (const Table& table : tables) {
    if ((table.devices & mask_of(device)) != 0) {
      return &table;
    }
  }
  return nullptr;
}

}  // namespace

const WakeTable* find_wake_table(DeviceId device) {
  return find_for(wake_tables(), device);
}

const ReplicationTable* find_replication_table(DeviceId device) {
  return find_for(replication_tables(), device);
}

const RangeTable* find_range_table(std::string_view name) {
  for (const RangeTable& table : range_tables()) {
    if (table.name == name) {
      return &table;
    }
  }
  return nullptr;
}

std::span<const MmioRange> null_ranges(DeviceId device) {
  for (const RangeTable& table : range_tables()) {
    if (table.null && (table.devices & mask_of(device)) != 0) {
      return table.rows;
    }
  }
  return {};
}

}  // namespace halogen::spec
