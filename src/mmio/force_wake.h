// Force wake: the power domain of an MMIO offset, the requests that keep it awake, and the result of an access to a
// sleeping domain. DG1 PRM vol. 13, "Force Wake and Steering Table" (seed 000). Covers the request and acknowledge
// registers of every device with a wake table (spec/tables/). Not modelled: the time that a domain needs to wake, and
// the FIFO of posted writes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "spec/domain_tables.h"

namespace halogen::mmio {

// A wake domain of one device: an index into its configuration.
struct WakeDomain {
  uint8_t index = 0;
  constexpr bool operator==(const WakeDomain&) const = default;
};

// The result of an access to an offset.
enum class Reach : uint8_t {
  ok,           // an endpoint that is awake, or an offset outside the tables
  asleep,       // the endpoint's domain sleeps: writes are dropped, reads return kTerminatedRead
  no_endpoint,  // no endpoint: writes are dropped, reads return kTerminatedRead
};

// The value of a terminated read. The manual calls it a dummy completion and gives no value.
inline constexpr uint32_t kTerminatedRead = 0;

inline constexpr size_t kMaxWakePorts = 16;
inline constexpr size_t kMaxWakeDomains = 16;

// Request bits of the masked registers.
inline constexpr uint32_t kWakeKernel = 1u << 0;
inline constexpr uint32_t kWakeUser = 1u << 1;
inline constexpr uint32_t kWakeKernelFallback = 1u << 15;

// Configuration: the tables of one device, with domain names resolved to indices. Immutable.
class ForceWakeConfig {
 public:
  // A device without a wake table has no domains: everything is reachable.
  static ForceWakeConfig for_device(spec::DeviceId device);
  ForceWakeConfig(const spec::WakeTable* wake, const spec::RangeTable* ranges);

  std::optional<WakeDomain> find(std::string_view name) const;
  std::string_view name(WakeDomain domain) const { return names_[domain.index]; }
  size_t domain_count() const { return domain_count_; }
  uint32_t domains_in(std::string_view joined) const;  // "render|media" as bits
  WakeDomain port_domain(size_t port) const { return port_domains_[port]; }

  const spec::WakeTable* wake() const { return wake_; }
  const spec::RangeTable* ranges() const { return ranges_; }

 private:
  const spec::WakeTable* wake_ = nullptr;
  const spec::RangeTable* ranges_ = nullptr;
  std::array<std::string_view, kMaxWakeDomains> names_{};
  std::array<WakeDomain, kMaxWakePorts> port_domains_{};
  size_t domain_count_ = 0;
};

// The state, as plain data.
struct ForceWakeState {
  std::array<uint32_t, kMaxWakePorts> requests{};    // value of each request register
  std::array<uint32_t, kMaxWakeDomains> internal{};  // bit n: holder n inside the device (a busy engine)
  bool power_gating = true;                          // false: domains never sleep (RC6 and power gating are off)
  bool operator==(const ForceWakeState&) const = default;
};

class ForceWake {
 public:
  explicit ForceWake(ForceWakeConfig config) : config_(config) {}

  // Returns the domain that must be awake for `offset`. No value: always on, without endpoint or not in the table. If
  // several must be awake, returns the first; domains_of has all (bit n: domain n).
  std::optional<WakeDomain> domain_of(uint32_t offset) const;
  uint32_t domains_of(uint32_t offset) const;
  std::optional<WakeDomain> domain_named(std::string_view name) const { return config_.find(name); }
  bool awake(WakeDomain domain) const;

  // Returns the result of an access to `offset` from outside the GT. On chips whose table says so, a write wakes its
  // domain by itself. Request, acknowledge and shadow registers are always reachable; offsets beyond the range table
  // give Reach::ok.
  Reach reach(uint32_t offset, bool is_write) const;
  bool is_shadow(uint32_t offset) const;

  bool is_request(uint32_t offset) const;
  bool is_ack(uint32_t offset) const;
  void write_request(uint32_t offset, uint32_t value);  // ignored if `offset` is not a request register
  uint32_t read(uint32_t offset) const;                 // a request or acknowledge register, else 0

  // Holders inside the device: an engine keeps its own domain awake while it runs. `holder` is 0..31.
  void hold(WakeDomain domain, unsigned holder);
  void release(WakeDomain domain, unsigned holder);

  void reset();  // device reset: drops all requests and holders; power_gating is unchanged

  const ForceWakeConfig& config() const { return config_; }
  const ForceWakeState& state() const { return state_; }
  ForceWakeState& state() { return state_; }

 private:
  ForceWakeConfig config_;
  ForceWakeState state_;
};

}  // namespace halogen::mmio
