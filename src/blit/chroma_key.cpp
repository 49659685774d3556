#include "blit/chroma_key.h"

#include <cstring>
#include <span>

namespace halogen::blit {
namespace {

constexpr uint32_t kOneByte[] = {0xff};
constexpr uint32_t k565[] = {0xf800, 0x07e0, 0x001f};
constexpr uint32_t k1555[] = {0x7c00, 0x03e0, 0x001f, 0x8000};  // alpha last
constexpr uint32_t k8888[] = {0x00ff'0000, 0x0000'ff00, 0x0000'00ff, 0xff00'0000};

std::span<const uint32_t> components(hw::BltColorDepth depth, bool alpha) {
  switch (depth) {
    case hw::BltColorDepth::COLOR_8BIT:
      return kOneByte;
    case hw::BltColorDepth::COLOR_565:
      return k565;
    case hw::BltColorDepth::COLOR_1555:
      return std::span(k1555).first(alpha ? 4 : 3);
    case hw::BltColorDepth::COLOR_32BIT:
      return std::span(k8888).first(alpha ? 4 : 3);
  }
  return {};
}

}  // namespace

void apply_key(const BlitJob& job, const std::byte* pixels, size_t count, std::byte* mask) {
  const bool alpha =
      job.key_mode == hw::BltTransparencyMode::SOURCE_ARGB || job.key_mode == hw::BltTransparencyMode::DESTINATION_ARGB;
  const bool kept_in_range = keys_source(job.key_mode);
  const std::span<const uint32_t> parts = components(job.depth, alpha);
  for (size_t i = 0; i < count; ++i) {
    uint32_t pixel = 0;
    std::memcpy(&pixel, pixels + i * job.pixel_B, job.pixel_B);
    bool in_range = true;
    for (const uint32_t part : parts) {
      const uint32_t value = pixel & part;
      in_range &= value >= (job.key_low & part) && value <= (job.key_high & part);
    }
    if (in_range == kept_in_range) {
      std::memset(mask + i * job.pixel_B, 0, job.pixel_B);
    }
  }
}

}  // namespace halogen::blit
