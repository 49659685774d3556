#include "oa/custom_events.h"

namespace halogen::oa {

namespace {

constexpr size_t kStates = 256;

bool compare(CustomEvent::Function function, uint16_t input, uint16_t value) {
  switch (function) {
    case CustomEvent::Function::any_equal:
      return false;  // next_outputs() compares it lane by lane
    case CustomEvent::Function::greater:
      return input > value;
    case CustomEvent::Function::equal:
      return input == value;
    case CustomEvent::Function::greater_or_equal:
      return input >= value;
    case CustomEvent::Function::less:
      return input < value;
    case CustomEvent::Function::not_equal:
      return input != value;
    case CustomEvent::Function::less_or_equal:
      return input <= value;
    case CustomEvent::Function::always:
      return true;
  }
  return false;
}

uint16_t input_of(const CustomEvents& events, size_t number, uint16_t lanes, uint8_t outputs) {
  switch (events[number].source) {
    case CustomEvent::Source::network:
      return lanes;
    case CustomEvent::Source::previous:
      return bit(outputs, static_cast<unsigned>((number + kBooleans - 1) % kBooleans)) ? 1 : 0;
    case CustomEvent::Source::events:
      return outputs;
    case CustomEvent::Source::none:
      break;
  }
  return 0;
}

}  // namespace

uint8_t next_outputs(const CustomEvents& events, uint16_t lanes, uint8_t outputs) {
  unsigned next = 0;
  for (size_t number = 0; number < kBooleans; ++number) {
    const CustomEvent& event = events[number];
    const auto looked_at = static_cast<uint16_t>(~event.ignored);
    const auto input = static_cast<uint16_t>((input_of(events, number, lanes, outputs) ^ event.negated) & looked_at);
    const auto value = static_cast<uint16_t>(event.value & looked_at);
    const bool asserted = event.function == CustomEvent::Function::any_equal
                              ? (static_cast<uint16_t>(~(input ^ value)) & looked_at) != 0
                              : compare(event.function, input, value);
    next |= asserted ? 1u << number : 0u;
  }
  return static_cast<uint8_t>(next);
}

void EventCycle::prepare(const CustomEvents& events, uint16_t lanes, uint8_t outputs) {
  std::array<int16_t, kStates> seen{};
  seen.fill(-1);
  steps_.clear();
  total_ = {};
  at_ = 0;
  while (seen[outputs] < 0) {
    seen[outputs] = static_cast<int16_t>(steps_.size());
    steps_.push_back({outputs, total_});
    outputs = next_outputs(events, lanes, outputs);
    for (size_t number = 0; number < kBooleans; ++number) {
      total_[number] = static_cast<uint16_t>(total_[number] + ((outputs >> number) & 1));
    }
  }
  loop_ = static_cast<size_t>(seen[outputs]);
}

size_t EventCycle::index_of(uint64_t step) const {
  return step < steps_.size() ? static_cast<size_t>(step)
                              : loop_ + static_cast<size_t>((step - loop_) % (steps_.size() - loop_));
}

EventCycle::Counts EventCycle::counted_to(uint64_t step) const {
  const size_t index = index_of(step);
  const uint64_t rounds = (step - index) / (steps_.size() - loop_);
  Counts counts{};
  for (size_t number = 0; number < kBooleans; ++number) {
    counts[number] =
        steps_[index].asserted[number] + rounds * (total_[number] - uint64_t{steps_[loop_].asserted[number]});
  }
  return counts;
}

EventCycle::Counts EventCycle::advance(uint64_t clocks) {
  const Counts before = counted_to(at_);
  Counts counts = counted_to(at_ + clocks);
  for (size_t number = 0; number < kBooleans; ++number) {
    counts[number] -= before[number];
  }
  at_ = index_of(at_ + clocks);
  return counts;
}

}  // namespace halogen::oa
