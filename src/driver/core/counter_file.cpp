#include "driver/core/counter_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/json.h"
#include "device/device.h"

namespace halogen::driver {
namespace {

// Counts are whole numbers; shares have four digits.
std::string number(double value) {
  constexpr double kWhole = 1e15;
  return std::floor(value) == value && value < kWhole ? fmt::format("{:.0f}", value) : fmt::format("{:.4f}", value);
}

std::string context_name(const oa::ContextTag& context) {
  return context.valid ? fmt::format("{:#x}", context.id()) : std::string();
}

std::string column(const oa::Metric& metric) {
  return fmt::format("{} ({})", metric.symbol, metric.unit);
}

class CsvFile final : public CounterFile {
 public:
  CsvFile(const oa::MetricSet& set, std::string file, const oa::EuArray& array, uint64_t period_ns)
      : CounterFile(set, std::move(file), array, period_ns) {}

 private:
  Result<void> begin() override {
    text_ = "time (ns),context";
    for (const oa::Metric& metric : set_.metrics) text_ += "," + column(metric);
    text_ += "\n";
    return append(O_CREAT | O_TRUNC);
  }

  void add(const oa::Sample& sample) override {
    std::string row = fmt::format("{},{}", sample.end_ns, context_name(sample.context));
    for (const oa::Metric& metric : set_.metrics) row += "," + number(value_of(metric, sample));
    text_ += row + "\n";  // whole rows only, also if memory runs out
  }

  Result<void> write() override { return append(0); }

  Result<void> append(int flags) {
    const std::string text = std::exchange(text_, {});
    std::string_view rest = text;
    if (rest.empty()) return {};
    const int descriptor = open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
    if (descriptor < 0) return Error{fmt::format("{}: {}", file_, std::strerror(errno))};
    int error = 0;
    while (!rest.empty() && error == 0) {
      const ssize_t part = ::write(descriptor, rest.data(), rest.size());
      if (part > 0) rest.remove_prefix(static_cast<size_t>(part));
      if (part <= 0 && errno != EINTR) error = part == 0 ? ENOSPC : errno;
    }
    close(descriptor);
    if (error != 0) return Error{fmt::format("{}: {}", file_, std::strerror(error))};
    return {};
  }

  std::string text_;
};

// A counter has an event where its value changes. A bar of the track "context" shows how long a context counts.
class TrackFile final : public CounterFile {
 public:
  TrackFile(const oa::MetricSet& set, std::string file, const oa::EuArray& array, uint64_t period_ns,
            std::string_view device)
      : CounterFile(set, file, array, period_ns), trace_(std::move(file)), device_(device) {}

 private:
  static constexpr unsigned kContexts = 1;

  Result<void> begin() override {
    if (FILE* const fresh = std::fopen(file_.c_str(), "we"); fresh != nullptr) std::fclose(fresh);
    values_.assign(set_.metrics.size(), std::string("none"));
    trace_.add_process_name(device_);
    trace_.add_track_name(kContexts, "context");
    return trace_.flush();
  }

  void add(const oa::Sample& sample) override {
    for (size_t index = 0; index < values_.size(); ++index) {
      put(index, sample.begin_ns, number(value_of(set_.metrics[index], sample)));
    }
    if (sample.context != context_ || sample.begin_ns != until_ns_) {
      end_bar();
      context_ = sample.context;
      since_ns_ = sample.begin_ns;
    }
    until_ns_ = sample.end_ns;
  }

  void put(size_t index, uint64_t time_ns, std::string value) {
    if (values_[index] == value) return;
    trace_.add(fmt::format(R"("name":{},"ph":"C","ts":{},"args":{{"value":{}}})",
                           json_quote(column(set_.metrics[index])), TraceFile::microseconds(time_ns), value));
    values_[index] = std::move(value);
  }

  void end_bar() {
    if (context_.valid && until_ns_ > since_ns_) {
      trace_.add(fmt::format(R"("name":"{}","ph":"X","ts":{},"dur":{},"tid":{})", context_name(context_),
                             TraceFile::microseconds(since_ns_), TraceFile::microseconds(until_ns_ - since_ns_),
                             kContexts));
    }
    since_ns_ = until_ns_;
  }

  Result<void> write() override { return trace_.flush(); }

  void end() override {
    end_bar();
    for (size_t index = 0; index < values_.size(); ++index) put(index, until_ns_, "0");
  }

  TraceFile trace_;
  std::string_view device_;
  std::vector<std::string> values_;  // the last ones
  oa::ContextTag context_;
  uint64_t since_ns_ = 0;
  uint64_t until_ns_ = 0;
};

std::string names_of(std::span<const oa::MetricSet> sets) {
  std::string names;
  for (const oa::MetricSet& set : sets) names += (names.empty() ? "" : ", ") + std::string(set.name);
  return names;
}

std::string devices_with_counters() {
  std::string names;
  for (const spec::DeviceModel& each : spec::device_models()) {
    if (!oa::metric_sets(each).empty()) names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return names;
}

}  // namespace

bool is_track_file(std::string_view name) {
  return name.ends_with(".json") || name.ends_with(".perfetto-trace");
}

Result<const oa::MetricSet*> check_counters(const spec::DeviceModel& model, const CounterFileOptions& options) {
  if (oa::metric_sets(model).empty()) {
    return Error{
        fmt::format("{} has no performance counters; these devices have: {}.", model.name, devices_with_counters())};
  }
  const oa::MetricSet* const set = oa::find_metric_set(model, options.set);
  if (set == nullptr) {
    return Error{fmt::format("unknown metric set \"{}\"; {} has {}.", options.set, model.name,
                             names_of(oa::metric_sets(model)))};
  }
  if (options.period_ns < kShortestPeriod_ns || options.period_ns > kLongestPeriod_ns) {
    return Error{fmt::format("period {} ns is not in the range from {} to {} ns.", options.period_ns,
                             kShortestPeriod_ns, kLongestPeriod_ns)};
  }
  return set;
}

Result<std::unique_ptr<CounterFile>> CounterFile::create(const spec::DeviceModel& model,
                                                         const CounterFileOptions& options) {
  const Result<const oa::MetricSet*> set = check_counters(model, options);
  if (!set) return set.error();
  const oa::EuArray array = oa::EuArray::of(model.topology);
  std::unique_ptr<CounterFile> made;
  if (options.tracks) {
    made = std::make_unique<TrackFile>(**set, options.file, array, options.period_ns, model.name);
  } else {
    made = std::make_unique<CsvFile>(**set, options.file, array, options.period_ns);
  }
  if (const Result<void> begun = made->begin(); !begun) return Error{begun.message() + "."};
  return made;
}

CounterFile::CounterFile(const oa::MetricSet& set, std::string file, const oa::EuArray& array, uint64_t period_ns)
    : set_(set),
      file_(std::move(file)),
      array_(array),
      sampler_(set.events, period_ns, [this](const oa::Sample& sample) { add(sample); }) {}

void CounterFile::attach(device::Device& device) {
  device.observation().unit().set_sampler(&sampler_);
}

void CounterFile::detach(device::Device& device) {
  finish();
  device.observation().unit().set_sampler(nullptr);
}

void CounterFile::flush(bool idle) {
  if (idle) sampler_.settle();
  if (failed_) return;
  if (const Result<void> done = write(); !done) {
    failed_ = true;
    std::fprintf(stderr, "halogen: %s; no more counters are written.\n", done.message().c_str());
  }
}

void CounterFile::finish() {
  sampler_.finish();
  end();
  flush(/*idle=*/true);
}

}  // namespace halogen::driver
