#include "gen/display_rules.h"

namespace halogen {

namespace {

using spec::GenId;

constexpr uint8_t kXTiled = 1u << 1;
constexpr uint8_t kYTiled = 1u << 4 | 1u << 5;
constexpr uint64_t kAnyPlane = ~uint64_t{0};

// Seed 003 1.6, ledger G45-1.6-07 and -11 to -13. The alignment is printed without its first digit.
constexpr DisplayRules kGen4 = {.offsets_at_each_vblank = true,
                                .async_tilings = kXTiled,
                                .async_planes = 0b11,
                                .async_alignment_B = 32 * 1024,
                                .async_stride_power_of_two = true,
                                .async_rotated_stride_B = 8 * 1024};
// Linux i915: which tilings may flip at once.
constexpr DisplayRules kGen6 = {.offsets_at_each_vblank = false,
                                .async_tilings = kXTiled,
                                .async_planes = kAnyPlane,
                                .async_alignment_B = 0,
                                .async_stride_power_of_two = false,
                                .async_rotated_stride_B = 0};
constexpr DisplayRules kGen9 = {.offsets_at_each_vblank = false,
                                .async_tilings = kXTiled | kYTiled,
                                .async_planes = kAnyPlane,
                                .async_alignment_B = 0,
                                .async_stride_power_of_two = false,
                                .async_rotated_stride_B = 0};

}  // namespace

DisplayRules display_rules(GenId gen) {
  switch (gen) {
    case GenId::gen4:
    case GenId::gen4_5:
      return kGen4;
    case GenId::gen5:
    case GenId::gen6:
    case GenId::gen7:
    case GenId::gen7_5:
    case GenId::gen8:
      return kGen6;
    case GenId::gen9:
    case GenId::gen11:
    case GenId::gen12:
      return kGen9;
  }
  return kGen9;
}

}  // namespace halogen
