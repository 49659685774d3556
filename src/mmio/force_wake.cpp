#include "mmio/force_wake.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace halogen::mmio {

ForceWakeConfig ForceWakeConfig::for_device(spec::DeviceId device) {
  const spec::WakeTable* wake = spec::find_wake_table(device);
  return {wake, wake != nullptr ? spec::find_range_table(wake->ranges) : nullptr};
}

ForceWakeConfig::ForceWakeConfig(const spec::WakeTable* wake, const spec::RangeTable* ranges)
    : wake_(wake), ranges_(ranges) {
  if (wake == nullptr) {
    ranges_ = nullptr;
    return;
  }
  check(wake->ports.size() <= kMaxWakePorts, "too many wake ports");
  for (size_t i = 0; i < wake->ports.size(); ++i) {
    const std::string_view domain = wake->ports[i].domain;
    if (!find(domain)) {
      check(domain_count_ < kMaxWakeDomains, "too many wake domains");
      names_[domain_count_++] = domain;
    }
    port_domains_[i] = *find(domain);
  }
}

std::optional<WakeDomain> ForceWakeConfig::find(std::string_view name) const {
  for (size_t i = 0; i < domain_count_; ++i) {
    if (names_[i] == name) {
      return WakeDomain{static_cast<uint8_t>(i)};
    }
  }
  return std::nullopt;
}

uint32_t ForceWakeConfig::domains_in(std::string_view joined) const {
  uint32_t domains = 0;
  while (!joined.empty()) {
    const size_t end = std::min(joined.find('|'), joined.size());
    if (const auto domain = find(joined.substr(0, end))) {
      domains |= 1u << domain->index;
    }
    joined.remove_prefix(std::min(end + 1, joined.size()));
  }
  return domains;
}

uint32_t ForceWake::domains_of(uint32_t offset) const {
  const spec::RangeTable* ranges = config_.ranges();
  const spec::MmioRange* row = ranges != nullptr ? ranges->find(offset) : nullptr;
  return row != nullptr ? config_.domains_in(row->domain) : 0;
}

std::optional<WakeDomain> ForceWake::domain_of(uint32_t offset) const {
  const uint32_t domains = domains_of(offset);
  if (domains == 0) {
    return std::nullopt;
  }
  return WakeDomain{static_cast<uint8_t>(std::countr_zero(domains))};
}

bool ForceWake::awake(WakeDomain domain) const {
  if (domain.index >= config_.domain_count()) {
    return false;
  }
  if (!state_.power_gating || state_.internal[domain.index] != 0) {
    return true;
  }
  const auto ports = config_.wake()->ports;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (config_.port_domain(i) == domain && state_.requests[i] != 0) {
      return true;
    }
  }
  return false;
}

Reach ForceWake::reach(uint32_t offset, bool is_write) const {
  const spec::RangeTable* ranges = config_.ranges();
  const spec::MmioRange* row = ranges != nullptr ? ranges->find(offset) : nullptr;
  if (row == nullptr) {
    return Reach::ok;
  }
  if (row->domain.empty()) {
    return Reach::no_endpoint;
  }
  if (is_write && config_.wake()->writes_wake) {
    return Reach::ok;
  }
  for (uint32_t left = config_.domains_in(row->domain); left != 0; left &= left - 1) {
    if (!awake(WakeDomain{static_cast<uint8_t>(std::countr_zero(left))})) {
      const bool outside_the_domain = is_request(offset) || is_ack(offset) || is_shadow(offset);
      return outside_the_domain ? Reach::ok : Reach::asleep;
    }
  }
  return Reach::ok;
}

bool ForceWake::is_shadow(uint32_t offset) const {
  return config_.wake() != nullptr && std::ranges::any_of(config_.wake()->shadow, [&](const spec::OffsetRange& r) {
           return offset >= r.start && offset <= r.end;
         });
}

bool ForceWake::is_request(uint32_t offset) const {
  return config_.wake() != nullptr &&
         std::ranges::any_of(config_.wake()->ports, [&](const spec::WakePort& p) { return p.request == offset; });
}

bool ForceWake::is_ack(uint32_t offset) const {
  return config_.wake() != nullptr &&
         std::ranges::any_of(config_.wake()->ports, [&](const spec::WakePort& p) { return p.ack == offset; });
}

void ForceWake::write_request(uint32_t offset, uint32_t value) {
  if (config_.wake() == nullptr) {
    return;
  }
  const auto ports = config_.wake()->ports;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].request != offset) {
      continue;
    }
    const uint32_t mask = ports[i].access == spec::Access::masked ? value >> 16 : ~uint32_t{0};
    const uint32_t changed = mask & ports[i].request_bits;
    state_.requests[i] = (state_.requests[i] & ~changed) | (value & changed);
  }
}

uint32_t ForceWake::read(uint32_t offset) const {
  if (config_.wake() == nullptr) {
    return 0;
  }
  // A domain wakes immediately: the acknowledge register mirrors the request.
  const auto ports = config_.wake()->ports;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].request == offset || ports[i].ack == offset) {
      return state_.requests[i];
    }
  }
  return 0;
}

void ForceWake::hold(WakeDomain domain, unsigned holder) {
  check(holder < 32, "holder");
  if (domain.index < config_.domain_count()) {
    state_.internal[domain.index] |= 1u << holder;
  }
}

void ForceWake::release(WakeDomain domain, unsigned holder) {
  check(holder < 32, "holder");
  if (domain.index < config_.domain_count()) {
    state_.internal[domain.index] &= ~(1u << holder);
  }
}

void ForceWake::reset() {
  const bool power_gating = state_.power_gating;
  state_ = {};
  state_.power_gating = power_gating;
}

}  // namespace halogen::mmio
