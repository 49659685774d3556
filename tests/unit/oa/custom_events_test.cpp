// Custom events against a model that goes clock by clock, and against what drivers' metric sets say that they count.
#include "oa/custom_events.h"

#include <random>

#include <gtest/gtest.h>

#include "covers.h"

namespace halogen::oa {
namespace {

using Function = CustomEvent::Function;
using Source = CustomEvent::Source;

// One event from the text of Linux's and Mesa's register descriptions: lane by lane.
bool slow_event(const CustomEvent& event, unsigned number, unsigned lanes, unsigned outputs) {
  unsigned input = 0;
  if (event.source == Source::network) input = lanes;
  if (event.source == Source::events) input = outputs;
  if (event.source == Source::previous) input = outputs >> (number == 0 ? 7 : number - 1) & 1;
  unsigned compared = 0, value = 0;
  bool some_equal = false;
  for (unsigned lane = 0; lane < 16; ++lane) {
    if ((event.ignored >> lane & 1) != 0) continue;
    const unsigned signal = (input >> lane & 1) ^ (event.negated >> lane & 1u);
    const unsigned wanted = event.value >> lane & 1;
    some_equal = some_equal || signal == wanted;
    compared += signal << lane;
    value += wanted << lane;
  }
  switch (event.function) {
    case Function::any_equal:
      return some_equal;
    case Function::greater:
      return compared > value;
    case Function::equal:
      return compared == value;
    case Function::greater_or_equal:
      return compared >= value;
    case Function::less:
      return compared < value;
    case Function::not_equal:
      return compared != value;
    case Function::less_or_equal:
      return compared <= value;
    case Function::always:
      return true;
  }
  return false;
}

unsigned slow_step(const CustomEvents& events, unsigned lanes, unsigned outputs) {
  unsigned next = 0;
  for (unsigned number = 0; number < 8; ++number) {
    next += slow_event(events[number], number, lanes, outputs) ? 1u << number : 0;
  }
  return next;
}

CustomEvents random_events(std::mt19937& random) {
  CustomEvents events;
  for (CustomEvent& event : events) {
    event = {.function = static_cast<Function>(random() % 8),
             .source = static_cast<Source>(random() % 4),
             .value = static_cast<uint16_t>(random() & (random() % 2 == 0 ? 0xff : 0xffff)),
             .ignored = static_cast<uint16_t>(random() | (random() % 2 == 0 ? 0xff00 : 0)),
             .negated = static_cast<uint16_t>(random() % 2 == 0 ? 0 : random())};
  }
  return events;
}

TEST(CustomEvents, CountsOfRandomConfigurationsEqualAWalkClockByClock) {
  COVERS("DG1-OA-22");
  std::mt19937 random(22);
  for (unsigned round = 0; round < 400; ++round) {
    const CustomEvents events = random_events(random);
    const auto lanes = static_cast<uint16_t>(random());
    unsigned outputs = random() & 0xff;
    EventCycle cycle;
    cycle.prepare(events, lanes, static_cast<uint8_t>(outputs));
    for (unsigned part = 0; part < 8; ++part) {
      const uint64_t clocks = random() % (part % 2 == 0 ? 12 : 2000);
      std::array<uint64_t, 8> expected{};
      for (uint64_t clock = 0; clock < clocks; ++clock) {
        outputs = slow_step(events, lanes, outputs);
        for (unsigned number = 0; number < 8; ++number) expected[number] += outputs >> number & 1;
      }
      ASSERT_EQ(cycle.advance(clocks), expected) << "round " << round << " part " << part;
      ASSERT_EQ(cycle.outputs(), outputs) << "round " << round;
    }
  }
}

TEST(CustomEvents, LongTimesDivideIntoRounds) {
  CustomEvents toggle;
  toggle[0] = {.function = Function::equal, .source = Source::events, .value = 0, .ignored = 0xfffe};
  EventCycle cycle;
  cycle.prepare(toggle, 0, 0);
  EXPECT_EQ(cycle.advance(uint64_t{1} << 40)[0], uint64_t{1} << 39);
  EXPECT_EQ(cycle.advance(1)[0], 1u) << "asserted in the first clock of each pair";
  EXPECT_EQ(cycle.advance(1)[0], 0u);
}

// The set L3_1 of CHV, BDW and SKL (Mesa): event 0 is the OR of events 1 to 3, with source 2, value 000E, mask FFF1.
TEST(CustomEvents, AnyEqualOverTheOutputsIsAnOr) {
  for (unsigned lanes = 0; lanes < 8; ++lanes) {
    CustomEvents events;
    events[0] = {.function = Function::any_equal, .source = Source::events, .value = 0x000e, .ignored = 0xfff1};
    for (unsigned number = 1; number < 4; ++number) {
      events[number] = {
          .function = Function::greater, .value = 0, .ignored = static_cast<uint16_t>(~(1u << (number - 1)))};
    }
    EventCycle cycle;
    cycle.prepare(events, static_cast<uint16_t>(lanes), 0);
    cycle.advance(1);
    const EventCycle::Counts counts = cycle.advance(100);
    EXPECT_EQ(counts[0], lanes != 0 ? 100u : 0u) << lanes;
    EXPECT_EQ(counts[1], (lanes & 1) != 0 ? 100u : 0u);
    EXPECT_EQ(counts[3], (lanes & 4) != 0 ? 100u : 0u);
  }
}

}  // namespace
}  // namespace halogen::oa
