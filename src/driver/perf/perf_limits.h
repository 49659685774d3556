// What administrators allow: the files of /proc/sys/dev/i915. Without the files the defaults of Linux hold.
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

  // Only privileged programs see what concerns others.
  bool is_paranoid() const { return value_of(kParanoidFile, kDefaultParanoid) != 0; }
  // Programs without privilege get no timer reports faster than this.
  uint64_t max_rate() const { return value_of(kMaxRateFile, kDefaultMaxRate); }

 private:
  uint64_t value_of(const char* file, uint64_t usual) const;

  std::string folder_;
};

}  // namespace halogen::driver
