#include "message/sampler_state.h"

#include <algorithm>
#include <span>

namespace halogen::message {
namespace {

constexpr uint64_t kSampler_B = 16;

int64_t modulo(int64_t value, int64_t size) {
  const int64_t rest = value % size;
  return rest < 0 ? rest + size : rest;
}

}  // namespace

std::optional<Sampler> read_sampler(const Generation& generation, const Environment& environment, uint32_t table,
                                    uint32_t index) {
  Sampler sampler;
  std::array<uint32_t, 4> words{};
  const uint64_t base = environment.bases.dynamic;
  if (!environment.space->read(place(base + table + index * kSampler_B), std::as_writable_bytes(std::span(words)))) {
    return std::nullopt;
  }
  sampler.state = hw::SAMPLER_STATE::unpack(generation.id(), words);
  const auto borders = [](hw::TextureCoordinateMode mode) {
    return mode == hw::TextureCoordinateMode::CLAMP_BORDER || mode == hw::TextureCoordinateMode::HALF_BORDER;
  };
  if (borders(sampler.state.tcx_address_control_mode) || borders(sampler.state.tcy_address_control_mode) ||
      borders(sampler.state.tcz_address_control_mode)) {
    if (!environment.space->read(place(base + sampler.state.border_color_pointer),
                                 std::as_writable_bytes(std::span(sampler.border)))) {
      return std::nullopt;
    }
  }
  return sampler;
}

std::optional<uint32_t> wrap(hw::TextureCoordinateMode mode, int64_t index, uint32_t size) {
  const int64_t count = size;
  const auto at = [](int64_t value) { return static_cast<uint32_t>(value); };
  switch (mode) {
    case hw::TextureCoordinateMode::WRAP:
      return at(modulo(index, count));
    case hw::TextureCoordinateMode::MIRROR: {
      const int64_t twice = modulo(index, 2 * count);
      return at(twice < count ? twice : 2 * count - 1 - twice);
    }
    case hw::TextureCoordinateMode::MIRROR_101: {
      if (count == 1) {
        return 0;
      }
      const int64_t twice = modulo(index, 2 * count - 2);
      return at(twice < count ? twice : 2 * count - 2 - twice);
    }
    case hw::TextureCoordinateMode::MIRROR_ONCE:
      return at(std::clamp<int64_t>(index < 0 ? -1 - index : index, 0, count - 1));
    case hw::TextureCoordinateMode::CLAMP:
    case hw::TextureCoordinateMode::CUBE:
      return at(std::clamp<int64_t>(index, 0, count - 1));
    case hw::TextureCoordinateMode::CLAMP_BORDER:
    case hw::TextureCoordinateMode::HALF_BORDER:
      if (index < 0 || index >= count) {
        return std::nullopt;
      }
      return at(index);
  }
  return 0;
}

}  // namespace halogen::message
