#include "gen/generation.h"

#include <array>

#include "gen/rows.h"

namespace halogen {

namespace {

using spec::GenId;
using spec::OffsetRange;

// The first page of engine registers is reset through RegisterSlot::engine; these are the units behind them.
// Where the manuals are silent, the choice is ours: state that a context image or the driver's start-up restores is
// lost; wake requests, fuses, power management (A000) and display survive.
// The interrupt bank between the two ranges of Gen4 serves the display too, and drivers do not program it again.
constexpr std::array kGen4Render{OffsetRange{0x2000, 0x209f}, OffsetRange{0x20b0, 0x2fff}};
constexpr std::array kGen4Gt{OffsetRange{0x2000, 0x209f}, OffsetRange{0x20b0, 0x4fff}};
constexpr std::array kGen6Render{OffsetRange{0x2000, 0x2fff}, OffsetRange{0x5200, 0x7fff}, OffsetRange{0xe000, 0xe8ff}};
constexpr std::array kGen6Gt{OffsetRange{0x2000, 0x8fff}, OffsetRange{0xb000, 0xbfff}, OffsetRange{0xc000, 0xcfff},
                             OffsetRange{0xd800, 0x3ffff}, OffsetRange{0x1c0000, 0x23ffff}};

// The configuration of the performance counters survives a reset of the render engine (DG1 PRM, Performance Visibility,
// seed 000). On Gen12 that is the global unit; the render engine's own unit is part of the engine.
constexpr std::array kGen8Render{OffsetRange{0x2000, 0x23b3}, OffsetRange{0x23b8, 0x270f}, OffsetRange{0x27b0, 0x27ff},
                                 OffsetRange{0x2960, 0x2aff}, OffsetRange{0x2b18, 0x2fff}, OffsetRange{0x5200, 0x7fff},
                                 OffsetRange{0xe000, 0xe457}, OffsetRange{0xe460, 0xe557}, OffsetRange{0xe560, 0xe657},
                                 OffsetRange{0xe660, 0xe757}, OffsetRange{0xe75c, 0xe8ff}};
constexpr std::array kGen12Render{OffsetRange{0x2000, 0x2b27}, OffsetRange{0x2b30, 0x2fff}, OffsetRange{0x5200, 0x7fff},
                                  OffsetRange{0xe000, 0xe457}, OffsetRange{0xe460, 0xe557}, OffsetRange{0xe560, 0xe657},
                                  OffsetRange{0xe660, 0xe757}, OffsetRange{0xe75c, 0xe8ff}};

// Gen4 has 8- and 16-bit registers, such as the DRAM rank boundaries at 0x10206.
constexpr GenerationRules gen4() {
  return {.gens = from_to(GenId::gen4, GenId::gen4),
          .submission = SubmissionKind::ring,
          .ggtt_format = GgttFormat::pte32_36,
          .interrupts = InterruptKind::one_bank,
          .reset_port = ResetPort::config_gdrst,
          .timestamp_format = TimestampFormat::ticks,
          .register_access = {1, 4},
          .gtt_access = {4, 8},
          .render_reset_ranges = kGen4Render,
          .gt_reset_ranges = kGen4Gt};
}

constexpr GenerationRules gen4_5() {
  GenerationRules rules = gen4();
  rules.gens = from_to(GenId::gen4_5, GenId::gen4_5);
  rules.timestamp_format = TimestampFormat::quarter_nanoseconds;
  return rules;
}

// Ice Lake PRM vol. 6, GTTMMADR (seed 001) requires accesses with natural alignment.
constexpr GenerationRules gen6() {
  return {.gens = from_to(GenId::gen6, GenId::gen6),
          .submission = SubmissionKind::ring,
          .ggtt_format = GgttFormat::pte32_40,
          .interrupts = InterruptKind::display_master,
          .reset_port = ResetPort::mmio_gdrst,
          .timestamp_format = TimestampFormat::ticks_36,
          .register_access = {AccessRule::kNatural, 4},
          .gtt_access = {4, 8},
          .render_reset_ranges = kGen6Render,
          .gt_reset_ranges = kGen6Gt};
}

constexpr GenerationRules gen8() {
  GenerationRules rules = gen6();
  rules.gens = from_to(GenId::gen8, GenId::gen9);
  rules.submission = SubmissionKind::execlist_port;
  rules.ggtt_format = GgttFormat::pte64;
  rules.interrupts = InterruptKind::numbered_banks;
  rules.gtt_access = {AccessRule::kNatural, 8};
  rules.render_reset_ranges = kGen8Render;
  return rules;
}

constexpr GenerationRules gen11() {
  GenerationRules rules = gen8();
  rules.gens = from_to(GenId::gen11, GenId::gen11);
  rules.submission = SubmissionKind::submit_queue;
  rules.interrupts = InterruptKind::collapsed_banks;
  return rules;
}

// DG1 PRM vol. 13, GTTMMADR (seed 000) requires accesses with the alignment of a dword, and of an entry in the table.
constexpr GenerationRules gen12() {
  GenerationRules rules = gen11();
  rules.gens = from_to(GenId::gen12, GenId::gen12);
  rules.register_access = {4, 4};
  rules.gtt_access = {8, 8};
  rules.render_reset_ranges = kGen12Render;
  return rules;
}

constexpr std::array kRules{gen4(), gen4_5(), gen6(), gen8(), gen11(), gen12()};
static_assert(one_row_each<kRules, spec::kGensWithDevice>);

}  // namespace

const GenerationRules& generation_rules(GenId gen) {
  return row_of(kRules, gen, "generation_rules");
}

}  // namespace halogen
