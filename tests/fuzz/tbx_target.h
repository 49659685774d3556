// A TBX session with a hostile peer, on a small simulator with short work.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "tbx/session.h"
#include "trace/simulator.h"

namespace halogen::fuzz {

// A peer whose messages are all available at once.
class ScriptChannel final : public tbx::Channel {
 public:
  explicit ScriptChannel(std::span<const std::byte> input) : input_(input) {}

  size_t read(std::span<std::byte> into) override {
    const size_t part = std::min(into.size(), input_.size());
    if (part != 0) std::memcpy(into.data(), input_.data(), part);
    input_ = input_.subspan(part);
    return part;
  }
  [[gnu::noinline]] bool write(std::span<const std::byte> bytes) override {
    total_ += bytes.size();
    if (output_.size() < kKept) output_.insert(output_.end(), bytes.begin(), bytes.end());
    return total_ < kMaxOutput;
  }
  bool pause(std::chrono::milliseconds) override {
    ++pauses_;
    return true;
  }
  std::span<const std::byte> output() const { return output_; }
  unsigned pauses() const { return pauses_; }

 private:
  static constexpr size_t kKept = size_t{1} << 20, kMaxOutput = size_t{64} << 20;
  std::span<const std::byte> input_;
  std::vector<std::byte> output_;
  size_t total_ = 0;
  unsigned pauses_ = 0;
};

// The first byte selects the device; the rest is the data that the peer sends.
inline void tbx_session(std::span<const uint8_t> data) {
  if (data.empty()) return;
  const auto models = spec::device_models();
  trace::PageBudget budget(4096);
  std::unique_ptr<trace::Simulator> simulator;
  std::mutex guard;
  ScriptChannel channel(std::as_bytes(data.subspan(1)));
  trace::MemorySink sink;
  trace::aub::Writer writer(sink);
  const auto make = [&]() -> Result<trace::Simulator*> {
    auto made = trace::Simulator::create(models[data[0] % models.size()], {.budget = &budget, .settle_limit = 20'000});
    if (!made) return made.error();
    simulator = std::move(made).value();
    simulator->record_to(&writer);
    return simulator.get();
  };
  size_t said = 0;
  tbx::Session session({channel, make, guard, [&said](std::string_view line) { said += line.size(); }});
  session.run();
  if (simulator != nullptr) static_cast<void>(simulator->memory_hash());
}

}  // namespace halogen::fuzz
