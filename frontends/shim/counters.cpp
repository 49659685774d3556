#include "counters.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "report.h"
#include "settings.h"

namespace halogen::shim {
namespace {

std::string_view text_of(const char* variable) {
  const char* const text = secure_getenv(variable);
  return text == nullptr ? std::string_view() : text;
}

// Reads the period. What is not a number is reported and replaced by the default.
uint64_t period() {
  const std::string_view text = text_of(kCountersPeriodVariable);
  uint64_t value = driver::kUsualPeriod_ns;
  if (text.empty()) return value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  std::fprintf(stderr, "halogen: %s=\"%s\" is not a number of nanoseconds; using %llu.\n", kCountersPeriodVariable,
               text.data(), static_cast<unsigned long long>(driver::kUsualPeriod_ns));
  return driver::kUsualPeriod_ns;
}

}  // namespace

std::unique_ptr<driver::CounterFile> start_counters(const spec::DeviceModel& model, const std::string& root) {
  const std::string_view file = text_of(kCountersVariable);
  if (file.empty()) return nullptr;
  const driver::CounterFileOptions options{.file = claim_name(std::string(file), root, "counters"),
                                           .tracks = driver::is_track_file(file),
                                           .set = std::string(text_of(kCountersSetVariable)),
                                           .period_ns = period()};
  auto made = driver::CounterFile::create(model, options);
  if (made) return std::move(*made);
  std::fprintf(stderr, "halogen: %s\n", made.message().c_str());
  return nullptr;
}

}  // namespace halogen::shim
