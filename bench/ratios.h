// Runs the registered benchmarks and prints the speed of each relative to a baseline of the same run. The ratios
// compare the best CPU time of each benchmark's repetitions, which is stable on a busy machine.
#pragma once

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halogen::bench {

class Ratios : public benchmark::ConsoleReporter {
 public:
  // `pairs`: benchmark and baseline. Seconds are per unit of work, so both must count items or bytes the same way.
  explicit Ratios(std::vector<std::pair<std::string, std::string>> pairs) : pairs_(std::move(pairs)) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration && run.iterations > 0 && !run.error_occurred) {
        const double seconds = run.cpu_accumulated_time / static_cast<double>(run.iterations);
        auto [entry, is_new] = best_.try_emplace(run.run_name.function_name, seconds);
        entry->second = std::min(entry->second, seconds);
      }
    }
  }

  void print() const {
    for (const auto& [name, base] : pairs_) {
      if (best_.contains(name) && best_.contains(base)) {
        fmt::print("ratio {} / {} = {:.3f}\n", name, base, best_.at(base) / best_.at(name));
      }
    }
  }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
  std::map<std::string, double> best_;
};

// The body of main(). Prints `pairs` when all benchmarks are done.
inline int run(int argc, char** argv, std::vector<std::pair<std::string, std::string>> pairs) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  Ratios ratios(std::move(pairs));
  benchmark::RunSpecifiedBenchmarks(&ratios);
  benchmark::Shutdown();
  ratios.print();
  return 0;
}

}  // namespace halogen::bench
