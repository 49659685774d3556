// How the performance counters of a generation are divided, and which configurations of its signal network are known.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

struct ObservationRules {
  spec::GenMask gens;
  bool exists;
  // Two units: a global one with buffer and timer, and one of the render engine whose counters belong to contexts.
  bool split;
  // A0 counts every engine, also while it waits. Else: the render engine, without waits and context switches.
  bool busy_counts_all;
  // A1 to A6 count pairs of threads that share an EU's control logic. The model counts threads.
  bool counts_fused_threads;
  // Unit of the clocks in the first dword of reports in Hz. 0: reports have no clocks.
  uint32_t report_clock_hz;
  bool network_enable_in_power_unit;  // RPM_CONFIG1, else GDT_CHICKEN_BITS
  bool high_address;                  // the buffer may be above 4 GB, in per-process tables
  bool frequency_reports;             // a change of the frequency writes a report, also one to the same frequency
};

const ObservationRules& observation_rules(spec::GenId gen);

// A write to the port of the signal network.
struct NetworkWrite {
  enum class Port : uint8_t { select, word };
  Port port;
  uint32_t value;
};

// Continues the hash of a list of writes with one more.
constexpr uint64_t kNetworkHashStart = 0xcbf2'9ce4'8422'2325;
constexpr uint64_t network_hash(uint64_t hash, NetworkWrite write) {
  for (const uint32_t part : {static_cast<uint32_t>(write.port), write.value}) {
    hash = (hash ^ part) * 0x100'0000'01b3;
  }
  return hash;
}

// The lanes that a list of writes makes: bit n of a mask is lane n, which is then asserted in every clock.
struct NetworkLanes {
  spec::DeviceMask devices;
  uint64_t hash;
  uint16_t lanes;          // of the unit with the buffer
  uint16_t context_lanes;  // of the render engine's own unit
};

// Null: the list is not known. The source of the lists is in observation_rules.cpp.
const NetworkLanes* find_network(spec::DeviceId device, uint64_t hash);

}  // namespace halogen
