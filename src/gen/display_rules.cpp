#include "gen/display_rules.h"

#include <array>

#include "gen/rows.h"

namespace halogen {

namespace {

using spec::GenId;

constexpr uint8_t kXTiled = 1u << 1;
constexpr uint8_t kYTiled = 1u << 4 | 1u << 5;
constexpr uint64_t kAnyPlane = ~uint64_t{0};

constexpr std::array kRules{
    // G45 PRM vol. 1b 1.6 (seed 003), ledger G45-1.6-07 and -11 to -13. The alignment is printed without its first
    // digit.
    DisplayRules{.gens = from_to(GenId::gen4, GenId::gen4_5),
                 .offsets_at_each_vblank = true,
                 .async_tilings = kXTiled,
                 .async_planes = 0b11,
                 .async_alignment_B = 32 * 1024,
                 .async_stride_power_of_two = true,
                 .async_rotated_stride_B = 8 * 1024},
    // Linux i915: tilings that may flip asynchronously.
    DisplayRules{.gens = gens_of(GenId::gen6, GenId::gen8),
                 .offsets_at_each_vblank = false,
                 .async_tilings = kXTiled,
                 .async_planes = kAnyPlane,
                 .async_alignment_B = 0,
                 .async_stride_power_of_two = false,
                 .async_rotated_stride_B = 0},
    DisplayRules{.gens = from_to(GenId::gen9, GenId::gen12),
                 .offsets_at_each_vblank = false,
                 .async_tilings = kXTiled | kYTiled,
                 .async_planes = kAnyPlane,
                 .async_alignment_B = 0,
                 .async_stride_power_of_two = false,
                 .async_rotated_stride_B = 0},
};
static_assert(one_row_each<kRules, spec::kGensWithDevice>);

}  // namespace

const DisplayRules& display_rules(GenId gen) {
  return row_of(kRules, gen, "display_rules");
}

}  // namespace halogen
