// Trigger blocks and the counters that they start, against a model that goes clock by clock.
#include "oa/trigger.h"

#include <random>

#include <gtest/gtest.h>

#include "covers.h"
#include "oa/domain.h"

namespace halogen::oa {
namespace {

// The figure of the manual, input by input: select, invert A, groups of four, invert B, pairs, invert C, AND, invert D.
bool slow_tree(const Trigger& trigger, unsigned lanes, unsigned before) {
  const auto input = [&](unsigned n) {
    const bool inverted = (trigger.invert_a >> n & 1) != 0;
    const bool now = ((lanes >> trigger.select[n] & 1) != 0) != inverted;
    const bool then = ((before >> trigger.select[n] & 1) != 0) != inverted;
    return (trigger.edges >> n & 1) != 0 ? now && !then : now;
  };
  const auto group = [&](unsigned n) {
    const bool all = input(4 * n) && input(4 * n + 1) && input(4 * n + 2) && input(4 * n + 3);
    return all != ((trigger.invert_b >> n & 1) != 0);
  };
  const auto pair = [&](unsigned n) {
    return (group(2 * n) && group(2 * n + 1)) != ((trigger.invert_c >> n & 1) != 0);
  };
  return (pair(0) && pair(1)) != trigger.invert_d;
}

Trigger random_trigger(std::mt19937& random) {
  Trigger trigger;
  trigger.enabled = random() % 4 != 0;
  trigger.threshold_enable = random() % 2 != 0;
  trigger.threshold = static_cast<uint16_t>(random() % 3 == 0 ? 0 : random() % 50);
  trigger.edges = static_cast<uint16_t>(random() % 2 == 0 ? 0 : random());
  trigger.invert_a = static_cast<uint16_t>(random() % 3 == 0 ? 0 : random());
  trigger.invert_b = static_cast<uint8_t>(random() % 16);
  trigger.invert_c = static_cast<uint8_t>(random() % 4);
  trigger.invert_d = random() % 2 != 0;
  for (uint8_t& lane : trigger.select) lane = static_cast<uint8_t>(random() % 16);
  return trigger;
}

TEST(Trigger, TreeEqualsItsFigure) {
  COVERS("CHV-OA-05");
  std::mt19937 random(5);
  unsigned asserted = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    const Trigger trigger = random_trigger(random);
    const auto lanes = static_cast<uint16_t>(random());
    const auto before = static_cast<uint16_t>(random());
    const bool expected = slow_tree(trigger, lanes, before);
    asserted += expected ? 1 : 0;
    ASSERT_EQ(trigger.asserted(lanes, before), expected) << round;
  }
  EXPECT_GT(asserted, 4000u);
  EXPECT_LT(asserted, 16'000u);
}

// A 16-bit counter of asserted clocks fires at the threshold; without a threshold the first asserted clock fires.
struct SlowStart {
  Trigger trigger;
  unsigned clocks = 0;
  bool fired = false;

  // Returns whether counters count in this clock.
  bool step(unsigned lanes, unsigned before) {
    if (trigger.threshold_enable && trigger.threshold == 0) fired = true;
    const bool counts = fired;
    if (!fired && slow_tree(trigger, lanes, before)) {
      ++clocks;
      fired = !trigger.threshold_enable || clocks >= trigger.threshold;
    }
    return counts;
  }
};

TEST(Trigger, CountersStartWhenOneOfTheStartTriggersHasFired) {
  COVERS("DG1-OA-12");  // with ATriggerDoesNotStopACounters
  std::mt19937 random(12);
  unsigned late = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    CountConfig config;
    config.counts = true;
    config.start = {random_trigger(random), random_trigger(random)};
    for (Trigger& trigger : config.start) trigger.edges = 0;
    std::array<SlowStart, 2> slow{{{config.start[0]}, {config.start[1]}}};
    Domain domain;
    unsigned before = 0;
    uint64_t clock = 0;
    std::array<uint64_t, 16> expected{};
    for (unsigned part = 0; part < 6; ++part) {
      config.lanes = static_cast<uint16_t>(random());
      domain.configure(config);
      const uint64_t clocks = 1 + random() % 40;
      for (uint64_t i = 0; i < clocks; ++i) {
        const bool one = slow[0].step(config.lanes, before);
        const bool other = slow[1].step(config.lanes, before);
        for (unsigned lane = 0; lane < 16 && (one || other); ++lane) expected[lane] += config.lanes >> lane & 1;
        before = config.lanes;
      }
      domain.advance(clock += clocks);
      for (unsigned lane = 0; lane < 8; ++lane) {
        ASSERT_EQ(domain.state().counters.b[lane], expected[lane]) << "round " << round << " part " << part;
        ASSERT_EQ(domain.state().counters.c[lane], expected[8 + lane]) << "round " << round << " part " << part;
      }
    }
    late += slow[0].fired && slow[0].clocks > 1 ? 1u : 0u;
  }
  EXPECT_GT(late, 100u) << "thresholds were reached";
}

TEST(Trigger, ReportsComeAtRisingEdgesOrEachTimeAtTheThreshold) {
  std::mt19937 random(3);
  unsigned reports = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    Trigger trigger = random_trigger(random);
    if (trigger.always()) trigger.threshold = 1;
    trigger.enabled = true;
    TriggerState state;
    unsigned before = 0;
    unsigned counted = 0;
    bool was = false;
    for (unsigned part = 0; part < 4; ++part) {
      const auto lanes = static_cast<uint16_t>(random());
      uint64_t left = 1 + random() % 60;
      std::vector<uint64_t> expected;
      unsigned last = before;
      for (uint64_t clock = 1; clock <= left; ++clock) {
        const bool now = slow_tree(trigger, lanes, last);
        last = lanes;
        if (trigger.threshold_enable) {
          counted += now ? 1 : 0;
          if (now && counted == trigger.threshold) {
            counted = 0;
            expected.push_back(clock);
          }
        } else if (now && !was) {
          expected.push_back(clock);
        }
        was = now;
      }
      std::vector<uint64_t> got;
      uint64_t done = 0;
      auto earlier = static_cast<uint16_t>(before);
      while (const auto next = clocks_to_report(trigger, state, earlier, lanes)) {
        if (done + *next > left) break;
        advance_report(trigger, state, {earlier, lanes, *next});
        got.push_back(done += *next);
        earlier = lanes;
      }
      advance_report(trigger, state, {earlier, lanes, left - done});
      before = lanes;
      ASSERT_EQ(got, expected) << "round " << round << " part " << part;
      reports += static_cast<unsigned>(got.size());
    }
  }
  EXPECT_GT(reports, 3000u);
}

}  // namespace
}  // namespace halogen::oa
