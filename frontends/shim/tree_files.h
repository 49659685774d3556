// Files of /sys below card0 about engines, clocks and the screen: relative paths and content.
#pragma once

#include <string>
#include <vector>

#include "spec/device_model.h"

namespace halogen::shim {

struct TreeFile {
  std::string path;
  std::string text;
};

constexpr char kConnectorName[] = "card0-HDMI-A-1";

std::vector<TreeFile> engine_files(const spec::DeviceModel& model);  // engine/
std::vector<TreeFile> clock_files(const spec::DeviceModel& model);   // gt_*, gt/gt0/
std::vector<TreeFile> connector_files();                             // of the connector's own folder

}  // namespace halogen::shim
