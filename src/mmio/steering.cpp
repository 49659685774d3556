#include "mmio/steering.h"

#include "base/bits.h"
#include "base/check.h"

namespace halogen::mmio {

SteeringConfig SteeringConfig::for_device(spec::DeviceId device) {
  const spec::ReplicationTable* table = spec::find_replication_table(device);
  if (table == nullptr) {
    return {nullptr, nullptr, nullptr};
  }
  const bool slices = !table->slice_ranges.empty();
  return {table, spec::find_range_table(table->ranges), slices ? spec::find_range_table(table->slice_ranges) : nullptr};
}

SteeringConfig::SteeringConfig(const spec::ReplicationTable* t, const spec::RangeTable* r, const spec::RangeTable* s)
    : table(t), ranges(r), slice_ranges(s), fuses(all_present()) {
  check(t == nullptr || (t->selectors.size() <= kMaxSteeringSelectors && t->groups.size() <= kMaxReplicationGroups),
        "too many selectors or groups");
}

SteeringFuses SteeringConfig::all_present() const {
  SteeringFuses all;
  if (table == nullptr) {
    return all;
  }
  for (size_t i = 0; i < table->groups.size(); ++i) {
    all.present[i] = static_cast<uint32_t>(low_mask(table->groups[i].instances));
  }
  all.slices = static_cast<uint32_t>(low_mask(table->slices));
  return all;
}

void SteeringConfig::set_fuse(std::string_view group_name, uint32_t fuse) {
  for (size_t i = 0; table != nullptr && i < table->groups.size(); ++i) {
    const spec::ReplicationGroup& group = table->groups[i];
    if (group.name != group_name || group.sense == spec::FuseSense::none) {
      continue;
    }
    fuses.present[i] = 0;
    for (unsigned instance = 0; instance < group.instances; ++instance) {
      const bool set = bit(fuse, instance % group.fuse_bits);
      if (set == (group.sense == spec::FuseSense::enable)) {
        fuses.present[i] |= 1u << instance;
      }
    }
  }
}

Steering::Steering(SteeringConfig config) : config_(config) {
  reset();
}

void Steering::reset() {
  state_ = {};
  if (config_.table != nullptr) {
    for (size_t i = 0; i < config_.table->selectors.size(); ++i) {
      state_.selectors[i] = config_.table->selector_reset;
    }
  }
}

std::optional<size_t> Steering::group_of(uint32_t offset) const {
  const spec::MmioRange* row = config_.ranges != nullptr ? config_.ranges->find(offset) : nullptr;
  if (row == nullptr || row->replication.empty()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < config_.table->groups.size(); ++i) {
    if (config_.table->groups[i].name == row->replication) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<size_t> Steering::selector_at(uint32_t offset) const {
  for (size_t i = 0; config_.table != nullptr && i < config_.table->selectors.size(); ++i) {
    if (config_.table->selectors[i].offset == offset) {
      return i;
    }
  }
  return std::nullopt;
}

// Returns the selector of the offset's group, else the general selector of this origin.
std::optional<size_t> Steering::selector_for(uint32_t offset, SelectorOrigin origin) const {
  const auto group = group_of(offset);
  std::optional<size_t> general;
  for (size_t i = 0; config_.table != nullptr && i < config_.table->selectors.size(); ++i) {
    const spec::SteeringSelector& selector = config_.table->selectors[i];
    if (selector.origin != origin) {
      continue;
    }
    if (selector.endpoints.empty()) {
      general = i;
    } else if (group && selector.endpoints == config_.table->groups[*group].name) {
      return i;
    }
  }
  return general;
}

SteeringSelection Steering::decode(uint32_t value) const {
  const auto field = [&](spec::BitRange range, uint8_t absent) {
    return range.present ? static_cast<uint8_t>(bits(value, range.high, range.low)) : absent;
  };
  return {.multicast = field(config_.table->multicast, 1) != 0,
          .slice = field(config_.table->slice, 0),
          .subslice = field(config_.table->subslice, 0)};
}

SteeringSelection Steering::selection(uint32_t offset, SelectorOrigin origin) const {
  const auto index = selector_for(offset, origin);
  return index ? decode(state_.selectors[*index]) : SteeringSelection{};
}

unsigned Steering::copies_of(uint32_t offset) const {
  if (config_.table == nullptr) {
    return 1;
  }
  const auto group = group_of(offset);
  const unsigned instances = group ? config_.table->groups[*group].instances : 1u;
  const bool in_slice = config_.slice_ranges != nullptr && config_.slice_ranges->find(offset) != nullptr;
  return instances * (in_slice ? config_.table->slices : 1u);
}

SteeringTargets Steering::targets(uint32_t offset, bool is_write, SelectorOrigin origin) const {
  const unsigned copies = copies_of(offset);
  const bool in_slice = config_.slice_ranges != nullptr && config_.slice_ranges->find(offset) != nullptr;
  const auto group = group_of(offset);
  if (!group && !in_slice) {
    return {};
  }
  const unsigned instances = group ? config_.table->groups[*group].instances : 1u;
  const uint64_t instances_here = group ? config_.fuses.present[*group] & low_mask(instances) : 1u;
  const unsigned slices = in_slice ? config_.table->slices : 1u;

  // All copies that are not fused off.
  uint64_t present = 0;
  for (unsigned slice = 0; slice < slices; ++slice) {
    if (!in_slice || bit(config_.fuses.slices, slice)) {
      present |= instances_here << (slice * instances);
    }
  }

  const SteeringSelection chosen = selection(offset, origin);
  SteeringTargets result{.copies = present, .replicated = copies > 1};
  if (is_write && chosen.multicast) {
    return result;
  }
  // A read, or a write to one copy. If there is only one slice or instance, its number is ignored.
  const unsigned slice = slices > 1 ? chosen.slice : 0u;
  const unsigned instance = instances > 1 ? chosen.subslice : 0u;
  const bool exists = slice < slices && instance < instances;
  result.copies = exists ? present & (uint64_t{1} << (slice * instances + instance)) : 0;
  return result;
}

bool Steering::is_selector(uint32_t offset) const {
  return selector_at(offset).has_value();
}

void Steering::write_selector(uint32_t offset, uint32_t value) {
  if (const auto index = selector_at(offset)) {
    state_.selectors[*index] = value;
  }
}

uint32_t Steering::read_selector(uint32_t offset) const {
  const auto index = selector_at(offset);
  return index ? state_.selectors[*index] : 0;
}

std::optional<uint32_t> Steering::fuse_reflection(uint32_t offset) const {
  std::optional<uint32_t> value;
  for (size_t i = 0; config_.table != nullptr && i < config_.table->groups.size(); ++i) {
    const spec::ReplicationGroup& group = config_.table->groups[i];
    if (group.sense == spec::FuseSense::none || group.fuse_register != offset) {
      continue;
    }
    const uint32_t present = config_.fuses.present[i];
    const uint32_t shown = group.sense == spec::FuseSense::enable ? present : ~present;
    value = value.value_or(0) | (shown & static_cast<uint32_t>(low_mask(group.instances))) << group.fuse_first_bit;
  }
  return value;
}

}  // namespace halogen::mmio
