// Samples a metric set of the device over a run and writes it to a file: comma-separated values with a row for each
// sample, or counter tracks of trace events if the name ends in .json or .perfetto-trace. Times are the device's
// virtual time. Whatever was sampled is in the file after each step of the driver, so that the file of a program that
// is killed lacks the last period and work that was not complete. Not thread-safe: callers hold the driver's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/core/trace_file.h"
#include "oa/metrics.h"
#include "oa/sampler.h"
#include "spec/device_model.h"

namespace halogen::device {
class Device;
}

namespace halogen::driver {

// Limits of the period, in nanoseconds of virtual time.
inline constexpr uint64_t kShortestPeriod_ns = 100, kLongestPeriod_ns = 10'000'000'000, kUsualPeriod_ns = 100'000;

struct CounterFileOptions {
  std::string file;
  bool tracks = false;  // trace events, else comma-separated values
  std::string set;      // empty: the usual one
  uint64_t period_ns = kUsualPeriod_ns;
};

// Returns whether a file with this name gets tracks.
bool is_track_file(std::string_view name);
// Returns the metric set, or what is wrong with the options for this device.
Result<const oa::MetricSet*> check_counters(const spec::DeviceModel& model, const CounterFileOptions& options);

class CounterFile {
 public:
  // Creates the file; what it had is lost.
  static Result<std::unique_ptr<CounterFile>> create(const spec::DeviceModel& model, const CounterFileOptions& options);
  virtual ~CounterFile() = default;
  CounterFile(const CounterFile&) = delete;
  CounterFile& operator=(const CounterFile&) = delete;

  // Samples the device from now on, until detach() or the end of the device.
  void attach(device::Device& device);
  void detach(device::Device& device);
  // Writes what was sampled. `idle`: no engine works, so all that was done is sampled.
  void flush(bool idle);
  void finish();  // ends the last sample too

 protected:
  CounterFile(const oa::MetricSet& set, std::string file, const oa::EuArray& array, uint64_t period_ns);

  virtual Result<void> begin() = 0;
  virtual void add(const oa::Sample& sample) = 0;
  virtual Result<void> write() = 0;
  virtual void end() {}
  double value_of(const oa::Metric& metric, const oa::Sample& sample) const {
    return oa::value_of(metric.equation, sample, array_);
  }

  const oa::MetricSet& set_;
  const std::string file_;

 private:
  oa::EuArray array_;
  oa::Sampler sampler_;
  bool failed_ = false;
};

}  // namespace halogen::driver
