// A folder that holds /dev/dri and the parts of /sys that tell of a graphics device, as real files: what a program sees
// there comes from the device's configuration space. Nodes are empty files; opening one is the library's work.
// Left out: metrics of perf, what power management and hot plug would show; clock frequencies are one set for all.
#pragma once

#include <string>

#include "base/result.h"
#include "spec/device_model.h"

namespace halogen::shim {

// Below `root`, which exists.
Result<void> make_tree(const spec::DeviceModel& model, const std::string& root);
// A descriptor by which the tree is in use; when nobody has one the next run removes the tree. -1: cannot be had.
int hold_tree(const std::string& root);
// A new private folder with the tree of a device. Folders of runs that were killed go.
Result<std::string> make_private_tree(const spec::DeviceModel& model);
void remove_unused_tree(const std::string& root);  // nobody has such a descriptor

}  // namespace halogen::shim
