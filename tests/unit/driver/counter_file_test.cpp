// The file of sampled counters: rows and tracks, a stream of the program beside it, files that cannot be written.
#include "driver/core/counter_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "unit/driver/perf_door.h"

namespace halogen::driver {
namespace {

using nlohmann::json;

class CounterFileTest : public PerfDoor {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "/counters.XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override {
    end();
    EXPECT_EQ(system(("rm -r " + folder_).c_str()), 0);
  }
  std::string name(const std::string& leaf) const { return folder_ + "/" + leaf; }
  void start(const std::string& leaf, uint64_t period_ns = 1000) {
    auto made = CounterFile::create(
        model(), {.file = name(leaf), .tracks = is_track_file(leaf), .set = {}, .period_ns = period_ns});
    ASSERT_TRUE(made.ok()) << made.message();
    counters = std::move(*made);
    DriverOptions options;
    options.privileged = true;
    options.counters = counters.get();
    boot(options);
  }
  void end() {
    if (driver && file) driver->close(file);
    file.reset();
    driver.reset();
  }
  // A command takes 10 ns of virtual time.
  void run_commands(size_t count) {
    std::vector<uint32_t> dwords(count, 0);
    dwords.push_back(0x0500'0000);
    dwords.push_back(0);
    const uint32_t batch = create((dwords.size() * 4 + 4095) / 4096 * 4096);
    fill(batch, dwords);
    std::vector<drm_i915_gem_exec_object2> objects(1);
    objects[0].handle = batch;
    EXPECT_EQ(execute(objects, I915_EXEC_NO_RELOC), 0);
    EXPECT_EQ(wait(batch), 0);
  }
  // Returns the columns by name; a cell without text is 0.
  std::map<std::string, std::vector<double>> table(const std::string& leaf) const {
    std::ifstream in(name(leaf));
    std::string line, cell;
    std::vector<std::string> names;
    std::map<std::string, std::vector<double>> columns;
    std::getline(in, line);
    for (std::istringstream words(line); std::getline(words, cell, ',');) names.push_back(cell);
    while (std::getline(in, line)) {
      std::istringstream words(line);
      for (const std::string& each : names) {
        cell.clear();
        std::getline(words, cell, ',');
        columns[each].push_back(std::strtod(cell.c_str(), nullptr));
      }
    }
    return columns;
  }

  std::string folder_;
  std::unique_ptr<CounterFile> counters;
};
INSTANTIATE_TEST_SUITE_P(All, CounterFileTest, ::testing::ValuesIn(chips_with_perf()), chip_name);

TEST_P(CounterFileTest, RowsCoverTheRunAndShowItsWork) {
  start("run.csv");
  run_commands(4000);  // 40 us
  end();
  auto columns = table("run.csv");
  const std::vector<double>& times = columns.at("time (ns)");
  const std::vector<double>& lengths = columns.at("GpuTime (ns)");
  const std::vector<double>& busy = columns.at("GpuBusy (%)");
  const std::vector<double>& clocks = columns.at("GpuCoreClocks (cycles)");
  ASSERT_GT(times.size(), 40u);
  double busy_ns = 0;
  for (size_t row = 0; row < times.size(); ++row) {
    if (row != 0) {
      EXPECT_EQ(times[row] - lengths[row], times[row - 1]) << row;
    }
    EXPECT_NEAR(clocks[row], lengths[row] * 0.45, 1) << row;
    busy_ns += lengths[row] * busy[row] / 100;
  }
  EXPECT_GT(busy_ns, 40'000);
  EXPECT_EQ(columns.at("VsThreads (threads)").size(), times.size());
}

TEST_P(CounterFileTest, SamplesAreInTheFileBeforeTheEnd) {
  start("live.csv");
  run_commands(4000);
  EXPECT_GT(table("live.csv").at("time (ns)").size(), 30u) << "as if the program were killed now";
}

TEST_P(CounterFileTest, TracksAreValidJsonAndEndAtZero) {
  start("run.json");
  run_commands(4000);
  end();
  std::ifstream in(name("run.json"));
  const json all = json::parse(in, nullptr, false);
  ASSERT_FALSE(all.is_discarded());
  std::map<std::string, json> last;
  double most = 0, bars = 0;
  for (const json& event : all.at("traceEvents")) {
    if (event.at("ph") == "X") bars += event.at("dur").get<double>();
    if (event.at("ph") != "C") continue;
    const std::string counter = event.at("name");
    if (last.contains(counter)) {
      EXPECT_GE(event.at("ts").get<double>(), last[counter].at("ts").get<double>());
    }
    last[counter] = event;
    if (counter == "GpuBusy (%)") most = std::max(most, event.at("args").at("value").get<double>());
  }
  EXPECT_EQ(last.size(), oa::find_metric_set(model(), "")->metrics.size());
  for (const auto& [counter, event] : last) EXPECT_EQ(event.at("args").at("value"), 0) << counter;
  EXPECT_GT(most, 90);
  EXPECT_GE(bars, 40.0) << "microseconds in which a context counts";
}

TEST_P(CounterFileTest, StreamOfTheProgramAndSamplesExistTogether) {
  start("both.csv");
  const int config = add_any();
  ASSERT_GT(config, 0);
  const int stream = open_with(with(usual(config), DRM_I915_PERF_PROP_OA_EXPONENT, 4));
  ASSERT_GE(stream, 0);
  run_commands(4000);
  EXPECT_GT(records(stream).size(), 5u);
  ::close(stream);
  end();
  EXPECT_GT(table("both.csv").at("time (ns)").size(), 40u);
}

// The message goes to standard error once; the device works on.
TEST_P(CounterFileTest, FileThatVanishesIsReportedOnce) {
  start("gone.csv");
  unlink(name("gone.csv").c_str());
  ASSERT_EQ(mkdir(name("gone.csv").c_str(), 0700), 0);
  ::testing::internal::CaptureStderr();
  run_commands(4000);
  run_commands(4000);
  end();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("gone.csv: Is a directory; no more counters are written.\n"), std::string::npos) << said;
  EXPECT_EQ(said.find("no more"), said.rfind("no more"));
}

TEST(CounterFiles, WrongOptionsAreRefusedWithAReason) {
  const spec::DeviceModel& icl = *spec::find_device("icl");
  const auto message = [](const spec::DeviceModel& model, const CounterFileOptions& options) {
    const auto set = check_counters(model, options);
    return set ? std::string("accepted") : set.message();
  };
  EXPECT_EQ(message(icl, {}), "accepted");
  EXPECT_EQ(message(icl, {.set = "ComputeBasic", .period_ns = 100}), "accepted");
  EXPECT_EQ(message(*spec::find_device("g45"), {}),
            "g45 has no performance counters; these devices have: bdw, chv, skl, icl, tgl, dg1.");
  EXPECT_EQ(message(icl, {.set = "x"}),
            "unknown metric set \"x\"; icl has RenderBasic, ComputeBasic, EuStages, EuInstructions.");
  for (const uint64_t period : {uint64_t{0}, uint64_t{99}, uint64_t{10'000'000'001}, ~uint64_t{0}}) {
    EXPECT_NE(message(icl, {.period_ns = period}).find("not in the range"), std::string::npos) << period;
  }
}

TEST(CounterFiles, FilesThatCannotBeWrittenAreRefused) {
  const spec::DeviceModel& icl = *spec::find_device("icl");
  for (const char* const file : {"/nowhere/counters.csv", "/", "/dev/full"}) {
    for (const bool tracks : {false, true}) {
      const auto made = CounterFile::create(icl, {.file = file, .tracks = tracks, .set = {}});
      EXPECT_FALSE(made.ok()) << file;
    }
  }
}

TEST(CounterFiles, NamesChooseTheFormat) {
  EXPECT_TRUE(is_track_file("a.json"));
  EXPECT_TRUE(is_track_file("a.perfetto-trace"));
  EXPECT_FALSE(is_track_file("a.csv"));
  EXPECT_FALSE(is_track_file("json"));
  EXPECT_FALSE(is_track_file("a.json.12"));
}

}  // namespace
}  // namespace halogen::driver
