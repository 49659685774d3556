// halogen counters: lists the metric sets that `halogen run --counters` samples.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "commands.h"
#include "oa/metrics.h"
#include "spec/device_model.h"
#include "stdout_sink.h"

namespace halogen::cli {
namespace {

// Returns the codes of the EU event that a counter of the set counts. Empty: it always counts the same.
std::string event_of(const oa::MetricSet& set, const oa::Equation& equation) {
  const bool flexible = equation.raw == oa::Equation::Raw::a && equation.counter >= oa::kFirstFlexible &&
                        equation.counter < oa::kFirstFlexible + oa::kFlexibleEvents;
  return flexible ? oa::text_of(set.events[equation.counter - oa::kFirstFlexible]) : std::string();
}

std::string row_of(const oa::MetricSet& set, const oa::Metric& metric) {
  const std::string event = event_of(set, metric.equation);
  const std::string equation = oa::text_of(metric.equation) + (event.empty() ? "" : fmt::format(", event {}", event));
  const std::string note = metric.note.empty() ? "" : fmt::format(" ({})", metric.note);
  return fmt::format("  {:<26} {:<9} {:<46} {:<13} {}{}\n", metric.symbol, metric.unit, equation,
                     oa::name_of(metric.accuracy), metric.meaning, note);
}

std::string table_of(const spec::DeviceModel& model) {
  const oa::EuArray array = oa::EuArray::of(model.topology);
  std::string text = fmt::format("{}: {} EUs, {} thread slots\n", model.name, array.eus, array.slots);
  for (const oa::MetricSet& set : oa::metric_sets(model)) {
    text += fmt::format("\n{}: {}\n  {:<26} {:<9} {:<46} {:<13} {}\n", set.name, set.meaning, "counter", "unit",
                        "equation", "accuracy", "what it counts (why it is approximate)");
    for (const oa::Metric& metric : set.metrics) text += row_of(set, metric);
  }
  return text;
}

std::string short_list() {
  std::string text = fmt::format("{:<7} {:<15} {:>8}  {}\n", "device", "metric set", "counters", "what it shows");
  for (const spec::DeviceModel& model : spec::device_models()) {
    for (const oa::MetricSet& set : oa::metric_sets(model)) {
      text += fmt::format("{:<7} {:<15} {:>8}  {}\n", model.name, set.name, set.metrics.size(), set.meaning);
    }
  }
  return text;
}

std::string to_json(const spec::DeviceModel& model) {
  std::vector<std::string> sets;
  for (const oa::MetricSet& set : oa::metric_sets(model)) {
    std::vector<std::string> rows;
    for (const oa::Metric& metric : set.metrics) {
      rows.push_back(
          fmt::format(R"({{"symbol":{},"unit":{},"meaning":{},"equation":{},"event":{},"accuracy":{},"note":{}}})",
                      json_quote(metric.symbol), json_quote(metric.unit), json_quote(metric.meaning),
                      json_quote(oa::text_of(metric.equation)), json_quote(event_of(set, metric.equation)),
                      json_quote(oa::name_of(metric.accuracy)), json_quote(metric.note)));
    }
    sets.push_back(fmt::format(R"({{"name":{},"counters":[{}]}})", json_quote(set.name), fmt::join(rows, ",\n  ")));
  }
  return fmt::format(R"({{"device":{},"sets":[{}]}})", json_quote(model.name), fmt::join(sets, ",\n "));
}

int fail(const std::string& sentence) {
  fmt::print(stderr, "halogen counters: {}\n", sentence);
  return kExitUse;
}

int run(const std::string& device, bool json) {
  const spec::DeviceModel* const model = device.empty() ? nullptr : spec::find_device(device);
  if (!device.empty() && model == nullptr) {
    return fail(fmt::format("unknown device \"{}\"; run \"halogen devices\" for a list.", device));
  }
  if (model != nullptr && oa::metric_sets(*model).empty()) {
    return fail(
        fmt::format("{} has no performance counters; \"halogen counters\" lists the devices that have.", model->name));
  }
  std::string text;
  if (json) {
    std::vector<std::string> rows;
    for (const spec::DeviceModel& each : spec::device_models()) {
      if (model == nullptr ? !oa::metric_sets(each).empty() : &each == model) rows.push_back(to_json(each));
    }
    text = fmt::format("[{}]\n", fmt::join(rows, ",\n "));
  } else {
    text = model == nullptr ? short_list() : table_of(*model);
  }
  StdoutSink sink;
  sink.write(text);
  return sink.finish() ? 0 : kExitUse;
}

}  // namespace

void add_counters(CLI::App& app, int& status) {
  auto device = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("counters", "list the metric sets of a device: counters, equations, accuracy");
  command->add_option("DEVICE", *device, "device name (default: the sets of all devices, without counters)");
  command->add_flag("--json", *json, "print a JSON array of objects");
  command->footer(
      "A0 to A35 are the counters of the observation unit. \"event\" is what a flexible counter counts, as registers\n"
      "have it: fine filter, coarse filter, increment event. halogen run --counters FILE samples a set.");
  command->callback([device, json, &status] { status = run(*device, *json); });
}

}  // namespace halogen::cli
