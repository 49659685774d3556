#include "tree_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <tuple>
#include <utility>

#include "driver/hw/gpu.h"
#include "driver/kms/kms.h"
#include "gen/clock_rules.h"
#include "spec/interface_model.h"

namespace halogen::shim {
namespace {

constexpr unsigned kMinFrequency = 300;  // MHz

struct Engine {
  const spec::EngineModel* model;
  unsigned user_class;
  int capabilities;
};

// Returns the engines in the order of the user interface: by class, then by instance.
std::vector<Engine> engines_of(const spec::DeviceModel& model) {
  std::vector<Engine> engines;
  const std::span<const int8_t> capabilities = spec::interface_of(model.id).engines;
  for (size_t i = 0; i < model.engines.size() && i < capabilities.size(); ++i) {
    if (capabilities[i] < 0) continue;
    engines.push_back({&model.engines[i], driver::user_class(model.engines[i].engine_class), capabilities[i]});
  }
  std::sort(engines.begin(), engines.end(), [](const Engine& one, const Engine& two) {
    return std::tuple(one.user_class, one.model->instance) < std::tuple(two.user_class, two.model->instance);
  });
  return engines;
}

std::string words_of(int capabilities) {
  std::string words;
  for (const auto& [bit, word] : {std::pair(1, "hevc"), std::pair(2, "sfc")}) {
    if ((capabilities & bit) != 0) words += (words.empty() ? "" : " ") + std::string(word);
  }
  return words;
}

}  // namespace

// Returns the files of the engines. They hold the default times of Linux, which are fixed here.
std::vector<TreeFile> engine_files(const spec::DeviceModel& model) {
  constexpr std::array kNames = {"rcs", "bcs", "vcs", "vecs", "ccs"};  // by class number
  constexpr std::array kKnown = {0, 0, 3, 2, 0};                       // possible capabilities of the class
  std::vector<TreeFile> files;
  std::array<unsigned, kNames.size()> counts{};
  for (const Engine& each : engines_of(model)) {
    if (each.user_class >= kNames.size()) continue;
    const unsigned instance = counts[each.user_class]++;
    const std::string name = fmt::format("{}{}", kNames[each.user_class], instance);
    const auto add = [&](const char* file, const auto& value) {
      files.push_back({fmt::format("engine/{}/{}", name, file), fmt::format("{}\n", value)});
    };
    add("name", name);
    add("class", each.user_class);
    add("instance", instance);
    add("mmio_base", fmt::format("{:#x}", each.model->mmio_base));
    for (const auto& [file, bits] :
         {std::pair("capabilities", each.capabilities), std::pair("known_capabilities", kKnown[each.user_class])}) {
      files.push_back({fmt::format("engine/{}/{}", name, file), bits == 0 ? "" : words_of(bits) + "\n"});
    }
    add("max_busywait_duration_ns", 8000);
    add("stop_timeout_ms", 100);
    add("heartbeat_interval_ms", 2500);
    if (spec::interface_of(model.id).preemption) {
      add("timeslice_duration_ms", 1);
      add("preempt_timeout_ms", 640);
    }
  }
  return files;
}

// The clock does not change.
std::vector<TreeFile> clock_files(const spec::DeviceModel& model) {
  const ClockRules& clock = clock_rules(model.id);
  std::vector<TreeFile> files;
  const auto add = [&](std::string path, unsigned value) {
    files.push_back({std::move(path), fmt::format("{}\n", value)});
  };
  const auto add_all = [&](std::initializer_list<const char*> names, unsigned value) {
    for (const char* const name : names) {
      add(fmt::format("gt_{}_freq_mhz", name), value);
      add(fmt::format("gt/gt0/rps_{}_freq_mhz", name), value);
    }
  };
  add_all({"min", "RPn"}, kMinFrequency);
  add_all({"cur", "act"}, clock.render_mhz);
  add_all({"max", "RP0", "RP1", "boost"}, clock.max_mhz);
  add("gt/gt0/id", 0);
  // The model does not sleep.
  for (const char* const folder : {"power", "gt/gt0"}) {
    add(fmt::format("{}/rc6_enable", folder), 0);
    add(fmt::format("{}/rc6_residency_ms", folder), 0);
  }
  return files;
}

std::vector<TreeFile> connector_files() {
  std::string modes;
  for (const drm_mode_modeinfo& mode : driver::Kms::modes()) modes += std::string(mode.name) + "\n";
  return {{"status", "connected\n"},
          {"enabled", "disabled\n"},
          {"dpms", "On\n"},
          {"modes", modes},
          {"edid", ""},
          {"connector_id", fmt::format("{}\n", static_cast<unsigned>(driver::kConnectorId))},
          {"uevent", "DEVTYPE=drm_connector\n"}};
}

}  // namespace halogen::shim
