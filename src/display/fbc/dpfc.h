// The display plane frame compressor of GM45, FBC2 (seed 003 chapter 7).
//
// - It works while the screen is scanned: a line that is not in the compressed buffer is read from the surface when the
//   beam comes to it, compressed and written back, and the next frame fetches it from there.
// - Enable and disable take effect at the next vertical blank of the plane's pipe. While the enable bit is set, other
//   bits of DPFC_CONTROL (but for the fence), the base and the fence offset do not change: an Event says so.
// - "Invalidated" counts lines that were modified in a frame, whether they were compressed or not: otherwise a stall,
//   after which nothing is compressed, would end itself. A nuke counts every line of the screen.
// - Line data of DPFC_SLB_DATA: how many 64-byte units the line has in the compressed buffer, 0 for none.
// - A line that does not fit is not tried again before it is modified.
// - Persistent mode keeps render writes for several surfaces, and takes those of the one that is flipped to.
// - Segments are lines; the code of a line is ours (dpfc_code.h).
// The model is the second stepping (DevCTG-B). Left out: self refresh, watermarks, FIFO errors but a pipe that runs
// empty, panel and port rules.
#pragma once

#include <string>
#include <vector>

#include "display/fbc/compression.h"
#include "display/fbc/dpfc_state.h"
#include "hw/fbc.h"

namespace halogen::display::dpfc {

class Dpfc final : public FrameCompressor {
 public:
  Dpfc(CompressionParts parts, State& state);

  void run_until(uint64_t nanoseconds) override;
  void on_vblank(unsigned pipe) override;
  void on_flip(unsigned plane, FlipKind kind) override;
  void on_pan(unsigned plane) override;
  void on_fence_write(unsigned fence, uint64_t first_line, uint64_t last_line) override;
  void on_target_write(GpuVa base, uint32_t first_line, uint32_t lines) override;
  bool read_line(unsigned plane, unsigned line, std::span<std::byte> into) override;
  void on_underrun(unsigned pipe) override;
  void set_processor_idle(bool /*idle*/) override {}
  std::optional<uint64_t> busy_until() const override { return std::nullopt; }
  void refresh() override;

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  hw::DPFC_CONTROL control() const;
  unsigned plane() const;
  // Registers.
  uint32_t keep_while_enabled(const mmio::RegisterWrite& write, uint32_t free_bits);
  uint32_t next_slb_data();
  void set_debug_status(const hw::DPFC_DEBUG_STATUS& bits);
  // Frames.
  void turn_on();
  void turn_off();
  void take_sample();
  Refusal refusal(const CompressionSource& source) const;
  void refuse(Refusal reason);
  void scan_to(unsigned line);
  bool compress_line(const Sample& sample, unsigned line);
  void publish();
  void consider_stall(unsigned modifications);
  // Modifications.
  void nuke();
  void modify(const LineSet& lines);
  LineSet lines_of_rows(uint64_t first, uint64_t last) const;
  void take_back_buffer(uint64_t base);
  void forget_back_buffers();

  bool in_stolen(uint64_t address, uint64_t bytes) const;
  void raise(EventKind kind, const mmio::RegisterSlot* slot, std::string_view detail);

  CompressionParts parts_;
  State& state_;
  const mmio::RegisterSlot* base_;
  const mmio::RegisterSlot* control_;
  const mmio::RegisterSlot* recompression_;
  const mmio::RegisterSlot* fence_offset_;
  const mmio::RegisterSlot* debug_;
  std::vector<std::byte> line_;  // scratch
  std::vector<std::byte> code_;
};

}  // namespace halogen::display::dpfc
