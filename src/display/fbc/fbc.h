// Frame buffer compression of GM965 by run lengths: G45 PRM vol. 1b chapter 6 (seed 003); register offsets from Linux
// i915.
//
// - A pass starts at a vertical blank and takes kPairNs for each pair of lines that it compresses (our choice; the
// manual gives no time). A pair is marked compressed when it is begun and read when it is done, so a write in between
// marks it modified again.
// - Render caches and write buffers are empty whenever software can observe them, so a pass never waits for them.
// - A periodic pass may start at every Interval-th vertical blank since the enable or since the end of the last pass;
// an interval of 0 counts as 1. A request stays set until a pass starts.
// - If neither line of a pair can be compressed, the pass marks the pair uncompressible.
// - An aborted pass leaves no compressed buffer. Pictures that break a rule are not compressed and raise an Event.
// - The modification counter is the number of modified tags: a tag leaves this state only when a pass starts.
// Not modelled: Discard Alpha compression, watermarks.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "display/fbc/compression.h"
#include "display/fbc/fbc_state.h"
#include "hw/fbc.h"
#include "mmio/register.h"

namespace halogen::display::fbc {

class Fbc final : public FrameCompressor {
 public:
  Fbc(CompressionParts parts, State& state);

  static constexpr uint64_t kPairNs = 4000;

  void run_until(uint64_t nanoseconds) override;
  void on_vblank(unsigned pipe) override;
  void on_flip(unsigned plane, FlipKind kind) override;
  void on_pan(unsigned plane) override;
  void on_fence_write(unsigned fence, uint64_t first_line, uint64_t last_line) override;
  void on_target_write(GpuVa base, uint32_t first_line, uint32_t lines) override;
  bool read_line(unsigned plane, unsigned line, std::span<std::byte> into) override;
  void set_processor_idle(bool idle) override;
  std::optional<uint64_t> busy_until() const override;
  void refresh() override;

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  struct Registers {
    explicit Registers(mmio::RegisterBank& bank)
        : buffer(bank), lengths(bank), control(bank), control2(bank), fence_offset(bank), modifications(bank) {}
    mmio::Register<hw::FBC_CFB_BASE> buffer;
    mmio::Register<hw::FBC_LL_BASE> lengths;
    mmio::Register<hw::FBC_CONTROL> control;
    mmio::Register<hw::FBC_CONTROL2> control2;
    mmio::Register<hw::FBC_FENCE_OFF> fence_offset;
    mmio::Register<hw::FBC_MOD_NUM> modifications;
  };
  enum class LineResult : uint8_t { done, too_long, no_memory };

  hw::FBC_CONTROL control() const;
  hw::FBC_CONTROL2 control2() const;
  unsigned plane() const;
  bool enabled() const { return control().enable; }
  // Registers.
  void control_written(uint32_t old_value);
  void turn_on();
  void turn_off();
  uint32_t status() const;
  // Passes.
  bool pass_is_due(uint64_t vblanks);
  void check_mode(const CompressionSource& source);
  Refusal refusal(const CompressionSource& source) const;
  void refuse(Refusal reason);
  void begin_pass(const CompressionSource& source);
  void next_pair(unsigned from, uint64_t now);
  void finish_pair();
  LineResult compress_line(const Sample& sample, unsigned line);
  void end_pass();
  void abort_pass();
  void leave_stolen();
  bool blocked() const;
  // Modifications.
  void modify_all();
  void modify_rows(uint64_t first, uint64_t last);

  bool in_stolen(uint64_t address, uint64_t bytes) const;
  void raise(EventKind kind, const mmio::RegisterSlot* slot, std::string_view detail);

  CompressionParts parts_;
  State& state_;
  Registers registers_;
  std::vector<std::byte> line_;  // scratch
  std::vector<uint32_t> runs_;
};

}  // namespace halogen::display::fbc
