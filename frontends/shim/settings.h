// Environment variables through which `halogen run` configures the preload library.
#pragma once

#include "spec/device_model.h"

namespace halogen::shim {

constexpr char kDeviceVariable[] = "HALOGEN_DEVICE";  // without it the library does nothing
constexpr char kTreeVariable[] = "HALOGEN_TREE";      // the folder with /dev/dri and /sys; unset: a private one
constexpr char kReportVariable[] = "HALOGEN_REPORT";
constexpr char kTraceVariable[] = "HALOGEN_TRACE";
constexpr char kEventsVariable[] = "HALOGEN_EVENTS";
constexpr char kCountersVariable[] = "HALOGEN_COUNTERS";
constexpr char kCountersSetVariable[] = "HALOGEN_COUNTERS_SET";        // unset: the usual one
constexpr char kCountersPeriodVariable[] = "HALOGEN_COUNTERS_PERIOD";  // in nanoseconds of virtual time
constexpr char kFramesVariable[] = "HALOGEN_FRAMES";                   // a folder
constexpr char kThreadsVariable[] = "HALOGEN_THREADS";                 // of the host; unset: one per CPU
constexpr char kRulesVariable[] = "HALOGEN_CHECK_RULES";               // 1: DeviceOptions::check_rules
constexpr char kExecutorVariable[] = "HALOGEN_EXECUTOR";  // a name of eu::kExecutorNames; unset: interpreter
constexpr char kHangVariable[] = "HALOGEN_HANG_MS";       // time until a batch counts as hung; 0: never

constexpr char kClockVariable[] = "HALOGEN_CLOCK";  // "device": time passes only while the device works

constexpr char kRecordedFile[] = "recorded";  // in the recording folder: one line per trace; "! " marks an error

// Recording needs a global table within the registers.
inline bool can_record(const spec::DeviceModel& model) {
  return model.gtt_offset != 0;
}

}  // namespace halogen::shim
