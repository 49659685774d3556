// The registers of performance counters in context images. i915 writes their values into saved images, by the processor
// and with MI_STORE_DATA_IMM, when a program opens a stream of reports: only the odd dwords, without looking at what is
// there. The places are Linux's (i915_perf.c).
#include <gtest/gtest.h>

#include <array>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

constexpr uint32_t kLoadRegister = 0x1100'0001;
constexpr uint32_t kRectangle = 0x7900'0002;  // 3DSTATE_DRAWING_RECTANGLE: edges, far edges, origin
constexpr uint32_t kEnd = 0x0500'0000;        // MI_BATCH_BUFFER_END
constexpr uint32_t kRestoreAll = 0xffff'0008;
constexpr uint32_t kContextControl = 0x2360;
constexpr std::array<uint32_t, 7> kFlexible{0xe458, 0xe558, 0xe658, 0xe758, 0xe45c, 0xe55c, 0xe65c};

struct Place {
  uint32_t reg;
  unsigned at;  // dword of the offset; the value follows
};

struct Chip {
  const char* name;
  std::vector<Place> places;
  unsigned end;  // first dword after the registers
};

std::vector<Place> with_flexible(unsigned control, unsigned first) {
  std::vector<Place> places{{kContextControl, control}};
  for (unsigned i = 0; i < kFlexible.size(); ++i) {
    places.push_back({kFlexible[i], first + 2 * i});
  }
  return places;
}

const std::vector<Chip>& chips() {
  static const std::vector<Place> gen12{{kContextControl, 0x144}, {0x2960, 0x5b0}};
  static const std::vector<Chip> all{{"bdw", with_flexible(0x120, 0x2ce), 0x2dc},
                                     {"chv", with_flexible(0x120, 0x2ce), 0x2dc},
                                     {"skl", with_flexible(0x128, 0x3de), 0x3ec},
                                     {"icl", with_flexible(0x124, 0x78e), 0x79c},
                                     {"tgl", gen12, 0x5b2},
                                     {"dg1", gen12, 0x5b2}};
  return all;
}

class ContextCounters : public ::testing::TestWithParam<size_t> {
 protected:
  ContextCounters() : chip(chips()[GetParam()]), bench(chip.name) {}

  // A value that every one of these registers can hold: report format, exponent, selected events.
  static uint32_t value(unsigned number, uint32_t which) { return number << 1 | which; }

