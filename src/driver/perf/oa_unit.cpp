#include "driver/perf/oa_unit.h"

#include <array>

#include "driver/hw/packed.h"
#include "gen/perf_rules.h"
#include "hw/context.h"
#include "hw/oa.h"
#include "hw/oa_counters.h"
#include "hw/power.h"
#include "hw/tlb.h"

namespace halogen::driver {
namespace {

constexpr uint64_t kSmallestBuffer = uint64_t{128} << 10;

template <class Register>
uint32_t at(const Hardware& hardware) {
  return Register::kDesc.offset(hardware.model().id);
}

// Returns the offset of a register of the render engine.
template <class Register>
uint32_t at_render(const Hardware& hardware) {
  for (const spec::EngineModel& engine : hardware.model().engines) {
    if (engine.engine_class == spec::EngineClass::render) return engine.mmio_base + at<Register>(hardware);
  }
  return at<Register>(hardware);
}

template <class Buffer, class Address>
Buffer buffer_of(Address address, typename Buffer::BufferSize size = Buffer::BufferSize::size_16mb) {
  Buffer buffer;
  buffer.report_buffer_offset = address;
  buffer.buffer_size = size;
  buffer.memory_select = Buffer::MemorySelect::GGTT;
  return buffer;
}

// Gen8 to Gen11. A batch can start the unit without a stream. Buffer address 0 would be memory of the context that runs
// at the time of a report, which may belong to another file: without a stream the buffer is a range without memory.
class SingleUnit final : public OaUnit {
 public:
  SingleUnit(Hardware& hardware, GlobalTable& table)
      : OaUnit(hardware, {at<hw::OACONTROL>(hardware), at<hw::OADEBUG>(hardware), at<hw::OASTATUS>(hardware),
                          at<hw::OAHEADPTR>(hardware), at<hw::OATAILPTR>(hardware), at<hw::OABUFFER>(hardware)}),
        debug_(perf_rules(hardware.model().id).configures_debug),
        nowhere_(table.reserve_end(kSmallestBuffer)) {
    set_buffer(nowhere_, hw::OABUFFER::BufferSize::size_128kb);
  }

  bool counts_apart() const override { return false; }
  void configure(const OaSetup&) override {
    if (!debug_) return;
    const hw::OADEBUG debug{.include_clock_ratio = true, .disable_clock_ratio_reports = true};
    hardware_.write(places_.debug, Hardware::masked(packed32(debug, hardware_.model()), true));
  }

  void enable(const OaSetup& setup, uint64_t buffer) override {
    hardware_.write(places_.status, 0);
    set_buffer(buffer, hw::OABUFFER::BufferSize::size_16mb);
    hw::OACONTROL control;
    control.counter_select = setup.format;
    control.performance_counter_enable = true;
    hardware_.write(places_.control, packed32(control, hardware_.model()));
  }

  void disable() override { hardware_.write(places_.control, 0); }

  void finish() override {
    set_buffer(nowhere_, hw::OABUFFER::BufferSize::size_128kb);
    const bool by_power = at<hw::RPM_CONFIG1>(hardware_) != spec::kNoOffset && has_power_switch();
    if (by_power) {
      const auto word = std::array{hardware_.read(at<hw::RPM_CONFIG1>(hardware_))};
      hw::RPM_CONFIG1 config = hw::RPM_CONFIG1::unpack(hardware_.model().gen, word);
      config.gt_noa_enable = false;
      hardware_.write(at<hw::RPM_CONFIG1>(hardware_), packed32(config, hardware_.model()));
      return;
    }
    const auto word = std::array{hardware_.read(at<hw::GDT_CHICKEN_BITS>(hardware_))};
    hw::GDT_CHICKEN_BITS bits = hw::GDT_CHICKEN_BITS::unpack(hardware_.model().gen, word);
    bits.gt_noa_enable = false;
    hardware_.write(at<hw::GDT_CHICKEN_BITS>(hardware_), packed32(bits, hardware_.model()));
  }

  std::vector<RegisterValue> context_values(const OaSetup& setup, const PerfConfig* config) const override {
    std::vector<RegisterValue> values{{at_render<hw::OACTXCONTROL>(hardware_), timer_value(setup)}};
    for (const spec::RegisterDesc* const desc : flexible_registers()) {
      RegisterValue value{desc->offset(hardware_.model().id), 0};
      if (config != nullptr) {
        for (const RegisterValue& each : config->flexible) {
          if (each.offset == value.offset) value.value = each.value;
        }
      }
      values.push_back(value);
    }
    return values;
  }
  std::vector<RegisterValue> measured_values(const OaSetup&, bool) const override { return {}; }

  Losses losses() override {
    const hw::OASTATUS status = read_status();
    return {.overflow = status.oabuffer_overflow, .lost = status.report_lost};
  }
  void clear_lost() override {
    hw::OASTATUS status = read_status();
    status.counter_overflow = status.report_lost = false;
    status.head_pointer_wrap = status.tail_pointer_wrap = true;  // otherwise a chip may move the tail back
    hardware_.write(places_.status, packed32(status, hardware_.model()));
  }

