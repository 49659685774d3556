// Dispatches without a streamer: payloads, masks, order, barriers, parts, hangs. The kernels are Gen9 code; the
// registers that they show are the same on all chips.
#include "compute/dispatcher.h"

#include <algorithm>
#include <utility>

#include "covers.h"
#include "dispatch_bench.h"
#include "kernels.h"
#include "spec/command_table.h"

namespace halogen::compute {
namespace {

constexpr uint32_t kOut = 0x2'0000;

class Dispatch : public DispatchBench {
 protected:
  Dispatch() {
    bases_.indirect_object = kVa;
    settings_.scratch_base = 0x4'0000;
    settings_.scratch_code = 1;
    bind_raw(0, kOut, 0x1'0000);
    for (uint32_t i = 0; i < 256; ++i) {
      word(kConstants + i * 4) = 0x1000 + i;
    }
  }

  template <size_t N>
  void load(const uint32_t (&code)[N], uint32_t threads, uint32_t shared, uint32_t own, uint32_t local = 0) {
    for (size_t i = 0; i < N; ++i) {
      word(kCode + 0x40 + i * 4) = code[i];
    }
    const uint32_t descriptor[8] = {0x40, 0, 0, 0x2020, kTable, own << 16, threads | local << 16 | 1u << 21, shared};
    std::copy(std::begin(descriptor), std::end(descriptor), &word(kDescriptors));
  }
  // Returns the walker command from its header to its masks. Groups start at zero.
  std::vector<uint32_t> walker(std::array<uint32_t, 3> groups, uint32_t threads, uint32_t right = ~0u,
                               uint32_t data_B = 0, uint32_t data = 0) {
    return {0x7105'000d, 0,         data_B, data, 1u << 30 | (threads - 1), 0, 0, groups[0], 0, 0, groups[1],
            0,           groups[2], right,  ~0u};
  }
  // Runs the dispatch part by part. Returns the number of parts.
  unsigned run(const std::vector<uint32_t>& command, Stop expected = Stop::finished) {
    walk_ = {};
    EXPECT_EQ(prepare(command, walk_.job), JobFault::none);
    unsigned parts = 0;
    for (outcome_.stop = Stop::unfinished; outcome_.stop == Stop::unfinished && parts < 100; ++parts) {
      outcome_ = dispatcher_.run(generation_, settings_, walk_, memory_.space(), parts == 0);
      channels_ += outcome_.channels;
    }
    EXPECT_EQ(outcome_.stop, expected);
    return parts;
  }
  // All groups run at the same time, so slots are numbered consecutively.
  uint32_t slot_of(uint32_t group, uint32_t thread) const { return group * walk_.job.group_threads() + thread; }
  uint32_t shown(uint32_t group, uint32_t thread, uint32_t reg, uint32_t dword) {
    return word(kOut + (group * 4 + slot_of(group, thread)) * 128 + reg * 32 + dword * 4);
  }

  Walk walk_;
  Dispatcher dispatcher_{kernels_};
  Outcome outcome_;
  uint64_t channels_ = 0;
};

TEST_P(Dispatch, ThreadsGetHeaderMaskAndConstants) {
  load(kernels::kDump, 2, 1, 1);
  run(walker({2, 1, 1}, 2, 0x00ff));
  for (uint32_t group = 0; group < 2; ++group) {
    for (uint32_t thread = 0; thread < 2; ++thread) {
      SCOPED_TRACE(testing::Message() << group << "." << thread);
      EXPECT_EQ(shown(group, thread, 0, 1), group);
      EXPECT_EQ(shown(group, thread, 0, 6), 0u);
      EXPECT_EQ(shown(group, thread, 0, 7), 0u);
      EXPECT_EQ(shown(group, thread, 0, 3), 0x2020u | 1) << "sampler table and scratch size";
      EXPECT_EQ(shown(group, thread, 0, 4), kTable);
      const uint32_t slot = slot_of(group, thread);
      EXPECT_EQ(shown(group, thread, 0, 5), 0x4'0000 + slot * 2048 + slot) << "2 KiB of scratch per thread";
      EXPECT_EQ(shown(group, thread, 1, 0), 0x1000u) << "shared constants";
      EXPECT_EQ(shown(group, thread, 2, 0), 0x1008u + 8 * thread) << "constants of the thread";
      EXPECT_EQ(shown(group, thread, 3, 0), thread == 1 ? 0x00ffu : 0xffffu);
    }
  }
  EXPECT_EQ(channels_, 2u * (16 + 8));
}

TEST_P(Dispatch, IndirectDataPrecedesConstants) {
  load(kernels::kDump, 2, 1, 1);
  run(walker({1, 1, 1}, 2, ~0u, 96, kConstants));
  EXPECT_EQ(shown(0, 1, 1, 0), 0x1010u) << "constants of the thread come first";
  EXPECT_EQ(shown(0, 1, 2, 0), 0x1000u);
}

TEST_P(Dispatch, MissingConstantsAreZero) {
  load(kernels::kDump, 2, 1, 1);
  settings_.constants_B = 64;
  run(walker({1, 1, 1}, 2));
  EXPECT_EQ(shown(0, 0, 2, 0), 0x1008u);
  EXPECT_EQ(shown(0, 1, 2, 0), 0u);
}

// Each thread signals the gateway at the barrier and waits for the notification, which arrives when all threads have
// signalled.
TEST_P(Dispatch, BarriersOrderAccessesToLocalMemory) {
  COVERS("NOTES-SF-06");
  load(kernels::kSwap, 4, 0, 1, 1);
  for (uint32_t i = 0; i < 4; ++i) {
    word(kConstants + i * 32) = i;
  }
  run(walker({3, 2, 1}, 4));
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(word(kOut + i * 4), 100 + (i ^ 1));
  }
  // Threads that wait leave the EU to others: the kernel's instructions are executed once each, without polling.
  EXPECT_EQ(walk_.instructions, 6u * 4 * std::size(kernels::kSwap) / 4);
}

// Each thread sends one barrier message, and accesses local memory twice.
TEST_P(Dispatch, CountsOfWorkAreThoseOfTheThreads) {
  load(kernels::kSwap, 4, 0, 1, 1);
  for (uint32_t i = 0; i < 4; ++i) {
    word(kConstants + i * 32) = i;
  }
  EXPECT_EQ(prepare(walker({64, 1, 1}, 4), walk_.job), JobFault::none);
  oa::WorkCounts counts;
  dispatcher_.set_work({.work = true, .activity = true}, &counts);
  uint64_t threads = 0;
  uint64_t channels = 0;
  for (bool first = true; first || outcome_.stop == Stop::unfinished; first = false) {
    outcome_ = dispatcher_.run(generation_, settings_, walk_, memory_.space(), first);
    threads += outcome_.threads;
    channels += outcome_.channels;
  }
  EXPECT_EQ(threads, 64u * 4);
  EXPECT_EQ(channels, threads * 16) << "the statistics register counts channels of the same threads";
  EXPECT_EQ(counts.barriers, threads);
  EXPECT_EQ(counts.local_reads, threads);
  EXPECT_EQ(counts.local_writes, threads);
  EXPECT_EQ(counts.memory_lines, threads) << "one write of a result";
  EXPECT_EQ(counts.atomics, 0u);
  constexpr uint64_t kSends = 5;  // two to local memory, one to memory, the barrier and the end
  const oa::StageActivity& activity = counts.activity[static_cast<size_t>(oa::Stage::compute)];
  EXPECT_EQ(activity.sends, kSends * threads);
  uint64_t send_clocks = 0;
  for (const uint64_t clocks : activity.issue_clocks[static_cast<size_t>(oa::Pipe::send)]) {
    send_clocks += clocks;
  }
  EXPECT_EQ(send_clocks, kSends * threads) << "no message has more than two registers";
}

TEST_P(Dispatch, GroupCountOfZeroStartsNothing) {
  load(kernels::kDump, 1, 0, 0);
  for (const std::array<uint32_t, 3> groups : {std::array{0u, 1u, 1u}, {1u, 0u, 1u}, {1u, 1u, 0u}}) {
    run(walker(groups, 1));
    EXPECT_EQ(channels_, 0u);
  }
}

// The first group ends only after the second one has written its dword.
TEST_P(Dispatch, GroupsThatWaitForEachOtherComplete) {
  load(kernels::kSpin, 1, 0, 0);
  run(walker({2, 1, 1}, 1));
  EXPECT_EQ(word(kOut), 7u);
  EXPECT_EQ(word(kOut + 4), 7u);
}

TEST_P(Dispatch, EndlessKernelRunsInParts) {
  load(kernels::kSpin, 1, 0, 0);
  EXPECT_EQ(run(walker({1, 1, 1}, 1), Stop::unfinished), 100u);
  EXPECT_GE(walk_.instructions, 99 * kPart);
  // A copy of the walk continues like the original.
  Walk copy = walk_;
  EXPECT_TRUE(copy == walk_);
  Dispatcher other(kernels_);
  EXPECT_EQ(other.run(generation_, settings_, copy, memory_.space(), false).stop, Stop::unfinished);
  EXPECT_FALSE(copy == walk_);
  EXPECT_EQ(dispatcher_.run(generation_, settings_, walk_, memory_.space(), false).stop, Stop::unfinished);
  EXPECT_TRUE(copy == walk_);
  word(kOut) = 1;
  EXPECT_EQ(dispatcher_.run(generation_, settings_, walk_, memory_.space(), false).stop, Stop::finished);
  EXPECT_EQ(word(kOut + 4), 7u);
}

TEST_P(Dispatch, RepeatedStopsDoNotChangeTheResult) {
  constexpr uint64_t kOut_B = 0x1'0000;
  load(kernels::kDump, 2, 1, 1);
  const std::vector<uint32_t> command = walker({200, 1, 1}, 2);
  run(command);
  std::vector<uint32_t> whole;
  for (uint64_t at = 0; at < kOut_B; at += 4) {
    whole.push_back(std::exchange(word(kOut + at), 0u));
  }
  StopFlag stop;
  uint32_t looks = 0;
  stop.set_watch([&] { return ++looks % 3 == 0; });
  dispatcher_.set_stop(stop);
  walk_ = {};
  ASSERT_EQ(prepare(command, walk_.job), JobFault::none);
  unsigned parts = 0;
  for (outcome_.stop = Stop::unfinished; outcome_.stop == Stop::unfinished && parts < 1000; ++parts) {
    Walk copy = walk_;  // as if a snapshot were restored
    walk_ = std::move(copy);
    outcome_ = dispatcher_.run(generation_, settings_, walk_, memory_.space(), parts == 0);
  }
  EXPECT_EQ(outcome_.stop, Stop::finished);
  EXPECT_GT(parts, 4u);
  for (uint64_t at = 0; at < kOut_B; at += 4) {
    ASSERT_EQ(word(kOut + at), whole[at / 4]) << at;
  }
}

TEST_P(Dispatch, HugeGroupCountsAndEndlessKernelsStopAtOnce) {
  load(kernels::kSpin, 1, 0, 0);
  for (const std::array<uint32_t, 3> groups : {std::array{1u, 1u, 1u}, {~0u, 1u, 1u}, {~0u, ~0u, ~0u}}) {
    walk_ = {};
    ASSERT_EQ(prepare(walker(groups, 1), walk_.job), JobFault::none);
    const Outcome part = dispatcher_.run(generation_, settings_, walk_, memory_.space(), true);
    EXPECT_EQ(part.stop, Stop::unfinished);
    EXPECT_LE(part.instructions, 2 * kPart);
    StopFlag stop;
    stop.raise();
    dispatcher_.set_stop(stop);
    const Walk before = walk_;
    const Outcome stopped = dispatcher_.run(generation_, settings_, walk_, memory_.space(), false);
    EXPECT_EQ(stopped.stop, Stop::unfinished);
    EXPECT_EQ(stopped.instructions, 0u);
    EXPECT_TRUE(walk_ == before);
    static const StopFlag none;
    dispatcher_.set_stop(none);
  }
}

TEST_P(Dispatch, WaitWithoutASignalIsReportedAsDeadlock) {
  load(kernels::kAlone, 2, 0, 1);
  word(kConstants) = 0;
  run(walker({1, 1, 1}, 2), Stop::deadlock);
}

TEST_P(Dispatch, IllegalInstructionIsReported) {
  const uint32_t nonsense[8] = {};
  load(nonsense, 1, 0, 0);
  run(walker({1, 1, 1}, 1), Stop::illegal);
  bases_.instruction = 0x1234'5678'0000;
  walk_ = {};
  EXPECT_EQ(prepare(walker({1, 1, 1}, 1), walk_.job), JobFault::none);
  const Outcome outcome = dispatcher_.run(generation_, settings_, walk_, memory_.space(), true);
  EXPECT_NE(outcome.stop, Stop::finished) << "unmapped code";
}

TEST_P(Dispatch, NewCodeAtTheSameAddressIsExecuted) {
  load(kernels::kSwap, 4, 0, 1, 1);
  run(walker({1, 1, 1}, 4));
  load(kernels::kDump, 1, 0, 0);
  run(walker({1, 1, 1}, 1));
  EXPECT_EQ(shown(0, 0, 0, 4), kTable);
}

TEST_P(Dispatch, DescriptorThatWasNotLoadedIsReported) {
  std::vector<uint32_t> command = walker({1, 1, 1}, 1);
  command[1] = 1;
  EXPECT_EQ(prepare(command, walk_.job), JobFault::no_descriptor);
}

TEST_P(Dispatch, TooManyThreadsAreRefused) {
  load(kernels::kDump, 1023, 255, 0xffff, 31);
  std::vector<uint32_t> command = walker({~0u, ~0u, ~0u}, 1, 0);
  EXPECT_EQ(prepare(command, walk_.job), JobFault::none);
  EXPECT_NE(dispatcher_.run(generation_, settings_, walk_, memory_.space(), true).stop, Stop::finished);
  command[4] |= 0x003f'3f3f;
  EXPECT_EQ(prepare(command, walk_.job), JobFault::too_many_threads);
  command[4] = 0x0000'0f3f;
  EXPECT_EQ(prepare(command, walk_.job), JobFault::too_many_threads);
}

// Random bits as code: a part always ends.
TEST_P(Dispatch, RandomCodeEndsItsPart) {
  uint32_t seed = 12345;
  for (unsigned round = 0; round < 60; ++round) {
    uint32_t code[256];
    for (uint32_t& each : code) {
      seed = seed * 1664525 + 1013904223;
      each = seed ^ seed >> 13;
    }
    load(code, 4, 2, 1, 3);
    walk_ = {};
    ASSERT_EQ(prepare(walker({4, 2, 1}, 4), walk_.job), JobFault::none);
    const Outcome outcome = dispatcher_.run(generation_, settings_, walk_, memory_.space(), true);
    EXPECT_LT(outcome.instructions, kPart + 64 * kTurn) << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, Dispatch, testing::Values("skl"), [](const auto& chip) { return chip.param; });

class SettingsTest : public testing::TestWithParam<std::string> {};

TEST_P(SettingsTest, SavedCommandsRestoreTheSettings) {
  const spec::DeviceModel& model = *spec::find_device(GetParam());
  const Generation generation(model);
  Settings settings;
  settings.system_routine = 0x7000;
  const bool has_area = model.gen >= spec::GenId::gen9;  // the command exists from Gen9 on
  settings.preemption_area = has_area ? 0x12'3000 : 0;
  settings.scratch_base = 0x1400;
  settings.scratch_code = 3;
  settings.stack_code = 3;
  settings.max_threads = 167;
  settings.constants_offset = 0x40;
  settings.constants_B = 128;
  settings.descriptors_offset = 0x80;
  settings.descriptors_B = 64;
  Settings back;
  std::vector<uint32_t> words;
  append_commands(model.gen, settings, words);
  const auto& table = spec::CommandTable::get(model.id, spec::EngineClass::render);
  for (size_t at = 0; at < words.size();) {
    const auto [desc, length] = table.frame(words[at]);
    ASSERT_NE(desc, nullptr);
    EXPECT_TRUE(change_settings(model.gen, desc->id, std::span(words).subspan(at, length), back)) << desc->name;
    at += length;
  }
  EXPECT_TRUE(back == settings);
}

INSTANTIATE_TEST_SUITE_P(Chips, SettingsTest, testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"),
                         [](const auto& chip) { return chip.param; });

TEST(LocalMemory, SizeCodesAreLinearOnGen8AndPowersOfTwoLater) {
  struct Row {
    const char* chip;
    uint32_t code;
    uint32_t kib;
  };
  constexpr Row kRows[] = {{"bdw", 0, 0},   {"bdw", 1, 4}, {"bdw", 2, 8},   {"bdw", 4, 16},
                           {"bdw", 16, 64}, {"skl", 0, 0}, {"skl", 1, 1},   {"skl", 3, 4},
                           {"icl", 7, 64},  {"dg1", 2, 2}, {"bdw", 31, 64}, {"dg1", 31, 64}};
  for (const Row& row : kRows) {
    EXPECT_EQ(local_bytes(Generation(*spec::find_device(row.chip)), static_cast<uint8_t>(row.code)), row.kib * 1024)
        << row.chip << " " << row.code;
  }
}

}  // namespace
}  // namespace halogen::compute
