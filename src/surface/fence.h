// Fences: regions of the aperture in which CPU accesses are tiled (G45 PRM vol. 1b 4.5.3, 4.5.4.1, seed 003). The
// registers are described in spec/registers/fence.toml. Internal clients do not use fences, and devices without an
// aperture have none. Not modelled: the power-of-two fences before Gen4.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/event.h"
#include "base/strong.h"
#include "hw/fence.h"
#include "spec/device_model.h"
#include "surface/tiling.h"

namespace halogen::surface {

// The broken rule of a fence. The model still translates every access: see Fence::pitch_tiles.
enum class FenceFault : uint8_t { none, pitch_not_whole_tiles, pitch_too_large, end_before_start };
std::string_view name_of(FenceFault fault);

struct Fence {
  GgttOffset start{};
  GgttOffset last{};  // the region's last byte
  uint32_t pitch_B = 0;
  Tiling walk = Tiling::x;
  bool valid = false;

  constexpr const TilePattern& pattern() const { return walk == Tiling::y ? kTileY : kTileX; }
  // Returns the pitch rounded down to whole tiles, at least one.
  constexpr uint32_t pitch_tiles() const {
    const uint32_t tiles = pitch_B / pattern().width_B;
    return tiles != 0 ? tiles : 1;
  }

  constexpr bool contains(GgttOffset address) const { return valid && start <= address && address <= last; }
  constexpr bool overlaps(const Fence& other) const {
    return valid && other.valid && start <= other.last && other.start <= last;
  }

  // Returns the position of an address in the surface: the first step of the manual's algorithm.
  SurfacePoint point_of(GgttOffset address) const;
  // Returns the address behind the fence, which the global table then maps. `address` must be in the region.
  GgttOffset translate(GgttOffset address) const;
  // Returns the number of bytes from this address on that are contiguous behind the fence and within it.
  uint64_t run_at(GgttOffset address) const;

  FenceFault fault(spec::GenId gen) const;

  bool operator==(const Fence&) const = default;
};

// `Register` is hw::FENCE, hw::FENCE_GEN6 or hw::FENCE_GEN7.
template <class Register>
Fence decode_fence(const Register& reg) {
  Fence fence;
  fence.start = reg.start_address;
  fence.last = GgttOffset((uint64_t{reg.end_address} << 12) | 0xfff);
  fence.pitch_B = (uint32_t{reg.pitch} + 1) * 128;
  fence.walk = reg.tile_walk == Register::TileWalk::y_major ? Tiling::y : Tiling::x;
  fence.valid = reg.valid;
  return fence;
}

// The decoded fences of one device. The register bank stores the registers and reports every write.
class FenceSet {
 public:
  static constexpr unsigned kMax = 32;

  explicit FenceSet(const spec::DeviceModel& model);

  unsigned count() const { return count_; }
  const Fence& fence(unsigned index) const { return fences_[index]; }

  // `raw` is the 64-bit register. An index that the device lacks is ignored. A fence that breaks a rule or overlaps
  // another is reported to `events`.
  void write(unsigned index, uint64_t raw, EventSink* events = nullptr, std::string_view path = {});
  void reset();

  // Returns the fence of an address, or null. Overlapping fences are undefined; the lowest number wins.
  const Fence* find(GgttOffset address) const;
  // Returns the fence with the lowest number that overlaps a range, or null.
  const Fence* meeting(GgttOffset first, GgttOffset last) const;

 private:
  // Decodes the device's kind of register.
  using Decode = Fence (*)(spec::GenId gen, std::span<const uint32_t> dwords);

  template <class Register>
  void use_if_present(const spec::DeviceModel& model);
  void report(unsigned index, uint64_t raw, EventSink& events, std::string_view path) const;

  spec::GenId gen_;
  Decode decode_ = nullptr;  // null: the device has no fences
  std::string_view name_;    // of the register
  unsigned count_ = 0;
  uint32_t valid_ = 0;  // bit n: fence n
  std::array<Fence, kMax> fences_{};
};

}  // namespace halogen::surface
