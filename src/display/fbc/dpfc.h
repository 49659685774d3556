// The display plane frame compressor of GM45, FBC2 (G45 PRM vol. 1b chapter 7, seed 003).
//
// - It works during scan-out. When the beam reaches a line that is not in the compressed buffer, the line is read from
// the surface, compressed and stored; the next frame fetches it from the buffer.
// - Enable and disable take effect at the next vertical blank of the plane's pipe. While the enable bit is set, the
// other bits of DPFC_CONTROL (except the fence), the base and the fence offset do not change; a write raises an Event.
// - "Invalidated" counts the lines that were modified in a frame, whether they were compressed or not. If only
// compressed lines counted, a stall, in which nothing is compressed, would end itself. A nuke counts every screen line.
// - Line data of DPFC_SLB_DATA is the number of 64-byte units of the line in the compressed buffer, 0 if it is not
// compressed.
// - A line that does not fit is not tried again until it is modified.
// - Persistent mode records render writes for several surfaces, and applies those of the surface that is flipped to.
// - Segments are lines; the line code is our own (dpfc_code.h).
// - The device has two steppings (DevCTG-A, DevCTG-B): fields that the first lacks read zero there (quirk
// dpfc_first_stepping).
// Not modelled: self refresh, watermarks, FIFO errors except a pipe
// underrun, panel and port rules.
#pragma once

#include <string>
#include <vector>

#include "display/fbc/compression.h"
#include "display/fbc/dpfc_state.h"
#include "hw/fbc.h"
#include "mmio/register.h"

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
  uint32_t without_later_fields(const mmio::RegisterWrite& write, uint32_t next, uint32_t fields);
  void check_watermark(const mmio::RegisterWrite& write);
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
  mmio::Register<hw::DPFC_CB_BASE> base_;
  mmio::Register<hw::DPFC_CONTROL> control_;
  mmio::Register<hw::DPFC_RECOMP_CTL> recompression_;
  mmio::Register<hw::DPFC_CPU_FENCE_OFFSET> fence_offset_;
  mmio::Register<hw::DPFC_DEBUG_STATUS> debug_;
  std::vector<std::byte> line_;  // scratch
  std::vector<std::byte> code_;
};

}  // namespace halogen::display::dpfc
