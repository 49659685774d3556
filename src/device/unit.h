// The lists by which a device drives its units. A new unit is a member of Device, a field of DeviceState if it has
// state, and one entry in Device::list_units. An empty function is not called.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/fidelity.h"

namespace halogen::device {

enum class ResetKind : uint8_t;
struct DeviceState;

struct Unit {
  std::function<void(ResetKind kind)> reset{};  // of the function
  std::function<void()> refresh{};              // registers were reset without calls of their handlers
  std::function<void(FidelityReport& report)> report{};
  std::function<void(DeviceState& state)> snapshot{};
  std::function<void(const DeviceState& state)> restore{};
};

// A unit with events of its own in virtual time.
struct TimedUnit {
  std::function<std::optional<uint64_t>()> next_event{};   // a slice of the engines ends there
  std::function<std::optional<uint64_t>()> deadline{};     // a jump over idle time ends there
  std::function<void()> pass_idle_time{};                  // time passed, and no engine worked
  std::function<void(uint64_t nanoseconds)> advance_to{};  // called after each slice
};

// Returns the entry of a part that has some of reset(), refresh() and report(FidelityReport&).
template <class Part>
Unit unit_of(Part& part) {
  Unit unit;
  if constexpr (requires { part.reset(); }) {
    unit.reset = [&part](ResetKind) { part.reset(); };
  }
  if constexpr (requires { part.refresh(); }) {
    unit.refresh = [&part] { part.refresh(); };
  }
  if constexpr (requires(FidelityReport report) { part.report(report); }) {
    unit.report = [&part](FidelityReport& report) { part.report(report); };
  }
  return unit;
}

// The same for a part with restore() and snapshot() or state(), whose state is a field of DeviceState.
template <class Part, class State>
Unit unit_of(Part& part, State DeviceState::*field) {
  Unit unit = unit_of(part);
  unit.snapshot = [&part, field](DeviceState& state) {
    if constexpr (requires { part.snapshot(); }) {
      state.*field = part.snapshot();
    } else {
      state.*field = part.state();
    }
  };
  unit.restore = [&part, field](const DeviceState& state) { part.restore(state.*field); };
  return unit;
}

}  // namespace halogen::device
