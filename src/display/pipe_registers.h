// A device's pipe and transcoder registers, found once by name, and the meaning of their values. Broadwell to
// Ice Lake have a separate transcoder for the embedded panel, which one of the pipes feeds; a pipe takes its timing
// from the transcoder that it feeds. Not modelled: DSI transcoders, joined pipes, port synchronisation.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "display/raster.h"
#include "hw/display_pipe.h"
#include "hw/display_timing.h"
#include "mmio/register.h"

namespace halogen::display {

struct TranscoderSlots {
  const mmio::RegisterSlot* h_total = nullptr;
  const mmio::RegisterSlot* h_blank = nullptr;
  const mmio::RegisterSlot* h_sync = nullptr;
  const mmio::RegisterSlot* v_total = nullptr;
  const mmio::RegisterSlot* v_blank = nullptr;
  const mmio::RegisterSlot* v_sync = nullptr;
  const mmio::RegisterSlot* configuration = nullptr;
};

// Null: the device does not have the register.
struct PipeSlots {
  TranscoderSlots transcoder;
  const mmio::RegisterSlot* line = nullptr;         // PIPEDSL
  const mmio::RegisterSlot* window = nullptr;       // DSLC
  const mmio::RegisterSlot* status = nullptr;       // PIPESTAT
  const mmio::RegisterSlot* source_size = nullptr;  // PIPESRC
  const mmio::RegisterSlot* frame_high = nullptr;   // PIPEFRAMEHIGH
  const mmio::RegisterSlot* frame_pixel = nullptr;  // PIPEFRAMEPIXEL
  const mmio::RegisterSlot* frame_count = nullptr;  // PIPE_FRMCOUNT
  const mmio::RegisterSlot* flip_count = nullptr;   // PIPE_FLIPCOUNT
  const mmio::RegisterSlot* frame_time = nullptr;   // PIPE_FRMTMSTMP
  const mmio::RegisterSlot* flip_time = nullptr;    // PIPE_FLIPTMSTMP
  const mmio::RegisterSlot* generator = nullptr;    // DPLL
  const mmio::RegisterSlot* multiplier = nullptr;   // DPLL_MD
  std::array<mmio::Register<hw::FP>, 2> divisors;
  const mmio::RegisterSlot* gamma_mode = nullptr;  // GAMMA_MODE
  mmio::Register<hw::BCLRPAT> border;
  const mmio::RegisterSlot* bottom_color = nullptr;  // PIPE_BOTTOM_COLOR
  std::span<const mmio::RegisterSlot> palette;       // PALETTE or LGC_PALETTE; empty: the pipe has none
};

struct DisplaySlots {
  std::vector<PipeSlots> pipes;
  TranscoderSlots panel;  // the transcoder of the embedded panel; empty: none
  mmio::Register<hw::TRANS_DDI_FUNC_CTL_EDP> panel_input;
  mmio::Register<hw::DE_LOAD_SL> load_window;

  static DisplaySlots find(mmio::RegisterBank& bank);
};

// Values of one device's registers.
class PipeRegisters {
 public:
  PipeRegisters(mmio::RegisterBank& bank, spec::GenId gen) : bank_(bank), gen_(gen), slots_(DisplaySlots::find(bank)) {}

  const DisplaySlots& slots() const { return slots_; }
  unsigned pipes() const { return static_cast<unsigned>(slots_.pipes.size()); }

  const TranscoderSlots& transcoder(unsigned pipe) const;  // the transcoder that the pipe feeds
  bool enabled(const TranscoderSlots& slots) const;
  ModeTiming timing(const TranscoderSlots& slots) const;  // as programmed, not checked
  std::optional<PixelClock> clock(
      unsigned pipe) const;  // as programmed; no value: the device does not describe its clock

  void show_running(const TranscoderSlots& slots, bool running);  // writes the state bit next to the enable bit
  void show_window(unsigned pipe, const LineSpan& span, bool inclusive);
  void set_source_size(unsigned pipe, uint16_t horizontal, uint16_t vertical);

  // Returns the value of the scan line register.
  uint32_t line_value(uint32_t counter, bool second_field) const;

  uint32_t peek(const mmio::RegisterSlot* slot) const { return slot == nullptr ? 0 : bank_.peek(*slot); }

 private:
  mmio::RegisterBank& bank_;
  spec::GenId gen_;
  DisplaySlots slots_;
};

}  // namespace halogen::display
