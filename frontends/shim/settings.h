// What `halogen run` and the preload library say to each other: variables of the program's environment.
#pragma once

#include "spec/device_model.h"

namespace halogen::shim {

constexpr char kDeviceVariable[] = "HALOGEN_DEVICE";  // without it the library does nothing
constexpr char kTreeVariable[] = "HALOGEN_TREE";      // the folder with /dev/dri and /sys; left out: one of its own
constexpr char kReportVariable[] = "HALOGEN_REPORT";
constexpr char kTraceVariable[] = "HALOGEN_TRACE";
constexpr char kEventsVariable[] = "HALOGEN_EVENTS";
constexpr char kFramesVariable[] = "HALOGEN_FRAMES";      // a folder
constexpr char kThreadsVariable[] = "HALOGEN_THREADS";    // of the host; left out: one a processor
constexpr char kExecutorVariable[] = "HALOGEN_EXECUTOR";  // a name of eu::kExecutorNames; left out: interpreter
constexpr char kHangVariable[] = "HALOGEN_HANG_MS";       // how long a batch may do nothing

constexpr char kClockVariable[] = "HALOGEN_CLOCK";  // "device": time passes only while the device works

constexpr char kRecordedFile[] = "recorded";  // in that folder: a line for each trace; "! " before what went wrong

// A trace has no place for a table that lies outside the registers.
inline bool can_record(const spec::DeviceModel& model) {
  return model.gtt_offset != 0;
}

}  // namespace halogen::shim
