// --counters of `halogen run`: a metric set sampled over the run.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "driver/core/counter_file.h"
#include "reports.h"
#include "settings.h"

namespace halogen::cli {

inline void add_counters_option(CLI::App& command, driver::CounterFileOptions& options) {
  CLI::Option* const file =
      command
          .add_option("--counters", options.file,
                      "sample performance counters to a file: CSV, or tracks for Perfetto if the name ends in .json; "
                      "further processes append .PID")
          ->type_name("FILE");
  command.add_option("--counters-set", options.set, "metric set; halogen counters lists them (default: RenderBasic)")
      ->type_name("NAME")
      ->needs(file);
  command
      .add_option("--counters-period", options.period_ns,
                  "virtual time between two samples in ns, from 100 to 10000000000 (default: 100000)")
      ->check(CLI::Range(driver::kShortestPeriod_ns, driver::kLongestPeriod_ns))
      ->type_name("NS")
      ->needs(file);
}

// Checks the options and creates the file, which stays as it is if the program opens no device.
inline Result<void> begin_counters(const spec::DeviceModel& model, const driver::CounterFileOptions& options) {
  if (options.file.empty()) return {};
  if (const auto set = driver::check_counters(model, options); !set) return Error{"--counters: " + set.message()};
  driver::CounterFileOptions file = options;
  file.tracks = driver::is_track_file(options.file);
  const auto made = driver::CounterFile::create(model, file);
  return made ? Result<void>{} : made.error();
}

inline void set_counters_environment(const driver::CounterFileOptions& options) {
  if (options.file.empty()) {
    unsetenv(shim::kCountersVariable);
    return;
  }
  setenv(shim::kCountersVariable, std::filesystem::absolute(options.file).c_str(), 1);
  setenv(shim::kCountersSetVariable, options.set.c_str(), 1);
  setenv(shim::kCountersPeriodVariable, std::to_string(options.period_ns).c_str(), 1);
}

}  // namespace halogen::cli
