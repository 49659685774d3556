// Files of /sys below card0 about engines, clocks and the screen: relative paths and content.
#pragma once

#include <string>
#include <vector>

#include "spec/device_model.h"

namespace halogen::shim {

// An engine as programs name it.
struct UserEngine {
  const spec::EngineModel* model = nullptr;
  unsigned user_class = 0;
  unsigned instance = 0;  // among those of the class that the driver offers
  int capabilities = 0;
  std::string name;
};
// Returns the engines in the order of the user interface: by class, then by instance.
std::vector<UserEngine> user_engines(const spec::DeviceModel& model);

// Returns the address on the bus. A discrete board sits behind a bridge, integrated graphics at its fixed address.
std::string pci_slot(const spec::DeviceModel& model);

struct TreeFile {
  std::string path;
  std::string text;
};

constexpr char kConnectorName[] = "card0-HDMI-A-1";

std::vector<TreeFile> engine_files(const spec::DeviceModel& model);  // engine/
std::vector<TreeFile> pmu_files(const spec::DeviceModel& model);
std::vector<TreeFile> clock_files(const spec::DeviceModel& model);  // gt_*, gt/gt0/
std::vector<TreeFile> connector_files();                            // of the connector's own folder

}  // namespace halogen::shim
