#include "display/pipe_registers.h"

#include <array>
#include <string>

#include "display/pixel_clock.h"
#include "hw/display_pipe.h"
#include "hw/display_timing.h"
#include "spec/field_visitor.h"
#include "spec/packed.h"
#include "spec/packing.h"

namespace halogen::display {

namespace {

using spec::unpack_register;

constexpr unsigned kMaxPipes = 4;
constexpr std::array<std::string_view, kMaxPipes> kSuffix = {"_A", "_B", "_C", "_D"};

// `together` pipes share one description, indexed by pipe. Each of the others has its own, with a suffix.
const mmio::RegisterSlot* use_of_pipe(mmio::RegisterBank& bank, std::string_view name, unsigned pipe,
                                      unsigned together = 2) {
  return pipe < together ? bank.use(name, {}, pipe) : bank.use(std::string(name).append(kSuffix[pipe]));
}

std::span<const mmio::RegisterSlot> use_palette(mmio::RegisterBank& bank, unsigned pipe) {
  const std::string suffix(kSuffix[pipe]);
  const std::span<const mmio::RegisterSlot> palette = bank.use_all("LGC_PALETTE" + suffix);
  return palette.empty() ? bank.use_all("PALETTE" + suffix) : palette;
}

template <class Find>
TranscoderSlots find_transcoder(const Find& find) {
  return {.h_total = find("HTOTAL"),
          .h_blank = find("HBLANK"),
          .h_sync = find("HSYNC"),
          .v_total = find("VTOTAL"),
          .v_blank = find("VBLANK"),
          .v_sync = find("VSYNC"),
          .configuration = find("PIPECONF")};
}

}  // namespace

DisplaySlots DisplaySlots::find(mmio::RegisterBank& bank) {
  DisplaySlots slots;
  for (unsigned pipe = 0; pipe < kMaxPipes && use_of_pipe(bank, "PIPEDSL", pipe) != nullptr; ++pipe) {
    const auto find = [&](std::string_view name) { return use_of_pipe(bank, name, pipe); };
    PipeSlots of;
    of.transcoder = find_transcoder(find);
    of.line = find("PIPEDSL");
    of.window = find("DSLC");
    of.status = find("PIPESTAT");
    of.source_size = find("PIPESRC");
    of.frame_high = find("PIPEFRAMEHIGH");
    of.frame_pixel = find("PIPEFRAMEPIXEL");
    of.frame_count = find("PIPE_FRMCOUNT");
    of.flip_count = find("PIPE_FLIPCOUNT");
    of.frame_time = find("PIPE_FRMTMSTMP");
    of.flip_time = find("PIPE_FLIPTMSTMP");
    of.generator = find("DPLL");
    of.multiplier = find("DPLL_MD");
    for (unsigned set = 0; set < 2 && of.generator != nullptr; ++set) {
      of.divisors[set] = mmio::Register<hw::FP>(bank, {}, 2 * pipe + set);
    }
    of.gamma_mode = use_of_pipe(bank, "GAMMA_MODE", pipe, 3);
    of.border = mmio::Register<hw::BCLRPAT>(bank, {}, pipe);
    of.bottom_color = use_of_pipe(bank, "PIPE_BOTTOM_COLOR", pipe, 3);
    of.palette = use_palette(bank, pipe);
    slots.pipes.push_back(of);
  }
  slots.panel = find_transcoder([&](std::string_view name) { return bank.use(std::string(name).append("_EDP")); });
  slots.panel_input = mmio::Register<hw::TRANS_DDI_FUNC_CTL_EDP>(bank);
  slots.load_window = mmio::Register<hw::DE_LOAD_SL>(bank);
  return slots;
}

const TranscoderSlots& PipeRegisters::transcoder(unsigned pipe) const {
  using Input = hw::TRANS_DDI_FUNC_CTL_EDP::EdpInput;
  if (slots_.panel_input.exists()) {
    const auto panel = slots_.panel_input.get();
    const bool fed = (pipe == 0 && (panel.edp_input == Input::a_always_on || panel.edp_input == Input::a_on_off)) ||
                     (pipe == 1 && panel.edp_input == Input::b_on_off) ||
                     (pipe == 2 && panel.edp_input == Input::c_on_off);
    if (panel.enable && fed) {
      return slots_.panel;
    }
  }
  return slots_.pipes[pipe].transcoder;
}

// C, D and the panel's transcoder have the layouts of A and B.
bool PipeRegisters::enabled(const TranscoderSlots& slots) const {
  return unpack_register<hw::PIPECONF>(gen_, peek(slots.configuration)).pipe_enable;
}

ModeTiming PipeRegisters::timing(const TranscoderSlots& slots) const {
  const auto h_total = unpack_register<hw::HTOTAL>(gen_, peek(slots.h_total));
  const auto h_blank = unpack_register<hw::HBLANK>(gen_, peek(slots.h_blank));
  const auto h_sync = unpack_register<hw::HSYNC>(gen_, peek(slots.h_sync));
  const auto v_total = unpack_register<hw::VTOTAL>(gen_, peek(slots.v_total));
  const auto v_blank = unpack_register<hw::VBLANK>(gen_, peek(slots.v_blank));
  const auto v_sync = unpack_register<hw::VSYNC>(gen_, peek(slots.v_sync));
  const auto configuration = unpack_register<hw::PIPECONF>(gen_, peek(slots.configuration));
  return {.h_total = h_total.total + 1u,
          .h_active = h_total.active + 1u,
          .h_blank_start = h_blank.blank_start + 1u,
          .h_blank_end = h_blank.blank_end + 1u,
          .h_sync_start = h_sync.sync_start + 1u,
          .v_total = v_total.total + 1u,
          .v_active = v_total.active + 1u,
          .v_blank_start = v_blank.blank_start + 1u,
          .v_blank_end = v_blank.blank_end + 1u,
          .v_sync_start = v_sync.sync_start + 1u,
          .interlaced = configuration.interlace_mode != 0};
}

std::optional<PixelClock> PipeRegisters::clock(unsigned pipe) const {
  const PipeSlots& of = slots_.pipes[pipe];
  if (of.generator == nullptr) {
    return std::nullopt;
  }
  const auto generator = unpack_register<hw::DPLL>(gen_, peek(of.generator));
  return pixel_clock(generator, of.divisors[generator.rate_select ? 1 : 0].get(),
                     unpack_register<hw::DPLL_MD>(gen_, peek(of.multiplier)));
}

void PipeRegisters::show_running(const TranscoderSlots& slots, bool running) {
  if (slots.configuration == nullptr) {
    return;
  }
  auto value = unpack_register<hw::PIPECONF>(gen_, peek(slots.configuration));
  value.pipe_state = running;
  bank_.poke(*slots.configuration, spec::packed32(value, gen_));
}

void PipeRegisters::show_window(unsigned pipe, const LineSpan& span, bool inclusive) {
  const mmio::RegisterSlot* slot = slots_.pipes[pipe].window;
  if (slot == nullptr) {
    return;
  }
  constexpr uint32_t kLineMask = 0x1fff;  // width of the register's line fields; commands have sixteen bits
  hw::DSLC value;
  value.inclusive = inclusive;
  value.start_scan_line = static_cast<uint16_t>(span.first & kLineMask);
  value.end_scan_line = static_cast<uint16_t>(span.last & kLineMask);
  bank_.poke(*slot, spec::packed32(value, gen_));
}

void PipeRegisters::set_source_size(unsigned pipe, uint16_t horizontal, uint16_t vertical) {
  hw::PIPESRC value;
  value.horizontal_size = horizontal;
  value.vertical_size = vertical;
  bank_.poke(*slots_.pipes[pipe].source_size, spec::packed32(value, gen_));
}

uint32_t PipeRegisters::line_value(uint32_t counter, bool second_field) const {
  hw::PIPEDSL value;
  value.line_counter = static_cast<uint16_t>(counter);
  value.current_field = second_field && spec::find_field(hw::PIPEDSL::kDesc, gen_, "current_field") != nullptr;
  return spec::packed32(value, gen_);
}

}  // namespace halogen::display