  // Creates a context with page tables of its own, as drivers do.
  Context create(uint32_t id) {
    Context context = bench.create("rcs0", id);
    bench.map_process(context, 0x10'0000, bench.allocate(1));
    return context;
  }
  void restore_all(const Context& context) { bench.set_image(context, ContextBench::kImageControl, kRestoreAll); }
  void run_again(Context& context) {
    restore_all(context);
    bench.emit(context, {0, 0});
    bench.run(context);
  }
  // Returns the far edges of the rectangle among the commands behind the registers. Zero: none.
  uint32_t edges_in(const Context& context) {
    for (unsigned at = chip.end; at < chip.end + 1024 && bench.image(context, at) != kEnd; ++at) {
      if (bench.image(context, at) == kRectangle) {
        return bench.image(context, at + 2);
      }
    }
    return 0;
  }
  void expect_values(uint32_t which) {
    for (unsigned i = 0; i < chip.places.size(); ++i) {
      EXPECT_EQ(bench.read(chip.places[i].reg), value(i, which)) << chip.name << std::hex << " " << chip.places[i].reg;
    }
  }
  void expect_no_complaint() {
    for (const Event& event : bench.host.log.events()) {
      EXPECT_NE(event.kind, EventKind::unsupported) << event.to_string();
      EXPECT_NE(event.kind, EventKind::undefined_behaviour) << event.to_string();
    }
  }

  const Chip& chip;
  ContextBench bench;
};

TEST_P(ContextCounters, SavedImageHasTheirOffsetsWhereTheKernelExpectsThem) {
  COVERS("CHV-OA-12");
  Context context = create(1);
  bench.run(context);
  for (const Place& place : chip.places) {
    const uint32_t offset = bench.image(context, place.at);
    EXPECT_TRUE(offset == place.reg || (bench.relative_images() && offset == place.reg - 0x2000)) << std::hex << offset;
  }
  EXPECT_EQ(bench.image(context, chip.end), kEnd) << "no state of the pipelines was set";
}

TEST_P(ContextCounters, ValuesThatTheProcessorWritesIntoASavedImageReachTheRegisters) {
  Context measured = create(1), other = create(2);
  bench.emit(measured, {kRectangle, 0, 0x0011'0022, 0});
  bench.emit(other, {kRectangle, 0, 0x0033'0044, 0});
  for (unsigned i = 0; i < chip.places.size(); ++i) {
    bench.emit(measured, {kLoadRegister, chip.places[i].reg, 0});
    bench.emit(other, {kLoadRegister, chip.places[i].reg, value(i, 0)});
  }
  bench.run(measured);
  bench.run(other);
  expect_values(0);
  for (unsigned i = 0; i < chip.places.size(); ++i) {
    bench.set_image(measured, chip.places[i].at + 1, value(i, 1));
  }
  run_again(measured);
  expect_values(1);
  run_again(other);
  expect_values(0);
  run_again(measured);
  expect_values(1);
  EXPECT_EQ(edges_in(measured), 0x0011'0022u);
  EXPECT_EQ(edges_in(other), 0x0033'0044u);
  expect_no_complaint();
}

TEST_P(ContextCounters, ValuesThatAnotherContextStoresIntoASavedImageReachTheRegisters) {
  Context measured = create(1), kernel = create(2);
  bench.emit(measured, {kRectangle, 0, 0x0011'0022, 0});
  bench.run(measured);
  for (unsigned i = 0; i < chip.places.size(); ++i) {
    const uint64_t at = measured.address + EngineBench::kPage + 4 * (chip.places[i].at + 1);
    bench.emit(kernel, ContextBench::store(at, value(i, 1)));
  }
  bench.run(kernel);
  run_again(measured);
  expect_values(1);
  EXPECT_EQ(edges_in(measured), 0x0011'0022u);
  expect_no_complaint();
}

// INDIRECT_CTX commands interrupt a restore at a cache line: here at the end of the first 1024 dwords.
TEST_P(ContextCounters, RestoreThatPausesBeforeThemContinues) {
  Context context = create(1);
  bench.emit(context, {kRectangle, 0, 0x0011'0022, 0});
  bench.run(context);
  const uint64_t commands = bench.allocate(1);
  bench.poke(commands, {kLoadRegister, 0x2600, 0x77});
  bench.set_image(context, bench.image_indirect(), static_cast<uint32_t>(commands | 1));
  bench.set_image(context, bench.image_indirect_offset(), 1024 / 16 << 6);
  for (unsigned i = 0; i < chip.places.size(); ++i) {
    bench.set_image(context, chip.places[i].at + 1, value(i, 1));
  }
  run_again(context);
  expect_values(1);
  EXPECT_EQ(bench.read(0x2600), 0x77u);
  EXPECT_EQ(edges_in(context), 0x0011'0022u);
  expect_no_complaint();
}

// Clients that write images themselves may use memory behind them for something else.
TEST_P(ContextCounters, ImageThatNamesNoRegistersBehindItsFirstPageEndsThere) {
  Context context = create(1);
  for (unsigned at = 0x400; at < 0x800; ++at) {
    bench.set_image(context, at, 0xdead'beef);
  }
  bench.set_reg("rcs0", ContextBench::kGpr, 5);
  run_again(context);
  EXPECT_EQ(bench.reg("rcs0", ContextBench::kGpr), 5u);
  expect_no_complaint();
}

TEST_P(ContextCounters, ImageOfAContextThatStartedAgainHoldsNoOlderState) {
  Context context = create(1);
  bench.emit(context, {kRectangle, 0, 0x0011'0022, 0});
  bench.run(context);
  EXPECT_EQ(edges_in(context), 0x0011'0022u);
  bench.set_image(context, ContextBench::kImageControl,
                  0xffff'0000 | ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait);
  bench.emit(context, {0, 0});
  bench.run(context);
  run_again(context);
  EXPECT_EQ(edges_in(context), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, ContextCounters, ::testing::Range(size_t{0}, chips().size()),
                         [](const auto& each) { return std::string(chips()[each.param].name); });

// Linux writes the control register's value to dword 3 of the context image, with the mask in the upper half.
TEST(ContextCounterSwitch, Gen12ControlDwordEnablesTheCountersOfAContext) {
  for (const char* const name : {"tgl", "dg1"}) {
    ContextBench bench(name);
    Context counted = bench.create("rcs0", 1), other = bench.create("rcs0", 2);
    bench.run(counted);
    bench.run(other);
    bench.set_image(counted, 3, 0xffff'0108);
    bench.set_image(other, 3, 0xffff'0008);
    for (unsigned turn = 0; turn < 2; ++turn) {
      bench.run(counted);
      EXPECT_EQ(bench.reg("rcs0", 0x244), 0x108u);
      EXPECT_EQ(bench.image(counted, 3) & 0xffff, 0x108u);
      bench.run(other);
      EXPECT_EQ(bench.reg("rcs0", 0x244), 8u);
    }
  }
}

}  // namespace
}  // namespace halogen
