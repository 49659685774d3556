// Metric sets: lists of register values that choose what the counters count. Programs add and remove them by number;
// each has a uuid. Sets belong to the device: with a folder (config_folder.h), all programs of a run share them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/perf/config_folder.h"
#include "driver/queue/first_state.h"

namespace halogen::driver {

struct PerfConfig {
  static constexpr size_t kUuidBytes = 36;
  uint32_t id = 0;
  std::string uuid;
  std::vector<RegisterValue> mux;
  std::vector<RegisterValue> boolean;
  std::vector<RegisterValue> flexible;
};
using PerfConfigRef = std::shared_ptr<const PerfConfig>;

// Returns whether the text is 8-4-4-4-12 hexadecimal digits.
bool is_uuid(std::string_view text);

class PerfConfigs {
 public:
  static constexpr uint32_t kTestId = 1;  // listed, but never found
  static constexpr uint32_t kFirstId = 2;

  explicit PerfConfigs(ConfigFolder folder) : folder_(std::move(folder)) {}

  // Adds a set under the lowest free number. Returns it, -EADDRINUSE if the uuid is known, or -ENOMEM.
  int add(PerfConfig config);
  int remove(uint64_t id);  // 0 or -ENOENT
  PerfConfigRef find(uint64_t id);
  PerfConfigRef find(std::string_view uuid);
  std::vector<uint64_t> ids();  // with kTestId, ascending

 private:
  void refresh();

  ConfigFolder folder_;
  std::map<uint32_t, PerfConfigRef> all_;
};

}  // namespace halogen::driver
