// Generation: what differs between chips, asked once and by name. The only folder that may name a generation; the rest
// of the model asks for a feature or takes a strategy from here. Facts that are numbers stand in spec/.
#pragma once

#include <cstdint>
#include <optional>
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
  one_bank,         // IIR/IMR/IER/ISR at 20A0 for everything
  display_master,   // GT, power and display banks below DEIER
  numbered_banks,   // GT banks 0..3 below a master at 44200
  collapsed_banks,  // two banks that hand out identities below a master at 190010
};
enum class TimestampFormat : uint8_t {
  ticks,                // counts at the model's frequency
  ticks_36,             // the same in 36 bits
  quarter_nanoseconds,  // bits 63:20, so that the upper dword counts 1024 ns
};
enum class ResetPort : uint8_t { config_gdrst, mmio_gdrst };

// What sizes and alignments a part of the MMIO BAR accepts. Others are split and reported.
struct AccessRule {
  static constexpr uint8_t kNatural = 0;  // aligned to its own size
  uint8_t alignment;
  uint8_t max_bytes;
  constexpr bool allows(uint64_t offset, unsigned bytes) const {
    return bytes <= max_bytes && offset % (alignment == kNatural ? bytes : alignment) == 0;
  }
};

// One bit of GDRST: which engine it resets. kWholeGt: everything.
struct ResetDomain {
  static constexpr int kWholeGt = -1;
  uint8_t bit;
  int engine_class;  // an EngineClass as a number, or kWholeGt
  uint8_t instance;
};

class Generation {
 public:
  explicit Generation(const spec::DeviceModel& model) : model_(&model) {}

  spec::GenId id() const { return model_->gen; }
  std::string_view name() const { return spec::name_of(model_->gen); }
  const spec::DeviceModel& model() const { return *model_; }
  bool has(spec::Feature feature) const { return model_->has(feature); }
  bool has(spec::Quirk quirk) const { return model_->has(quirk); }

  SubmissionKind submission() const;
  GgttFormat ggtt_format() const;
  InterruptKind interrupts() const;
  ResetPort reset_port() const;
  TimestampFormat timestamp_format() const;

  AccessRule register_access() const;
  AccessRule gtt_access() const;

  // Offsets without registers that software may touch: left to a hypervisor, or for accesses that shall do nothing.
  // They read zero, writes are ignored.
  std::span<const spec::OffsetRange> null_ranges() const;

  // GDRST at MMIO 941C; empty where the reset port is in configuration space.
  std::span<const ResetDomain> reset_domains() const;
  // Registers outside the engines' own blocks that go with a reset: of the render engine alone, and of the whole GT.
  std::span<const spec::OffsetRange> render_reset_ranges() const;
  std::span<const spec::OffsetRange> gt_reset_ranges() const;

 private:
  const spec::DeviceModel* model_;
};

}  // namespace halogen
