// Limits that administrators set: the files of /proc/sys/dev/i915. Without the files the defaults of Linux hold.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace halogen::driver {

inline constexpr char kParanoidFile[] = "perf_stream_paranoid";
inline constexpr char kMaxRateFile[] = "oa_max_sample_rate";
inline constexpr uint64_t kDefaultParanoid = 1;
inline constexpr uint64_t kDefaultMaxRate = 100'000;  // reports per second

class PerfLimits {
 public:
  explicit PerfLimits(std::string folder) : folder_(std::move(folder)) {}

  // Returns whether only privileged programs may see data about other programs.
  bool is_paranoid() const { return value_of(kParanoidFile, kDefaultParanoid) != 0; }
  // Returns the maximum rate of timer reports for programs without privilege, in reports per second.
  uint64_t max_rate() const { return value_of(kMaxRateFile, kDefaultMaxRate); }

 private:
  uint64_t value_of(const char* file, uint64_t usual) const;

  std::string folder_;
};

}  // namespace halogen::driver
