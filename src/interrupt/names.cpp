#include "interrupt/names.h"

#include <fmt/format.h>

#include "base/bits.h"
#include "spec/field_visitor.h"

namespace halogen::interrupt {

namespace {

// The display and GT banks since Gen6 keep two events. Drivers clear each of them twice (Linux i915, "two events").
constexpr bool kQueued = true;
constexpr bool kFollows = true;

constexpr std::array kBanks = {
    BankNames{"ISR", "IMR", "IIR", "IER", !kQueued, !kFollows},
    // Lower banks come first.
    BankNames{"SDEISR", "SDEIMR", "SDEIIR", "SDEIER", kQueued, !kFollows},
    BankNames{"DEISR", "DEIMR", "DEIIR", "DEIER", kQueued, !kFollows},
    BankNames{"GTISR", "GTIMR", "GTIIR", "GTIER", kQueued, !kFollows},
    BankNames{"PMISR", "PMIMR", "PMIIR", "PMIER", kQueued, !kFollows},
    BankNames{"GTISR_0", "GTIMR_0", "GTIIR_0", "GTIER_0", kQueued, !kFollows},
    BankNames{"GTISR_1", "GTIMR_1", "GTIIR_1", "GTIER_1", kQueued, !kFollows},
    BankNames{"GTISR_2", "GTIMR_2", "GTIIR_2", "GTIER_2", kQueued, !kFollows},
    BankNames{"GTISR_3", "GTIMR_3", "GTIIR_3", "GTIER_3", kQueued, !kFollows},
    BankNames{"DE_PIPE_ISR", "DE_PIPE_IMR", "DE_PIPE_IIR", "DE_PIPE_IER", kQueued, !kFollows},
    BankNames{"DE_PIPE_D_ISR", "DE_PIPE_D_IMR", "DE_PIPE_D_IIR", "DE_PIPE_D_IER", kQueued, !kFollows},
    BankNames{"DE_PORT_ISR", "DE_PORT_IMR", "DE_PORT_IIR", "DE_PORT_IER", kQueued, !kFollows},
    BankNames{"DE_MISC_ISR", "DE_MISC_IMR", "DE_MISC_IIR", "DE_MISC_IER", kQueued, !kFollows},
    BankNames{"DE_HPD_ISR", "DE_HPD_IMR", "DE_HPD_IIR", "DE_HPD_IER", kQueued, !kFollows},
    BankNames{"PCU_ISR", "PCU_IMR", "PCU_IIR", "PCU_IER", kQueued, !kFollows},
    BankNames{"GU_MISC_ISR", "GU_MISC_IMR", "GU_MISC_IIR", "GU_MISC_IER", kQueued, !kFollows},
    BankNames{"VLV_ISR", "VLV_IMR", "VLV_IIR", "VLV_IER", !kQueued, kFollows},
};

constexpr std::array kFeeds = {
    FeedNames{"SDEISR", 0, Half::both, "DEISR", "pch_event"},
    FeedNames{"GTISR_0", 0, Half::low, "MASTER_IRQ", "rcs"},
    FeedNames{"GTISR_0", 0, Half::high, "MASTER_IRQ", "bcs"},
    FeedNames{"GTISR_1", 0, Half::low, "MASTER_IRQ", "vcs0"},
    FeedNames{"GTISR_1", 0, Half::high, "MASTER_IRQ", "vcs1"},
    FeedNames{"GTISR_2", 0, Half::low, "MASTER_IRQ", "gt_pm"},
    FeedNames{"GTISR_2", 0, Half::high, "MASTER_IRQ", "guc"},
    FeedNames{"GTISR_3", 0, Half::both, "MASTER_IRQ", "vecs"},
    FeedNames{"DE_PIPE_ISR", 0, Half::both, "MASTER_IRQ", "pipe_a"},
    FeedNames{"DE_PIPE_ISR", 1, Half::both, "MASTER_IRQ", "pipe_b"},
    FeedNames{"DE_PIPE_ISR", 2, Half::both, "MASTER_IRQ", "pipe_c"},
    FeedNames{"DE_PORT_ISR", 0, Half::both, "MASTER_IRQ", "de_port"},
    FeedNames{"DE_MISC_ISR", 0, Half::both, "MASTER_IRQ", "de_misc"},
    FeedNames{"SDEISR", 0, Half::both, "MASTER_IRQ", "pch"},
    FeedNames{"PCU_ISR", 0, Half::both, "MASTER_IRQ", "pcu"},
    FeedNames{"DE_PIPE_ISR", 0, Half::both, "DISPLAY_INT_CTL", "pipe_a"},
    FeedNames{"DE_PIPE_ISR", 1, Half::both, "DISPLAY_INT_CTL", "pipe_b"},
    FeedNames{"DE_PIPE_ISR", 2, Half::both, "DISPLAY_INT_CTL", "pipe_c"},
    FeedNames{"DE_PIPE_D_ISR", 0, Half::both, "DISPLAY_INT_CTL", "pipe_d"},
    FeedNames{"DE_PORT_ISR", 0, Half::both, "DISPLAY_INT_CTL", "de_port"},
    FeedNames{"DE_MISC_ISR", 0, Half::both, "DISPLAY_INT_CTL", "de_misc"},
    FeedNames{"DE_HPD_ISR", 0, Half::both, "DISPLAY_INT_CTL", "de_hotplug"},
    FeedNames{"SDEISR", 0, Half::both, "DISPLAY_INT_CTL", "pch"},
    FeedNames{"PCU_ISR", 0, Half::both, "GFX_MSTR_IRQ", "pcu"},
    FeedNames{"GU_MISC_ISR", 0, Half::both, "GFX_MSTR_IRQ", "gu_misc"},
};

constexpr std::array kSummaries = {
    SummaryNames{"DISPLAY_INT_CTL", "GFX_MSTR_IRQ", "display"},
    SummaryNames{"MASTER_IRQ", "", ""},
    SummaryNames{"GFX_MSTR_IRQ", "", ""},
};

// Context switches, page faults and the watchdog cannot be unmasked in HWSTAM: DG1 PRM vol. 13, interrupt control
// registers (seed 000).
constexpr bool kReported = true;
constexpr std::array<CauseNames, kCauseCount> kCauses = {{
    {EngineCause::user, CauseKind::event, kReported, {"user_interrupt"}},
    {EngineCause::notify, CauseKind::event, kReported, {"flush_notify", "pipe_control_notify"}},
    {EngineCause::sync_status, CauseKind::toggle, kReported, {"sync_status"}},
    {EngineCause::master_error, CauseKind::level, kReported, {"master_error"}},
    {EngineCause::page_fault, CauseKind::level, !kReported, {"page_fault"}},
    {EngineCause::context_switch, CauseKind::event, !kReported, {"context_switch"}},
    {EngineCause::semaphore_wait, CauseKind::event, kReported, {"semaphore_wait"}},
    {EngineCause::watchdog, CauseKind::event, !kReported, {"watchdog"}},
    {EngineCause::l3_parity, CauseKind::event, kReported, {"l3_parity_error"}},
    {EngineCause::debug, CauseKind::event, kReported, {"debug"}},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < kCauses.size(); ++i) {
    if (static_cast<size_t>(kCauses[i].cause) != i) {
      return false;
    }
  }
  return true;
}
static_assert(in_order(), "a cause is found by its number");

struct PrefixNames {
  InterruptKind kind;
  std::string_view engine;
  std::array<std::string_view, 2> prefixes;
  uint8_t count;
};
constexpr std::array kPrefixes = {
    PrefixNames{InterruptKind::one_bank, "rcs0", {""}, 1},
    PrefixNames{
        InterruptKind::one_bank, "vcs0", {"bsd_", ""}, 2},  // the device has one bank: the other fields are shared
    PrefixNames{InterruptKind::display_master, "rcs0", {""}, 1},
    PrefixNames{InterruptKind::display_master, "vcs0", {"bsd_"}, 1},
    PrefixNames{InterruptKind::display_master, "bcs0", {"blt_"}, 1},
    PrefixNames{InterruptKind::numbered_banks, "rcs0", {"rcs_"}, 1},
    PrefixNames{InterruptKind::numbered_banks, "bcs0", {"bcs_"}, 1},
    PrefixNames{InterruptKind::numbered_banks, "vcs0", {"vcs0_"}, 1},
    PrefixNames{InterruptKind::numbered_banks, "vcs1", {"vcs1_"}, 1},
    PrefixNames{InterruptKind::numbered_banks, "vecs0", {"vecs_"}, 1},
};

using enum hw::InterruptClass;
constexpr std::string_view kRenderCopy = "RENDER_COPY_INTR_ENABLE";
constexpr std::string_view kVideo = "VCS_VECS_INTR_ENABLE";
constexpr std::string_view kCompute = "CCS_RSVD_INTR_ENABLE";

constexpr uint8_t other(hw::InterruptOtherInstance instance) {
  return static_cast<uint8_t>(instance);
}

constexpr std::array kSources = {
    SourceNames{"rcs0", RENDER, 0, kRenderCopy, "render", "RCS0_RSVD_INTR_MASK", "rcs0"},
    SourceNames{"bcs", COPY, 0, kRenderCopy, "copy", "BCS_RSVD_INTR_MASK", "bcs"},
    SourceNames{"ccs0", COMPUTE, 0, kCompute, "ccs", "CCS0_CCS1_INTR_MASK", "ccs0"},
    SourceNames{"ccs1", COMPUTE, 1, kCompute, "ccs", "CCS0_CCS1_INTR_MASK", "ccs1"},
    SourceNames{"ccs2", COMPUTE, 2, kCompute, "ccs", "CCS2_CCS3_INTR_MASK", "ccs2"},
    SourceNames{"ccs3", COMPUTE, 3, kCompute, "ccs", "CCS2_CCS3_INTR_MASK", "ccs3"},
    SourceNames{"vcs0", VIDEO_DECODE, 0, kVideo, "vcs", "VCS0_VCS1_INTR_MASK", "vcs0"},
    SourceNames{"vcs1", VIDEO_DECODE, 1, kVideo, "vcs", "VCS0_VCS1_INTR_MASK", "vcs1"},
    SourceNames{"vcs2", VIDEO_DECODE, 2, kVideo, "vcs", "VCS2_VCS3_INTR_MASK", "vcs2"},
    SourceNames{"vcs3", VIDEO_DECODE, 3, kVideo, "vcs", "VCS2_VCS3_INTR_MASK", "vcs3"},
    SourceNames{"vcs4", VIDEO_DECODE, 4, kVideo, "vcs", "VCS4_VCS5_INTR_MASK", "vcs4"},
    SourceNames{"vcs5", VIDEO_DECODE, 5, kVideo, "vcs", "VCS4_VCS5_INTR_MASK", "vcs5"},
    SourceNames{"vcs6", VIDEO_DECODE, 6, kVideo, "vcs", "VCS6_VCS7_INTR_MASK", "vcs6"},
    SourceNames{"vcs7", VIDEO_DECODE, 7, kVideo, "vcs", "VCS6_VCS7_INTR_MASK", "vcs7"},
    SourceNames{"vecs0", VIDEO_ENHANCEMENT, 0, kVideo, "vecs", "VECS0_VECS1_INTR_MASK", "vecs0"},
    SourceNames{"vecs1", VIDEO_ENHANCEMENT, 1, kVideo, "vecs", "VECS0_VECS1_INTR_MASK", "vecs1"},
    SourceNames{"vecs2", VIDEO_ENHANCEMENT, 2, kVideo, "vecs", "VECS2_VECS3_INTR_MASK", "vecs2"},
    SourceNames{"vecs3", VIDEO_ENHANCEMENT, 3, kVideo, "vecs", "VECS2_VECS3_INTR_MASK", "vecs3"},
    SourceNames{"guc", OTHER, other(hw::InterruptOtherInstance::GUC), "GUC_SG_INTR_ENABLE", "guc", "GUC_SG_INTR_MASK",
                "guc"},
    SourceNames{"gtpm", OTHER, other(hw::InterruptOtherInstance::GTPM), "GPM_WGBOXPERF_INTR_ENABLE", "gpm",
                "GPM_WGBOXPERF_INTR_MASK", "gpm"},
    SourceNames{"wdperf", OTHER, other(hw::InterruptOtherInstance::WDOAPERF), "GPM_WGBOXPERF_INTR_ENABLE", "wgboxperf",
                "GPM_WGBOXPERF_INTR_MASK", "wgboxperf"},
    SourceNames{"kcr", OTHER, other(hw::InterruptOtherInstance::KCR), "CRYPTO_RSVD_INTR_ENABLE", "crypto",
                "CRYPTO_RSVD_INTR_MASK", "crypto"},
    SourceNames{"gunit", OTHER, other(hw::InterruptOtherInstance::GUNIT), "GUNIT_CSME_INTR_ENABLE", "gunit",
                "GUNIT_CSME_INTR_MASK", "gunit"},
    SourceNames{"csme", OTHER, other(hw::InterruptOtherInstance::CSME), "GUNIT_CSME_INTR_ENABLE", "csme",
                "GUNIT_CSME_INTR_MASK", "csme"},
};

// Field of one pipe's own bank, and what follows "pipe_a_" in a bank that all pipes share.
struct DisplayNames {
  std::string_view own;
  std::string_view shared;
};
constexpr std::array<DisplayNames, kDisplayCauseCount> kDisplay = {{
    {"vblank", "vblank"},
    {"", "hblank"},
    {"scan_line_event", "line_compare"},
    {"", ""},  // flips have planes
    {"", ""},
    {"fifo_underrun", "fifo_underrun"},
}};
constexpr std::string_view kPipeBank = "DE_PIPE_ISR";
constexpr std::string_view kLastPipeBank = "DE_PIPE_D_ISR";
constexpr unsigned kPipesOfBank = 3;

std::vector<std::string> flip_fields(unsigned pipe, unsigned plane) {
  const char letter = static_cast<char>('a' + pipe);
  if (plane == 0) {
    return {fmt::format("plane_{}_flip_pending", letter), fmt::format("plane_{}_flip_done", letter)};
  }
  if (plane == 1) {
    return {fmt::format("sprite_{}_flip_done", letter), "sprite_flip_pending"};
  }
  return {};
}

}  // namespace

std::span<const BankNames> bank_names() {
  return kBanks;
}
std::span<const FeedNames> feed_names() {
  return kFeeds;
}
std::span<const SummaryNames> summary_names() {
  return kSummaries;
}
std::span<const CauseNames, kCauseCount> cause_names() {
  return kCauses;
}
std::span<const SourceNames> source_names() {
  return kSources;
}

std::span<const std::string_view> engine_prefixes(InterruptKind kind, std::string_view engine) {
  for (const PrefixNames& row : kPrefixes) {
    if (row.kind == kind && row.engine == engine) {
      return std::span(row.prefixes).first(row.count);
    }
  }
  return {};
}

bool is_flip(DisplayCause cause) {
  return cause == DisplayCause::flip_done || cause == DisplayCause::overlay_flip;
}

std::vector<DisplayPlace> display_places(DisplayCause cause, unsigned pipe, unsigned plane) {
  std::vector<std::string> own;
  std::vector<std::string> shared;
  if (cause == DisplayCause::flip_done) {
    own = {fmt::format("plane{}_flip_done", plane + 1)};
    if (plane < 2) {
      own.emplace_back(plane == 0 ? "primary_flip_done" : "sprite_flip_done");
    }
    shared = flip_fields(pipe, plane);
  } else if (cause == DisplayCause::overlay_flip) {
    shared = {"overlay_flip_pending"};
  } else {
    const DisplayNames& names = kDisplay[static_cast<size_t>(cause)];
    own = {std::string(names.own)};
    shared = {fmt::format("pipe_{}_{}", static_cast<char>('a' + pipe), names.shared)};
  }
  std::vector<DisplayPlace> places;
  for (const std::string& field : own) {
    const bool last = pipe >= kPipesOfBank;
    places.push_back({std::string(last ? kLastPipeBank : kPipeBank), last ? 0 : pipe, field});
  }
  for (const std::string_view bank : kSharedDisplayBanks) {
    for (const std::string& field : shared) {
      places.push_back({std::string(bank), 0, field});
    }
  }
  return places;
}

std::optional<hw::InterruptClass> interrupt_class(spec::EngineClass engine_class) {
  switch (engine_class) {
    case spec::EngineClass::render:
      return RENDER;
    case spec::EngineClass::blit:
      return COPY;
    case spec::EngineClass::video:
      return VIDEO_DECODE;
    case spec::EngineClass::vebox:
      return VIDEO_ENHANCEMENT;
    case spec::EngineClass::compute:
      return COMPUTE;
    case spec::EngineClass::posh:
      return std::nullopt;  // has no identity of its own
  }
  return std::nullopt;
}

uint32_t field_bits(const mmio::RegisterSlot* slot, spec::GenId gen, std::string_view field) {
  if (slot == nullptr || field.empty()) {
    return 0;
  }
  const spec::FieldDesc* desc = spec::find_field(*slot->desc, gen, field);
  return desc == nullptr ? 0 : static_cast<uint32_t>(low_mask(desc->width) << desc->first_bit);
}

}  // namespace halogen::interrupt
