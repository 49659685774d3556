// Fences: regions of the aperture whose processor accesses are tiled (seed 003 4.5.3, 4.5.4.1). The registers are those
// of spec/registers/fence.toml. Internal clients never come here. Devices without an aperture have no fences. Left out:
// the power-of-two fences before Gen4.
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

// Why the rules do not allow a fence. The model still answers every access through it: see Fence::pitch_tiles.
enum class FenceFault : uint8_t { none, pitch_not_whole_tiles, pitch_too_large, end_before_start };
std::string_view name_of(FenceFault fault);

struct Fence {
  GgttOffset start{};
  GgttOffset last{};  // the region's last byte
  uint32_t pitch_B = 0;
  Tiling walk = Tiling::x;
  bool valid = false;

  constexpr const TilePattern& pattern() const { return walk == Tiling::y ? kTileY : kTileX; }
  // Cut to whole tiles, at least one.
  constexpr uint32_t pitch_tiles() const {
    const uint32_t tiles = pitch_B / pattern().width_B;
    return tiles != 0 ? tiles : 1;
  }

  constexpr bool contains(GgttOffset address) const { return valid && start <= address && address <= last; }
  constexpr bool overlaps(const Fence& other) const {
    return valid && other.valid && start <= other.last && other.start <= last;
  }

  // Where in the surface an address of the region is: the first step of the manual's algorithm.
  SurfacePoint point_of(GgttOffset address) const;
  // The address behind the fence, that the global table then maps. Only for addresses it contains.
  GgttOffset translate(GgttOffset address) const;
  // So many bytes from this address on stay together behind the fence and within it.
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

// The fences of one device, decoded. The register bank keeps the registers; it tells this of every write.
class FenceSet {
 public:
  static constexpr unsigned kMax = 32;

  explicit FenceSet(const spec::DeviceModel& model);

  unsigned count() const { return count_; }
  const Fence& fence(unsigned index) const { return fences_[index]; }

  // `raw` is the 64-bit register. An index that the device does not have is ignored. A fence that breaks a rule, or
  // that overlaps another, is told to `events`.
  void write(unsigned index, uint64_t raw, EventSink* events = nullptr, std::string_view path = {});
  void reset();

  // The fence that holds an address, or null. Overlapping fences are undefined: the lowest number wins here.
  const Fence* find(GgttOffset address) const;

 private:
  // Reads the register that the device has.
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
