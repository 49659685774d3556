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
#include "pmu_events.h"
#include "spec/interface_model.h"

namespace halogen::shim {
namespace {

constexpr unsigned kMinFrequency = 300;  // MHz

std::string words_of(int capabilities) {
  std::string words;
  for (const auto& [bit, word] : {std::pair(1, "hevc"), std::pair(2, "sfc")}) {
    if ((capabilities & bit) != 0) words += (words.empty() ? "" : " ") + std::string(word);
  }
  return words;
}

}  // namespace

std::vector<UserEngine> user_engines(const spec::DeviceModel& model) {
  constexpr std::array kNames = {"rcs", "bcs", "vcs", "vecs", "ccs"};  // by class number
  std::vector<UserEngine> engines;
  const std::span<const int8_t> capabilities = spec::interface_of(model.id).engines;
  for (size_t i = 0; i < model.engines.size() && i < capabilities.size(); ++i) {
    const unsigned user_class = driver::user_class(model.engines[i].engine_class);
    if (capabilities[i] < 0 || user_class >= kNames.size()) continue;
    engines.push_back({&model.engines[i], user_class, model.engines[i].instance, capabilities[i], {}});
  }
  std::sort(engines.begin(), engines.end(), [](const UserEngine& one, const UserEngine& two) {
    return std::tuple(one.user_class, one.instance) < std::tuple(two.user_class, two.instance);
  });
  std::array<unsigned, kNames.size()> counts{};
  for (UserEngine& each : engines) {
    each.instance = counts[each.user_class]++;
    each.name = fmt::format("{}{}", kNames[each.user_class], each.instance);
  }
  return engines;
}

std::string pci_slot(const spec::DeviceModel& model) {
  return spec::interface_of(model.id).discrete ? "0000:03:00.0" : "0000:00:02.0";
}

// Returns the files of the engines. They hold the default times of Linux, which are fixed here.
std::vector<TreeFile> engine_files(const spec::DeviceModel& model) {
  constexpr std::array kKnown = {0, 0, 3, 2, 0};  // possible capabilities, by class number
  std::vector<TreeFile> files;
  for (const UserEngine& each : user_engines(model)) {
    const auto add = [&](const char* file, const auto& value) {
      files.push_back({fmt::format("engine/{}/{}", each.name, file), fmt::format("{}\n", value)});
    };
    add("name", each.name);
    add("class", each.user_class);
    add("instance", each.instance);
    add("mmio_base", fmt::format("{:#x}", each.model->mmio_base));
    for (const auto& [file, bits] :
         {std::pair("capabilities", each.capabilities), std::pair("known_capabilities", kKnown[each.user_class])}) {
      files.push_back({fmt::format("engine/{}/{}", each.name, file), bits == 0 ? "" : words_of(bits) + "\n"});
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

// Returns the files of the PMU, in its folder.
std::vector<TreeFile> pmu_files(const spec::DeviceModel& model) {
  std::vector<TreeFile> files = {{"type", fmt::format("{}\n", kPmuType)},
                                 {"cpumask", fmt::format("{}\n", kPmuCpu)},
                                 {"perf_event_mux_interval_ms", "4\n"},
                                 {"uevent", ""},
                                 {"format/i915_eventid", "config:0-20\n"}};
  for (const PmuEvent& each : pmu_events(model)) {
    files.push_back({"events/" + each.name, fmt::format("config={:#x}\n", each.config)});
    if (*each.unit != '\0') files.push_back({"events/" + each.name + ".unit", fmt::format("{}\n", each.unit)});
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
