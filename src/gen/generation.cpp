#include "gen/generation.h"

#include <array>

namespace halogen {

namespace {

using spec::EngineClass;
using spec::Feature;
using spec::GenId;
using spec::OffsetRange;

constexpr int number(EngineClass engine) {
  return static_cast<int>(engine);
}

// GRDOM bits as Linux i915 names them (GEN6_GRDOM_*, GEN8_GRDOM_*, GEN11_GRDOM_*).
constexpr std::array kGen6Domains{
    ResetDomain{0, ResetDomain::kWholeGt, 0},      ResetDomain{1, number(EngineClass::render), 0},
    ResetDomain{2, number(EngineClass::video), 0}, ResetDomain{3, number(EngineClass::blit), 0},
    ResetDomain{4, number(EngineClass::vebox), 0},
};
constexpr std::array kGen11Domains{
    ResetDomain{0, ResetDomain::kWholeGt, 0},        ResetDomain{1, number(EngineClass::render), 0},
    ResetDomain{1, number(EngineClass::compute), 0}, ResetDomain{1, number(EngineClass::posh), 0},
    ResetDomain{2, number(EngineClass::blit), 0},    ResetDomain{5, number(EngineClass::video), 0},
    ResetDomain{6, number(EngineClass::video), 1},   ResetDomain{7, number(EngineClass::video), 2},
    ResetDomain{8, number(EngineClass::video), 3},   ResetDomain{13, number(EngineClass::vebox), 0},
    ResetDomain{14, number(EngineClass::vebox), 1},
};

// The first page of engine registers is reset through RegisterSlot::engine; these are the units behind them.
// Model's choice where the manuals are silent: state that a context image or the driver's start-up restores is lost;
// wake requests, fuses, power management (A000) and display survive.
// The interrupt bank between the two ranges serves the display too, and drivers do not program it again.
constexpr std::array kGen4Render{OffsetRange{0x2000, 0x209f}, OffsetRange{0x20b0, 0x2fff}};
constexpr std::array kGen4Gt{OffsetRange{0x2000, 0x209f}, OffsetRange{0x20b0, 0x4fff}};
constexpr std::array kGen6Render{OffsetRange{0x2000, 0x2fff}, OffsetRange{0x5200, 0x7fff}, OffsetRange{0xe000, 0xe8ff}};
constexpr std::array kGen6Gt{OffsetRange{0x2000, 0x8fff}, OffsetRange{0xb000, 0xbfff}, OffsetRange{0xc000, 0xcfff},
                             OffsetRange{0xd800, 0x3ffff}, OffsetRange{0x1c0000, 0x23ffff}};

bool before_gen6(GenId gen) {
  return gen < GenId::gen6;
}

}  // namespace

SubmissionKind Generation::submission() const {
  if (has(Feature::submit_queue)) {
    return SubmissionKind::submit_queue;
  }
  return has(Feature::execlists) ? SubmissionKind::execlist_port : SubmissionKind::ring;
}

GgttFormat Generation::ggtt_format() const {
  if (has(Feature::ggtt_pte64)) {
    return GgttFormat::pte64;
  }
  return before_gen6(id()) ? GgttFormat::pte32_36 : GgttFormat::pte32_40;
}

InterruptKind Generation::interrupts() const {
  if (has(Feature::collapsed_interrupts)) {
    return InterruptKind::collapsed_banks;
  }
  if (id() >= GenId::gen8) {
    return InterruptKind::numbered_banks;
  }
  return before_gen6(id()) ? InterruptKind::one_bank : InterruptKind::display_master;
}

ResetPort Generation::reset_port() const {
  return has(Feature::gdrst_config) ? ResetPort::config_gdrst : ResetPort::mmio_gdrst;
}

TimestampFormat Generation::timestamp_format() const {
  if (id() == GenId::gen4_5) {
    return TimestampFormat::quarter_nanoseconds;
  }
  return before_gen6(id()) ? TimestampFormat::ticks : TimestampFormat::ticks_36;
}

AccessRule Generation::register_access() const {
  // Gen4 has 8- and 16-bit registers (DRAM rank boundaries at 10206). Seed 001 asks for natural alignment, seed 000
  // (Gen12) for that of a dword.
  if (before_gen6(id())) {
    return {1, 4};
  }
  return id() >= GenId::gen12 ? AccessRule{4, 4} : AccessRule{AccessRule::kNatural, 4};
}

AccessRule Generation::gtt_access() const {
  if (!has(Feature::ggtt_pte64)) {
    return {4, 8};
  }
  return id() >= GenId::gen12 ? AccessRule{8, 8} : AccessRule{AccessRule::kNatural, 8};
}

std::span<const OffsetRange> Generation::null_ranges() const {
  // Linux i915 looks for a hypervisor's page at 78000 on every part, whatever the manual of Gen12 says.
  static constexpr std::array kEarly{OffsetRange{0x78000, 0x78fff}};
  // Seed 001 (Gen9 to Gen11): 170000 to 17FFFF is a null range. Seed 000 (Gen12): of it, 178000 is the hypervisor's.
  static constexpr std::array kGen9{OffsetRange{0x78000, 0x78fff}, OffsetRange{0x170000, 0x17ffff}};
  static constexpr std::array kGen12{OffsetRange{0x78000, 0x78fff}, OffsetRange{0x178000, 0x178fff}};
  if (id() >= GenId::gen12) {
    return kGen12;
  }
  return id() >= GenId::gen9 ? std::span<const OffsetRange>(kGen9) : std::span<const OffsetRange>(kEarly);
}

std::span<const ResetDomain> Generation::reset_domains() const {
  if (reset_port() == ResetPort::config_gdrst) {
    return {};
  }
  return id() >= GenId::gen11 ? std::span<const ResetDomain>(kGen11Domains)
                              : std::span<const ResetDomain>(kGen6Domains);
}

std::span<const OffsetRange> Generation::render_reset_ranges() const {
  return before_gen6(id()) ? std::span<const OffsetRange>(kGen4Render) : std::span<const OffsetRange>(kGen6Render);
}

std::span<const OffsetRange> Generation::gt_reset_ranges() const {
  return before_gen6(id()) ? std::span<const OffsetRange>(kGen4Gt) : std::span<const OffsetRange>(kGen6Gt);
}

}  // namespace halogen
