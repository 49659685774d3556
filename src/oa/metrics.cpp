#include "oa/metrics.h"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "gen/observation_rules.h"

namespace halogen::oa {

namespace {

using Event = FlexibleEvent;
using Per = Equation::Per;
using Raw = Equation::Raw;

constexpr uint32_t kPercent = 100;
constexpr uint32_t kLine_B = 64;  // the unit of A30 and A31

constexpr Equation count(uint8_t counter, uint32_t scale = 1) {
  return {.raw = Raw::a, .counter = counter, .scale = scale};
}
constexpr Equation share(uint8_t counter, Per per, uint32_t scale = 1) {
  return {.raw = Raw::a, .counter = counter, .scale = kPercent * scale, .per = per};
}

constexpr std::string_view kFused = "the chip counts pairs of fused threads";
constexpr std::string_view kIssue = "issue times are a rule of the model";
constexpr std::string_view kNoPairs = "0: the model issues no two instructions of an EU in one clock";
constexpr std::string_view kNoFastTest = "0: the model has no hierarchical test; EarlyDepthTestFails has all failures";

// The first metrics of every set.
constexpr std::array kTime{
    Metric{"GpuTime", "ns", "length of the interval", {.raw = Raw::time_ns}, Accuracy::virtual_time},
    Metric{"GpuCoreClocks", "cycles", "clocks of the render engine", {.raw = Raw::clocks}, Accuracy::virtual_time},
    Metric{"AvgGpuCoreFrequency",
           "Hz",
           "clocks in a second",
           {.raw = Raw::clocks, .scale = 1'000'000'000, .per = Per::time_ns},
           Accuracy::virtual_time},
};
constexpr Metric kRenderBusy{"GpuBusy", "%", "the render engine executes commands", share(0, Per::clocks),
                             Accuracy::virtual_time};
constexpr Metric kAnyBusy{"GpuBusy", "%", "an engine has work", share(0, Per::clocks), Accuracy::virtual_time};
constexpr std::array kThreads{
    Metric{"VsThreads", "threads", "vertex shader threads started", count(1)},
    Metric{"HsThreads", "threads", "hull shader threads started", count(2)},
    Metric{"DsThreads", "threads", "domain shader threads started", count(3)},
    Metric{"GsThreads", "threads", "geometry shader threads started", count(5)},
    Metric{"PsThreads", "threads", "pixel shader threads started", count(6)},
    Metric{"CsThreads", "threads", "compute threads started", count(4)},
};
constexpr std::array kPixels{
    Metric{"RasterizedPixels", "pixels", "pixels of 2x2 blocks with a covered pixel", count(21)},
    Metric{"HiDepthTestFails", "pixels", "failed the hierarchical depth test", count(22), Accuracy::approximate,
           kNoFastTest},
    Metric{"EarlyDepthTestFails", "pixels", "failed depth or stencil tests before the shader", count(23)},
    Metric{"SamplesKilledInPs", "pixels", "of blocks whose pixels the shader discarded", count(24)},
    Metric{"PixelsFailingPostPsTests", "pixels", "failed tests after the shader", count(25)},
    Metric{"SamplesWritten", "pixels", "written, once for each render target", count(26)},
    Metric{"SamplesBlended", "pixels", "written with blending", count(27)},
};
constexpr std::array kMemory{
    Metric{"SamplerTexels", "texels", "requested from samplers, in groups of four", count(28)},
    Metric{"SlmBytesRead", "bytes", "read from shared local memory, in units of 64", count(30, kLine_B)},
    Metric{"SlmBytesWritten", "bytes", "written to shared local memory, in units of 64", count(31, kLine_B)},
    Metric{"ShaderMemoryAccesses", "lines", "lines of 64 bytes that data port messages access", count(32)},
    Metric{"ShaderAtomics", "messages", "atomic messages, also to shared local memory", count(34)},
    Metric{"ShaderBarriers", "messages", "barrier messages, one for each thread", count(35)},
};

constexpr Metric eu_share(std::string_view symbol, std::string_view meaning, uint8_t counter,
                          std::string_view note = kIssue) {
  return {symbol, "%", meaning, share(counter, Per::eu_clocks), Accuracy::approximate, note};
}
constexpr Metric occupancy(uint8_t counter) {
  return {"EuThreadOccupancy",          "%",
          "thread slots with a thread", share(counter, Per::slot_clocks, kIntegratorStep),
          Accuracy::approximate,        "threads of a part count as loaded together"};
}

constexpr uint8_t coarse(Stage stage) {
  switch (stage) {
    case Stage::vertex:
      return Event::kFirstStage;
    case Stage::hull:
      return Event::kFirstStage + 1;
    case Stage::domain:
      return Event::kFirstStage + 2;
    case Stage::geometry:
      return Event::kFirstStage + 3;
    case Stage::pixel:
      return Event::kFirstStage + 4;
    case Stage::compute:
      break;
  }
  return Event::kLastStage;
}
constexpr Event of_stage(uint8_t increment, Stage stage) {
  return {.increment = increment, .coarse = coarse(stage)};
}
constexpr Event event(uint8_t increment, uint8_t fine = 0) {
  return {.increment = increment, .fine = fine};
}

// A set whose EU metrics are those of the events, in this order from A7 on.
struct EuCounter {
  Event event;
  std::string_view symbol;
  std::string_view meaning;
};

constexpr std::array kRenderEus{
    EuCounter{event(Event::kSomePipe), "EuActive", "an EU executes"},
    EuCounter{event(Event::kStalled), "EuStall", "an EU has threads, and none executes"},
    EuCounter{event(Event::kBoth), "EuFpuBothActive", "both FPUs of an EU execute"},
    EuCounter{of_stage(Event::kFpu0, Stage::vertex), "VsFpu0Active", "FPU0 executes for vertex shaders"},
    EuCounter{of_stage(Event::kFpu1, Stage::vertex), "VsFpu1Active", "FPU1 executes for vertex shaders"},
    EuCounter{of_stage(Event::kSend, Stage::vertex), "VsSendActive", "SEND executes for vertex shaders"},
    EuCounter{of_stage(Event::kFpu0, Stage::pixel), "PsFpu0Active", "FPU0 executes for pixel shaders"},
    EuCounter{of_stage(Event::kFpu1, Stage::pixel), "PsFpu1Active", "FPU1 executes for pixel shaders"},
    EuCounter{of_stage(Event::kSend, Stage::pixel), "PsSendActive", "SEND executes for pixel shaders"},
    EuCounter{event(Event::kIntegrator), "EuThreadOccupancy", ""},
};
constexpr std::array kComputeEus{
    EuCounter{event(Event::kSomePipe), "EuActive", "an EU executes"},
    EuCounter{event(Event::kStalled), "EuStall", "an EU has threads, and none executes"},
    EuCounter{event(Event::kBoth), "EuFpuBothActive", "both FPUs of an EU execute"},
    EuCounter{event(Event::kFpu0), "Fpu0Active", "FPU0 executes"},
    EuCounter{event(Event::kFpu1), "Fpu1Active", "FPU1 executes: extended math"},
    EuCounter{event(Event::kSend), "EuSendActive", "SEND executes"},
    EuCounter{event(Event::kIntegrator), "EuThreadOccupancy", ""},
};
constexpr std::array kStageEus{
    EuCounter{of_stage(Event::kSomePipe, Stage::vertex), "VsEuActive", "an EU executes a vertex shader"},
    EuCounter{of_stage(Event::kStalled, Stage::vertex), "VsEuStall", "an EU waits with vertex shaders"},
    EuCounter{of_stage(Event::kSomePipe, Stage::hull), "HsEuActive", "an EU executes a hull shader"},
    EuCounter{of_stage(Event::kStalled, Stage::hull), "HsEuStall", "an EU waits with hull shaders"},
    EuCounter{of_stage(Event::kSomePipe, Stage::domain), "DsEuActive", "an EU executes a domain shader"},
    EuCounter{of_stage(Event::kStalled, Stage::domain), "DsEuStall", "an EU waits with domain shaders"},
    EuCounter{of_stage(Event::kSomePipe, Stage::geometry), "GsEuActive", "an EU executes a geometry shader"},
    EuCounter{of_stage(Event::kStalled, Stage::geometry), "GsEuStall", "an EU waits with geometry shaders"},
    EuCounter{of_stage(Event::kSomePipe, Stage::pixel), "PsEuActive", "an EU executes a pixel shader"},
    EuCounter{of_stage(Event::kStalled, Stage::pixel), "PsEuStall", "an EU waits with pixel shaders"},
    EuCounter{of_stage(Event::kSomePipe, Stage::compute), "CsEuActive", "an EU executes a compute kernel"},
    EuCounter{of_stage(Event::kStalled, Stage::compute), "CsEuStall", "an EU waits with compute kernels"},
    EuCounter{event(Event::kIntegrator), "EuThreadOccupancy", ""},
};
constexpr std::array kInstructionEus{
    EuCounter{event(Event::kSomePipe), "EuActive", "an EU executes"},
    EuCounter{event(Event::kStalled), "EuStall", "an EU has threads, and none executes"},
    EuCounter{event(Event::kFpu0, Event::kTernary), "Fpu0Ternary", "FPU0 executes instructions of three sources"},
    EuCounter{event(Event::kFpu0, Event::kBinary), "Fpu0Binary", "FPU0 executes instructions of two sources"},
    EuCounter{event(Event::kFpu0, Event::kMove), "Fpu0Move", "FPU0 executes moves"},
    EuCounter{event(Event::kFpu0), "Fpu0Active", "FPU0 executes"},
    EuCounter{event(Event::kFpu1), "Fpu1Active", "FPU1 executes: extended math"},
    EuCounter{event(Event::kSend), "EuSendActive", "SEND executes"},
    EuCounter{event(Event::kIntegrator), "EuThreadOccupancy", ""},
};

Metric eu_metric(const EuCounter& eu, uint8_t counter) {
  if (eu.event.increment == Event::kIntegrator) {
    return occupancy(counter);
  }
  return eu_share(eu.symbol, eu.meaning, counter, eu.event.increment == Event::kBoth ? kNoPairs : kIssue);
}

MetricSet make_set(std::string_view name, std::string_view meaning, const ObservationRules& rules,
                   std::span<const EuCounter> eus, std::initializer_list<std::span<const Metric>> others) {
  MetricSet set{.name = name, .meaning = meaning, .events = {}, .metrics = {}};
  set.metrics.assign(kTime.begin(), kTime.end());
  set.metrics.push_back(rules.busy_counts_all ? kAnyBusy : kRenderBusy);
  for (Metric metric : kThreads) {
    if (rules.counts_fused_threads) {
      metric.accuracy = Accuracy::approximate;
      metric.note = kFused;
    }
    set.metrics.push_back(metric);
  }
  for (size_t index = 0; index < eus.size(); ++index) {
    set.events[index] = eus[index].event;
    set.metrics.push_back(eu_metric(eus[index], static_cast<uint8_t>(kFirstFlexible + index)));
  }
  for (const std::span<const Metric> part : others) {
    set.metrics.insert(set.metrics.end(), part.begin(), part.end());
  }
  return set;
}

std::vector<MetricSet> make_sets(const ObservationRules& rules) {
  std::vector<MetricSet> sets;
  if (rules.exists) {
    sets.push_back(
        make_set("RenderBasic", "3D work: threads, EUs, pixels, memory", rules, kRenderEus, {kPixels, kMemory}));
    sets.push_back(
        make_set("ComputeBasic", "compute: threads, pipes of the EUs, memory", rules, kComputeEus, {kMemory}));
    sets.push_back(make_set("EuStages", "time of the EUs by stage", rules, kStageEus, {}));
    sets.push_back(make_set("EuInstructions", "time of the EUs by kind of instruction", rules, kInstructionEus, {}));
  }
  return sets;
}

uint64_t divisor(Per per, const Sample& sample, const EuArray& array) {
  switch (per) {
    case Per::nothing:
      return 1;
    case Per::time_ns:
      return sample.end_ns - sample.begin_ns;
    case Per::clocks:
      return sample.clocks;
    case Per::eu_clocks:
      return sample.clocks * array.eus;
    case Per::slot_clocks:
      return sample.clocks * array.slots;
  }
  return 0;
}

}  // namespace

std::string_view name_of(Accuracy accuracy) {
  switch (accuracy) {
    case Accuracy::exact:
      return "exact";
    case Accuracy::virtual_time:
      return "virtual time";
    case Accuracy::approximate:
      return "approximate";
  }
  return {};
}

std::span<const MetricSet> metric_sets(const spec::DeviceModel& model) {
  static const auto sets = [] {
    std::vector<std::vector<MetricSet>> all;
    for (const spec::DeviceModel& each : spec::device_models()) {
      all.push_back(make_sets(observation_rules(each.gen)));
    }
    return all;
  }();
  return sets[static_cast<size_t>(model.id)];
}

const MetricSet* find_metric_set(const spec::DeviceModel& model, std::string_view name) {
  const std::span<const MetricSet> sets = metric_sets(model);
  const auto found =
      std::ranges::find_if(sets, [name](const MetricSet& set) { return name.empty() || set.name == name; });
  return found == sets.end() ? nullptr : &*found;
}

double value_of(const Equation& equation, const Sample& sample, const EuArray& array) {
  uint64_t raw = 0;
  switch (equation.raw) {
    case Raw::time_ns:
      raw = sample.end_ns - sample.begin_ns;
      break;
    case Raw::clocks:
      raw = sample.clocks;
      break;
    case Raw::a:
      raw = sample.counts[equation.counter];
      break;
  }
  const uint64_t per = divisor(equation.per, sample, array);
  return per == 0 ? 0.0 : static_cast<double>(raw) * equation.scale / static_cast<double>(per);
}

std::string text_of(const Equation& equation) {
  std::string text = equation.raw == Raw::time_ns  ? "time"
                     : equation.raw == Raw::clocks ? "clocks"
                                                   : fmt::format("A{}", equation.counter);
  if (equation.scale != 1) {
    text = fmt::format("{} * {}", equation.scale, text);
  }
  switch (equation.per) {
    case Per::nothing:
      break;
    case Per::time_ns:
      return text + " / time";
    case Per::clocks:
      return text + " / clocks";
    case Per::eu_clocks:
      return text + " / (EUs * clocks)";
    case Per::slot_clocks:
      return text + " / (thread slots * clocks)";
  }
  return text;
}

std::string text_of(const FlexibleEvent& event) {
  return fmt::format("{:X}{:X}{:X}", event.fine, event.coarse, event.increment);
}

}  // namespace halogen::oa
