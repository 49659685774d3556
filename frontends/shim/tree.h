// A folder with /dev/dri and the parts of /sys about a graphics device, as real files. Their content comes from the
// device's configuration space. Nodes are empty files; the library handles opening them. Not included: power management
// and hot plug.
#pragma once

#include <string>

#include "base/result.h"
#include "spec/device_model.h"

namespace halogen::shim {

// Folders of metric sets: the numbers that programs read, and the registers.
constexpr char kMetricsFolder[] = "/sys/class/drm/card0/metrics";
constexpr char kMetricRegisters[] = "/metric-registers";
constexpr char kLoadFile[] = "/load";  // what devices have done, for monitors (driver/perf/load_page.h)

// Creates the tree below `root`, which must exist.
Result<void> make_tree(const spec::DeviceModel& model, const std::string& root);
// Returns a descriptor that marks the tree as used; the next run removes unused trees. -1: not possible.
int hold_tree(const std::string& root);
// Creates a private folder with the tree of a device. Removes folders of runs that were killed.
Result<std::string> make_private_tree(const spec::DeviceModel& model);
void remove_unused_tree(const std::string& root);  // if it has no user

}  // namespace halogen::shim
