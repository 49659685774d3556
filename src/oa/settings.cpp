#include "oa/settings.h"

#include "spec/packing.h"

namespace halogen::oa {

namespace {

constexpr uint64_t kSmallestBuffer = 128 * 1024;
constexpr uint64_t kLowHalf = 0xffff'ffff;

template <class R>
R value_of(const mmio::RegisterBank& bank, spec::GenId gen, unsigned index) {
  const mmio::RegisterSlot* const slot = bank.map().find(R::kDesc.name, {}, index);
  return slot == nullptr ? R{} : spec::unpack_register<R>(gen, bank.peek(*slot));
}

CustomEvent event_of(const hw::CEC_0& first, const hw::CEC_1& second) {
  return {.function = static_cast<CustomEvent::Function>(first.compare_function),
          .source = static_cast<CustomEvent::Source>(first.source_select),
          .value = static_cast<uint16_t>(first.compare_value),
          .ignored = static_cast<uint16_t>(second.mask),
          .negated = static_cast<uint16_t>(first.negate & second.considerations)};
}

template <class High, class Low>
std::array<uint8_t, kLanes> selects_of(const High& high, const Low& low) {
  return {low.noa_select_0,   low.noa_select_1,   low.noa_select_2,   low.noa_select_3,
          low.noa_select_4,   low.noa_select_5,   low.noa_select_6,   low.noa_select_7,
          high.noa_select_8,  high.noa_select_9,  high.noa_select_10, high.noa_select_11,
          high.noa_select_12, high.noa_select_13, high.noa_select_14, high.noa_select_15};
}

template <class Second, class High, class Low>
Trigger trigger_of(uint16_t threshold, const Second& second, const High& high, const Low& low) {
  return {.threshold_enable = second.threshold_enable,
          .threshold = threshold,
          .invert_a = static_cast<uint16_t>(second.invert_a),
          .invert_b = static_cast<uint8_t>(second.invert_b),
          .invert_c = static_cast<uint8_t>(second.invert_c),
          .invert_d = second.invert_d != 0,
          .select = selects_of(high, low)};
}

// Fills the settings that both register sets hold in the same fields.
template <class Control, class Debug, class Timer, class Buffer>
void read_common(Settings& settings, const Control& control, const Debug& debug, const Timer& timer,
                 const Buffer& buffer) {
  settings.format = control.counter_select;
  settings.resumed = timer.counter_resume;
  if (timer.timer_enable) {
    settings.timer_exponent = timer.timer_period;
  }
  settings.clocks_in_reports = debug.include_clock_ratio;
  settings.frequency_reports = !debug.disable_clock_ratio_reports;
  settings.switch_reports = !debug.disable_context_switch_reports;
  settings.buffer.bytes = kSmallestBuffer << static_cast<unsigned>(buffer.buffer_size);
  settings.buffer_in_global_table = buffer.memory_select == Buffer::MemorySelect::GGTT;
}

void place_buffer(Settings& settings, uint64_t base, uint64_t head, uint64_t tail) {
  settings.asked_base = base;
  settings.buffer.base = base & ~(settings.buffer.bytes - 1);
  const uint64_t high = base & ~kLowHalf;
  settings.buffer.head = high | head;
  settings.buffer.tail = high | tail;
}

}  // namespace

SettingRegisters::SettingRegisters(mmio::MmioSpace& mmio, std::string_view render_engine)
    : gen_(mmio.generation().id()),
      rules_(observation_rules(gen_)),
      bank_(mmio.bank()),
      context_control_(bank_, render_engine),
      context_id_(bank_, render_engine),
      switch_control_(bank_, render_engine),
      control_(bank_),
      debug_(bank_),
      status_(bank_),
      head_(bank_),
      tail_(bank_),
      buffer_(bank_),
      buffer_high_(bank_),
      global_control_(bank_),
      global_timer_(bank_),
      global_debug_(bank_),
      global_status_(bank_),
      global_head_(bank_),
      global_tail_(bank_),
      global_buffer_(bank_),
      render_control_(bank_),
      network_(bank_),
      power_network_(bank_),
      context_select_(bank_) {}

bool SettingRegisters::enabled() const {
  return rules_.split ? global_control_.get().counter_enable : control_.get().performance_counter_enable;
}

bool SettingRegisters::context_enabled() const {
  return rules_.split && render_control_.get().counter_enable && switch_control_.get().oar_context_enable;
}

bool SettingRegisters::context_unit_enabled() const {
  return rules_.split && render_control_.get().counter_enable;
}

bool SettingRegisters::context_counts() const {
  return context_enabled() && context_control_.get().counter_resume;
}

bool SettingRegisters::resumed() const {
  return rules_.split ? global_timer_.get().counter_resume : context_control_.get().counter_resume;
}

Settings SettingRegisters::read() const {
  Settings settings;
  settings.enabled = enabled();
  if (rules_.split) {
    read_split(settings);
  } else {
    read_single(settings);
  }
  read_triggers(settings);
  settings.counting.events = read_events();
  settings.network_enabled =
      rules_.network_enable_in_power_unit ? power_network_.get().gt_noa_enable : network_.get().gt_noa_enable;
  return settings;
}

void SettingRegisters::read_single(Settings& settings) const {
  const hw::OACONTROL control = control_.get();
  const hw::OABUFFER buffer = buffer_.get();
  read_common(settings, control, debug_.get(), context_control_.get(), buffer);
  settings.one_context = control.specific_context_enable;
  settings.context_id = context_id_.get().context_id;
  const uint64_t high = rules_.high_address ? uint64_t{buffer_high_.raw32()} << 32 : 0;
  place_buffer(settings, high | buffer.report_buffer_offset.value, head_.get().head_pointer.value,
               tail_.get().tail_pointer.value);
}

void SettingRegisters::read_split(Settings& settings) const {
  const hw::OAG_OABUFFER buffer = global_buffer_.get();
  read_common(settings, global_control_.get(), global_debug_.get(), global_timer_.get(), buffer);
  place_buffer(settings, buffer.report_buffer_offset.value, global_head_.get().head_pointer.value,
               global_tail_.get().tail_pointer.value);
  const hw::OAR_OACONTROL control = render_control_.get();
  settings.context_enabled = control.counter_enable;
  settings.context_format = control.counter_select;
  settings.context_counting.counts = context_counts();
  settings.context_counting.events = read_context_events();
  settings.context_counting.event_select = static_cast<uint8_t>(context_select_.get().event_select);
  settings.context_counting.start_at_once = true;  // the unit has no triggers
}

void SettingRegisters::read_triggers(Settings& settings) const {
  constexpr unsigned kSelects = 4;  // event selects of a block
  for (unsigned number = 0; number < kTriggers; ++number) {
    const auto start = value_of<hw::OASTARTTRIG2>(bank_, gen_, number);
    settings.counting.start[number] =
        trigger_of(static_cast<uint16_t>(value_of<hw::OASTARTTRIG1>(bank_, gen_, number).threshold_value), start,
                   value_of<hw::OASTARTTRIG3>(bank_, gen_, number), value_of<hw::OASTARTTRIG4>(bank_, gen_, number));
    settings.counting.event_select =
        static_cast<uint8_t>(settings.counting.event_select | start.event_select << (kSelects * number));
    const auto threshold = value_of<hw::OAREPORTTRIG1>(bank_, gen_, number);
    const auto report = value_of<hw::OAREPORTTRIG2>(bank_, gen_, number);
    Trigger& trigger = settings.report_triggers[number];
    trigger =
        trigger_of(static_cast<uint16_t>(threshold.threshold_value), report,
                   value_of<hw::OAREPORTTRIG3>(bank_, gen_, number), value_of<hw::OAREPORTTRIG4>(bank_, gen_, number));
    trigger.edges = static_cast<uint16_t>(threshold.edge_level_select);
    trigger.enabled = report.report_trigger_enable;
  }
}

CustomEvents SettingRegisters::read_events() const {
  CustomEvents events;
  for (unsigned number = 0; number < kBooleans; ++number) {
    events[number] = event_of(value_of<hw::CEC_0>(bank_, gen_, number), value_of<hw::CEC_1>(bank_, gen_, number));
  }
  return events;
}

// The render engine's unit has pairs of registers with the bits of CEC_0 and CEC_1.
CustomEvents SettingRegisters::read_context_events() const {
  CustomEvents events;
  for (unsigned number = 0; number < kBooleans; ++number) {
    const uint32_t first = value_of<hw::OAG_SCEC>(bank_, gen_, 2 * number).value;
    const uint32_t second = value_of<hw::OAG_SCEC>(bank_, gen_, 2 * number + 1).value;
    events[number] =
        event_of(spec::unpack_register<hw::CEC_0>(gen_, first), spec::unpack_register<hw::CEC_1>(gen_, second));
  }
  return events;
}

FlexibleEvents SettingRegisters::flexible_events() const {
  FlexibleEvents events;
  const auto put = [&events](size_t number, const auto& control) {
    events[2 * number] = {
        .increment = control.increment_event_0, .coarse = control.coarse_filter_0, .fine = control.fine_filter_0};
    events[2 * number + 1] = {
        .increment = control.increment_event_1, .coarse = control.coarse_filter_1, .fine = control.fine_filter_1};
  };
  put(0, value_of<hw::EU_PERF_CNT_CTL0>(bank_, gen_, 0));
  put(1, value_of<hw::EU_PERF_CNT_CTL1>(bank_, gen_, 0));
  put(2, value_of<hw::EU_PERF_CNT_CTL2>(bank_, gen_, 0));
  put(3, value_of<hw::EU_PERF_CNT_CTL3>(bank_, gen_, 0));
  put(4, value_of<hw::EU_PERF_CNT_CTL4>(bank_, gen_, 0));
  put(5, value_of<hw::EU_PERF_CNT_CTL5>(bank_, gen_, 0));
  put(6, value_of<hw::EU_PERF_CNT_CTL6>(bank_, gen_, 0));
  return events;
}

void SettingRegisters::publish_tail(uint64_t tail) {
  const GgttOffset low{tail & kLowHalf};
  if (rules_.split) {
    global_tail_.set({.tail_pointer = low});
  } else {
    tail_.set({.tail_pointer = low});
  }
}

void SettingRegisters::add_status(bool wrapped, bool overflow, bool lost) {
  if (rules_.split) {
    hw::OAG_OASTATUS status = global_status_.get();
    status.buffer_overflow |= overflow;
    status.report_lost |= lost;
    global_status_.set(status);
    return;
  }
  hw::OASTATUS status = status_.get();
  status.tail_pointer_wrap |= wrapped;
  status.oabuffer_overflow |= overflow;
  status.report_lost |= lost;
  status_.set(status);
}

void SettingRegisters::note_head_wrap() {
  if (!rules_.split) {
    hw::OASTATUS status = status_.get();
    status.head_pointer_wrap = true;
    status_.set(status);
  }
}

}  // namespace halogen::oa
