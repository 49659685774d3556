#include "trace/trace_frame.h"

#include <fmt/format.h>

#include <utility>

namespace halogen::trace {

namespace {

constexpr uint64_t kMaxVblanks = 100'000;  // about half an hour after the end of the trace

// Takes the requested frame at its vertical blank.
class Watch {
 public:
  Watch(device::Device& device, const FrameWish& wish) : device_(device), wish_(wish) {
    device_.set_vblank_observer([this](unsigned pipe) {
      if (pipe == wish_.pipe && wish_.vblank == device_.display().vblank_count(pipe)) {
        taken_ = device_.take_frame(pipe);
      }
    });
  }
  ~Watch() { device_.set_vblank_observer({}); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  std::optional<picture::Image>& taken() { return taken_; }
  uint64_t seen() const { return device_.display().vblank_count(wish_.pipe); }

  // Advances time after the end of the trace.
  Result<picture::Image> finish() {
    if (!wish_.vblank) {
      taken_ = device_.take_frame(wish_.pipe);
    }
    const uint64_t wanted = wish_.vblank.value_or(0);
    if (!taken_ && wanted > seen() && wanted - seen() > kMaxVblanks) {
      return Error{fmt::format("vertical blank {} is more than {} after the end of the trace", wanted, kMaxVblanks)};
    }
    while (!taken_ && seen() < wanted) {
      const std::optional<uint64_t> next = device_.display().next_vblank(wish_.pipe);
      if (!next) break;
      device_.advance(*next - device_.clock().nanoseconds);
    }
    if (taken_) return std::move(*taken_);
    const char letter = static_cast<char>('A' + wish_.pipe);
    if (wanted != 0 && seen() >= wanted) {
      return Error{fmt::format("pipe {} was past vertical blank {} before the first check", letter, wanted)};
    }
    return Error{fmt::format("pipe {} is off", letter)};
  }

 private:
  device::Device& device_;
  FrameWish wish_;
  std::optional<picture::Image> taken_;
};

}  // namespace

Result<picture::Image> frame_of_trace(aub::Reader& reader, Player& player, const FrameWish& wish) {
  std::optional<Watch> watch;
  while (player.wants_more()) {
    const auto more = reader.next(player);
    if (!more) return more.error();
    if (!watch && player.device() != nullptr) {
      watch.emplace(*player.device(), wish);
    }
    if (watch && watch->taken()) return std::move(*watch->taken());
    if (!*more) break;
  }
  const auto named = [&](std::string_view what) { return Error{fmt::format("{}: {}.", reader.name(), what)}; };
  if (!player.failure().empty()) return named(player.failure());
  if (!watch) return named("the trace does not name a device; give one with --device");
  auto image = watch->finish();
  if (!image) return named(image.message());
  return image;
}

}  // namespace halogen::trace
