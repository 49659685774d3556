// A log of lines that peers can provoke: bounded in rate and in total. A line says how many lines were left out.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace halogen::tbx {

class BoundedLog {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kBurst = 500;      // lines at once
  static constexpr uint64_t kPerSecond = 20;   // lines afterwards
  static constexpr uint64_t kTotal = 100'000;  // lines of one run
  static constexpr size_t kLineBytes = 1000;   // of one line; the rest is cut off

  explicit BoundedLog(
      std::function<void(std::string_view)> out, std::function<Clock::time_point()> now = [] { return Clock::now(); })
      : out_(std::move(out)), now_(std::move(now)), filled_(now_()) {}

  void write(std::string_view line) {
    const std::lock_guard lock(guard_);
    const Clock::time_point now = now_();
    const auto earned = static_cast<uint64_t>((now - filled_) / std::chrono::milliseconds(1000 / kPerSecond));
    if (earned != 0) {
      tokens_ = std::min(kBurst, tokens_ + std::min(earned, kBurst));
      filled_ = now;
    }
    if (tokens_ == 0 || written_ == kTotal) {
      ++left_out_;
      return;
    }
    --tokens_;
    say_left_out();
    out_(line.substr(0, kLineBytes));
    if (++written_ == kTotal) out_(fmt::format("{} lines were written; further lines are left out", kTotal));
  }
  // Says how many lines were left out since the last line. Call at the end.
  void finish() {
    const std::lock_guard lock(guard_);
    say_left_out();
  }

 private:
  void say_left_out() {
    const uint64_t count = std::exchange(left_out_, 0);
    if (count != 0) out_(fmt::format("{} lines of the log were left out", count));
  }

  std::mutex guard_;
  std::function<void(std::string_view)> out_;
  std::function<Clock::time_point()> now_;
  Clock::time_point filled_;
  uint64_t tokens_ = kBurst;
  uint64_t written_ = 0;
  uint64_t left_out_ = 0;
};

}  // namespace halogen::tbx
