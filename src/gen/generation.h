// Generation: what differs between chips, asked once and by name. src/gen is the only room that may name a generation;
// the other rooms ask for a feature or take a strategy from here. Every table here has one row for each generation that
// has a device (gen/rows.h). Facts that are numbers or bits of layouts are in spec/.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "spec/device_model.h"
#include "spec/domain_tables.h"

namespace halogen {

enum class SubmissionKind : uint8_t { ring, execlist_port, submit_queue };
enum class GgttFormat : uint8_t {
  pte32_36,  // 32-bit entry, address bits 35:32 in 7:4
  pte32_40,  // 32-bit entry, address bits 39:32 in 11:4
  pte64,
};
enum class InterruptKind : uint8_t {
  one_bank,         // IIR/IMR/IER/ISR at 0x20a0 for everything
  display_master,   // GT, power and display banks below DEIER
  numbered_banks,   // GT banks 0..3 below a master at 0x44200
  collapsed_banks,  // two banks that hand out identities below a master at 0x190010
};
enum class TimestampFormat : uint8_t {
  ticks,                // counts at the model's frequency
  ticks_36,             // the same in 36 bits
  quarter_nanoseconds,  // bits 63:20, so that the upper dword counts 1024 ns
};
enum class ResetPort : uint8_t { config_gdrst, mmio_gdrst };

// The sizes and alignments of accesses that a part of the MMIO BAR accepts. Other accesses are split and reported.
struct AccessRule {
  static constexpr uint8_t kNatural = 0;  // aligned to its own size
  uint8_t alignment;
  uint8_t max_bytes;
  constexpr bool allows(uint64_t offset, unsigned bytes) const {
    return bytes <= max_bytes && offset % (alignment == kNatural ? bytes : alignment) == 0;
  }
};

struct GenerationRules {
  spec::GenMask gens;
  SubmissionKind submission;
  GgttFormat ggtt_format;
  InterruptKind interrupts;
  ResetPort reset_port;
  TimestampFormat timestamp_format;
  AccessRule register_access;
  AccessRule gtt_access;
  // Registers outside the engines' own blocks that go with a reset: of the render engine alone, and of the whole GT.
  std::span<const spec::OffsetRange> render_reset_ranges;
  std::span<const spec::OffsetRange> gt_reset_ranges;
};

const GenerationRules& generation_rules(spec::GenId gen);

class Generation {
 public:
  explicit Generation(const spec::DeviceModel& model) : model_(&model), rules_(&generation_rules(model.gen)) {}

  spec::GenId id() const { return model_->gen; }
  std::string_view name() const { return spec::name_of(model_->gen); }
  const spec::DeviceModel& model() const { return *model_; }
  bool has(spec::Feature feature) const { return model_->has(feature); }
  bool has(spec::Quirk quirk) const { return model_->has(quirk); }

  SubmissionKind submission() const { return rules_->submission; }
  // Returns whether contexts are submitted as descriptors, to a port or to a queue.
  bool has_execlists() const { return rules_->submission != SubmissionKind::ring; }
  GgttFormat ggtt_format() const { return rules_->ggtt_format; }
  unsigned ggtt_entry_bytes() const { return rules_->ggtt_format == GgttFormat::pte64 ? 8 : 4; }
  InterruptKind interrupts() const { return rules_->interrupts; }
  ResetPort reset_port() const { return rules_->reset_port; }
  TimestampFormat timestamp_format() const { return rules_->timestamp_format; }

  AccessRule register_access() const { return rules_->register_access; }
  AccessRule gtt_access() const { return rules_->gtt_access; }

  std::span<const spec::OffsetRange> render_reset_ranges() const { return rules_->render_reset_ranges; }
  std::span<const spec::OffsetRange> gt_reset_ranges() const { return rules_->gt_reset_ranges; }

 private:
  const spec::DeviceModel* model_;
  const GenerationRules* rules_;
};

}  // namespace halogen
