// What `halogen run` and the preload library say to each other: variables of the program's environment.
#pragma once

namespace halogen::shim {

constexpr char kDeviceVariable[] = "HALOGEN_DEVICE";  // without it the library does nothing
constexpr char kTreeVariable[] = "HALOGEN_TREE";      // the folder with /dev/dri and /sys; left out: one of its own
constexpr char kReportVariable[] = "HALOGEN_REPORT";
constexpr char kTraceVariable[] = "HALOGEN_TRACE";

}  // namespace halogen::shim