 private:
  // The buffer's register follows the head and precedes the tail, or overflow is not detected.
  void set_buffer(uint64_t address, hw::OABUFFER::BufferSize size) {
    set_head(static_cast<uint32_t>(address));
    hardware_.write(at<hw::OABUFFER_UDW>(hardware_), 0);
    hardware_.write(places_.buffer, packed32(buffer_of<hw::OABUFFER>(GpuVa(address), size), hardware_.model()));
    hardware_.write(places_.tail, static_cast<uint32_t>(address));
  }
  // Whether the power unit, not the network itself, has the switch.
  bool has_power_switch() const {
    const spec::Layout* const layout = hw::RPM_CONFIG1::kDesc.layout(hardware_.model().gen);
    if (layout == nullptr) return false;
    for (const spec::FieldDesc& field : layout->fields) {
      if (field.name == "gt_noa_enable") return true;
    }
    return false;
  }
  hw::OASTATUS read_status() {
    const auto word = std::array{hardware_.read(places_.status)};
    return hw::OASTATUS::unpack(hardware_.model().gen, word);
  }

  bool debug_;
  uint64_t nowhere_;
};

// The global unit of Gen12, and the unit of the render engine.
class GlobalUnit final : public OaUnit {
 public:
  explicit GlobalUnit(Hardware& hardware)
      : OaUnit(hardware,
               {at<hw::OAG_OACONTROL>(hardware), at<hw::OAG_OADEBUG>(hardware), at<hw::OAG_OASTATUS>(hardware),
                at<hw::OAG_OAHEADPTR>(hardware), at<hw::OAG_OATAILPTR>(hardware), at<hw::OAG_OABUFFER>(hardware)}) {}

  bool counts_apart() const override { return true; }
  void configure(const OaSetup& setup) override {
    const hw::OAG_OADEBUG clocks{.include_clock_ratio = true, .disable_clock_ratio_reports = true};
    const hw::OAG_OADEBUG switches{.disable_context_switch_reports = true};
    hardware_.write(places_.debug, Hardware::masked(packed32(clocks, hardware_.model()), true) |
                                       Hardware::masked(packed32(switches, hardware_.model()), !setup.samples));
    hw::OAG_OAGLBCTXCTRL timer;
    timer.timer_period = setup.exponent;
    timer.timer_enable = timer.counter_resume = true;
    hardware_.write(at<hw::OAG_OAGLBCTXCTRL>(hardware_), setup.periodic ? packed32(timer, hardware_.model()) : 0);
  }

  // Enables the global unit. If no reports are sampled, only the unit of the render engine is used, and nothing is
  // enabled here.
  void enable(const OaSetup& setup, uint64_t buffer) override {
    if (!setup.samples) return;
    hardware_.write(places_.status, 0);
    set_head(static_cast<uint32_t>(buffer));
    const auto address = GgttOffset(static_cast<uint32_t>(buffer));
    hardware_.write(places_.buffer, packed32(buffer_of<hw::OAG_OABUFFER>(address), hardware_.model()));
    hardware_.write(places_.tail, static_cast<uint32_t>(buffer));
    hw::OAG_OACONTROL control;
    control.counter_select = setup.format;
    control.counter_enable = true;
    hardware_.write(places_.control, packed32(control, hardware_.model()));
  }

  void disable() override {
    hardware_.write(places_.control, 0);
    hardware_.write(at<hw::OA_TLB_INV_CR>(hardware_), 1);
  }

  void finish() override {
    const auto word = std::array{hardware_.read(at<hw::RPM_CONFIG1>(hardware_))};
    hw::RPM_CONFIG1 config = hw::RPM_CONFIG1::unpack(hardware_.model().gen, word);
    config.gt_noa_enable = false;
    hardware_.write(at<hw::RPM_CONFIG1>(hardware_), packed32(config, hardware_.model()));
  }

  std::vector<RegisterValue> context_values(const OaSetup&, const PerfConfig*) const override { return {}; }

  std::vector<RegisterValue> measured_values(const OaSetup& setup, bool on) const override {
    hw::OACTXCONTROL resume;
    resume.counter_resume = on;
    hw::OAR_OACONTROL control;
    if (on) control.counter_select = setup.format;
    control.counter_enable = on;
    const hw::CTXT_SR_CTL save{.oar_context_enable = true};
    return {{at_render<hw::OACTXCONTROL>(hardware_), packed32(resume, hardware_.model())},
            {at<hw::OAR_OACONTROL>(hardware_), packed32(control, hardware_.model())},
            {at_render<hw::CTXT_SR_CTL>(hardware_), Hardware::masked(packed32(save, hardware_.model()), on)}};
  }

  Losses losses() override {
    const hw::OAG_OASTATUS status = read_status();
    return {.overflow = status.buffer_overflow, .lost = status.report_lost};
  }
  void clear_lost() override {
    hw::OAG_OASTATUS status = read_status();
    status.counter_overflow = status.report_lost = false;
    hardware_.write(places_.status, packed32(status, hardware_.model()));
  }

 private:
  hw::OAG_OASTATUS read_status() {
    const auto word = std::array{hardware_.read(places_.status)};
    return hw::OAG_OASTATUS::unpack(hardware_.model().gen, word);
  }
};

}  // namespace

std::unique_ptr<OaUnit> OaUnit::create(Hardware& hardware, GlobalTable& table) {
  if (!perf_rules(hardware.model().id).exists) return nullptr;
  if (at<hw::OAG_OACONTROL>(hardware) != spec::kNoOffset) return std::make_unique<GlobalUnit>(hardware);
  return std::make_unique<SingleUnit>(hardware, table);
}

uint32_t OaUnit::timer_value(const OaSetup& setup) const {
  hw::OACTXCONTROL control;
  control.timer_period = setup.exponent;
  control.timer_enable = setup.periodic;
  control.counter_resume = true;
  return packed32(control, hardware_.model());
}

}  // namespace halogen::driver
