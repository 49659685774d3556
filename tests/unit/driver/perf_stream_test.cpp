// Reading streams of performance counters. The tests write reports as the unit would.
#include <sys/mman.h>

#include <algorithm>
#include <thread>

#include "unit/driver/perf_door.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kHidden = ~0u;
constexpr uint32_t kSample = DRM_I915_PERF_RECORD_SAMPLE;

class PerfStreamCalls : public PerfDoor {
 protected:
  // Opens a stream without reports of its own.
  int open_quiet(uint32_t flags = I915_PERF_FLAG_FD_NONBLOCK, Properties extra = {}) {
    if (config_ == 0) config_ = add_any();
    Properties properties = usual(config_);
    properties.insert(properties.end(), extra.begin(), extra.end());
    const int stream = open_with(properties, flags);
    EXPECT_GE(stream, 0);
    bool idle = false;
    while (!idle) {
      driver->with_lock([&] { idle = driver->gpu().idle(); });
      idle = records(stream).empty() && idle;
    }
    return stream;
  }
  int config_ = 0;
};

TEST_P(PerfStreamCalls, ReadsReturnWholeRecordsInOrder) {
  const int stream = open_quiet();
  std::vector<std::byte> bytes(4 * kRecordBytes);
  EXPECT_EQ(read(stream, bytes), -EAGAIN);
  write_reports(stream, {{timer(), 1}, {timer(), 2}, {timer(), 3}});
  std::vector<std::byte> small(2 * kRecordBytes + kRecordBytes - 1);
  EXPECT_EQ(read(stream, small), static_cast<int>(2 * kRecordBytes));
  std::vector<std::byte> tiny(kRecordBytes - 1);
  EXPECT_EQ(read(stream, tiny), -ENOSPC);
  EXPECT_EQ(read(stream, bytes), static_cast<int>(kRecordBytes));
  drm_i915_perf_record_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(header.type, kSample);
  EXPECT_EQ(header.pad, 0u);
  EXPECT_EQ(header.size, kRecordBytes);
  uint32_t words[4];
  std::memcpy(words, bytes.data() + sizeof header, sizeof words);
  EXPECT_EQ(words[0], timer());
  EXPECT_EQ(words[1], 3u);
  EXPECT_EQ(read(stream, bytes), -EAGAIN);
  ::close(stream);
}

// The last page of the buffer is missing: records that fit before it are returned, and the error comes alone.
TEST_P(PerfStreamCalls, AFaultLosesNoRecord) {
  const int stream = open_quiet();
  write_reports(stream, {{timer(), 1}, {timer(), 2}});
  auto* const pages =
      static_cast<std::byte*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(munmap(pages + 4096, 4096), 0);
  const auto place = reinterpret_cast<uintptr_t>(pages) + 4096 - kRecordBytes - 10;
  EXPECT_EQ(driver->read_stream(stream, place, 4096), static_cast<int>(kRecordBytes));
  EXPECT_EQ(driver->read_stream(stream, place + kRecordBytes, 4096), -EFAULT);
  EXPECT_EQ(driver->read_stream(stream, 0xffff'8000'0000'0000, 4096), -EFAULT);
  EXPECT_EQ(records(stream).size(), 1u);
  munmap(pages, 4096);
  ::close(stream);
}

TEST_P(PerfStreamCalls, DisabledStreamsCannotBeRead) {
  const int stream = open_quiet(I915_PERF_FLAG_FD_NONBLOCK | I915_PERF_FLAG_DISABLED);
  std::vector<std::byte> bytes(kRecordBytes);
  EXPECT_EQ(read(stream, bytes), -EIO);
  EXPECT_EQ(control(stream, I915_PERF_IOCTL_ENABLE), 0);
  EXPECT_EQ(control(stream, I915_PERF_IOCTL_ENABLE), 0);
  EXPECT_EQ(read(stream, bytes), -EAGAIN);
  EXPECT_EQ(control(stream, I915_PERF_IOCTL_DISABLE), 0);
  EXPECT_EQ(control(stream, I915_PERF_IOCTL_DISABLE), 0);
  EXPECT_EQ(read(stream, bytes), -EIO);
  EXPECT_EQ(control(stream, _IO('i', 7)), -EINVAL);
  ::close(stream);
}

TEST_P(PerfStreamCalls, EnablingStartsWithAnEmptyBuffer) {
  const int stream = open_quiet();
  write_reports(stream, {{timer(), 1}, {timer(), 2}});
  control(stream, I915_PERF_IOCTL_DISABLE);
  control(stream, I915_PERF_IOCTL_ENABLE);
  EXPECT_TRUE(records(stream).empty());
  write_reports(stream, {{timer(), 3}});
  EXPECT_EQ(records(stream).size(), 1u);
  ::close(stream);
}

TEST_P(PerfStreamCalls, BlockingReadsNeedATimer) {
  config_ = add_any();
  Properties properties = usual(config_);
  properties.pop_back();
  const int stream = open_with(properties, 0);
  std::vector<std::byte> bytes(kRecordBytes);
  EXPECT_EQ(read(stream, bytes), -EIO);
  ::close(stream);
}

TEST_P(PerfStreamCalls, ABlockingReadWaitsForAReport) {
  DriverOptions options;
  options.privileged = true;
  options.host_time = true;
  boot(options);
  config_ = add_any();
  const int stream = open_with(usual(config_), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    write_reports(stream, {{timer(), 1}});
  });
  std::vector<std::byte> bytes(kRecordBytes);
  EXPECT_EQ(read(stream, bytes), static_cast<int>(kRecordBytes));
  writer.join();
  ::close(stream);
}

// An empty report in the buffer marks one that was read.
TEST_P(PerfStreamCalls, TheUnitLearnsWhatWasRead) {
  const int stream = open_quiet();
  const uint32_t head_at = counts_apart() ? 0xdb00 : 0x2b0c;
  const uint32_t before = register_at(head_at) & ~63u;
  write_reports(stream, {{timer(), 1}});
  EXPECT_EQ(register_at(head_at) & ~63u, before);
  EXPECT_EQ(records(stream).size(), 1u);
  EXPECT_EQ(register_at(head_at) & ~63u, before + kReportBytes);
  ::close(stream);
}

TEST_P(PerfStreamCalls, LostReportsAreRecordsOfTheirOwn) {
  const int stream = open_quiet();
  write_reports(stream, {{timer(), 1}});
  write_status(1);
  std::vector<Record> all = records(stream);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].type, static_cast<uint32_t>(DRM_I915_PERF_RECORD_OA_REPORT_LOST));
  EXPECT_EQ(all[1].type, kSample);
  write_reports(stream, {{timer(), 1}});
  EXPECT_EQ(records(stream).size(), 1u) << "the status was cleared";
  write_reports(stream, {{timer(), 1}});
  write_status(2);
  std::vector<std::byte> tiny(7);
  EXPECT_EQ(read(stream, tiny), -ENOSPC);
  all = records(stream);
  ASSERT_EQ(all.size(), 1u) << "an overflow loses all reports";
  EXPECT_EQ(all[0].type, static_cast<uint32_t>(DRM_I915_PERF_RECORD_OA_BUFFER_LOST));
  write_reports(stream, {{timer(), 1}});
  EXPECT_EQ(records(stream).size(), 1u) << "the unit counts again";
  ::close(stream);
}

TEST_P(PerfStreamCalls, ReportsOfNoContextShowNone) {
  const int stream = open_quiet();
  write_reports(stream, {{timer() | valid(), 0x20}, {timer(), 0x20}});
  const std::vector<Record> all = records(stream);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].context, 0x20u);
  EXPECT_EQ(all[1].context, counts_apart() ? 0x20u : kHidden);
  ::close(stream);
}

// A stream of one context shows its reports, the one after them, and context switches; ids of others are replaced.
TEST_P(PerfStreamCalls, AStreamOfOneContextHidesOthers) {
  const uint32_t context = make_context();
  const int stream = open_quiet(I915_PERF_FLAG_FD_NONBLOCK, {{DRM_I915_PERF_PROP_CTX_HANDLE, context}});
  const uint32_t ours = measured_id(), other = 0x40;
  write_reports(stream, {{timer() | valid(), other},
                         {context_switch() | valid(), ours},
                         {timer() | valid(), ours},
                         {timer() | valid(), other},
                         {timer() | valid(), other},
                         {context_switch() | valid(), other},
                         {timer(), 0}});
  const std::vector<Record> all = records(stream);
  ASSERT_EQ(all.size(), 4u);
  const std::vector<uint32_t> ids{all[0].context, all[1].context, all[2].context, all[3].context};
  EXPECT_EQ(ids, (std::vector<uint32_t>{ours, ours, kHidden, kHidden}));
  const std::vector<uint32_t> steps{all[1].timestamp - all[0].timestamp, all[2].timestamp - all[0].timestamp,
                                    all[3].timestamp - all[0].timestamp};
  EXPECT_EQ(steps, (std::vector<uint32_t>{1, 2, 4}));
  ::close(stream);
}

TEST_P(PerfStreamCalls, PollSeesReportsUntilTheyAreRead) {
  const int stream = open_quiet(I915_PERF_FLAG_FD_NONBLOCK, {{DRM_I915_PERF_PROP_POLL_OA_PERIOD, 100'000}});
  EXPECT_FALSE(polls(stream, 20));
  write_reports(stream, {{timer(), 1}});
  EXPECT_TRUE(polls(stream, 5000));
  std::vector<std::byte> tiny(kRecordBytes - 1);
  EXPECT_EQ(read(stream, tiny), -ENOSPC);
  EXPECT_TRUE(polls(stream, 0)) << "a buffer that is too small leaves the report";
  EXPECT_EQ(records(stream).size(), 1u);
  EXPECT_FALSE(polls(stream, 20));
  ::close(stream);
}

TEST_P(PerfStreamCalls, AStreamOutlivesItsFileAndItsContext) {
  const uint32_t context = make_context();
  const int stream = open_quiet(I915_PERF_FLAG_FD_NONBLOCK, {{DRM_I915_PERF_PROP_CTX_HANDLE, context}});
  drm_i915_gem_context_destroy destroy{.ctx_id = context, .pad = 0};
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, destroy), 0);
  write_reports(stream, {{timer() | valid(), measured_id()}});
  EXPECT_EQ(records(stream).size(), 1u);
  driver->close(file);
  write_reports(stream, {{timer() | valid(), measured_id()}});
  EXPECT_EQ(records(stream).size(), 1u);
  ::close(stream);
  file = driver->open();
  const int again = open_with(usual(config_));
  EXPECT_GE(again, 0);
  ::close(again);
}

TEST_P(PerfStreamCalls, ADriverEndsWithAnOpenStream) {
  const int stream = open_quiet();
  boot_privileged();
  std::vector<std::byte> bytes(kRecordBytes);
  EXPECT_EQ(read(stream, bytes), -EIO);
  ::close(stream);
}

// Streams come and go while batches are executed.
TEST_P(PerfStreamCalls, OpeningAndClosingUnderLoadLosesNoWork) {
  config_ = add_any();
  const uint32_t context = make_context();
  std::vector<drm_i915_gem_exec_object2> objects(1);
  objects[0].handle = make_empty();
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(execute(objects, I915_EXEC_RENDER, round % 2 == 0 ? context : 0), 0);
    Properties properties = usual(config_);
    if (round % 3 == 0) properties.emplace_back(DRM_I915_PERF_PROP_CTX_HANDLE, context);
    const int stream = open_with(properties);
    ASSERT_GE(stream, 0) << round;
    ASSERT_EQ(execute(objects, I915_EXEC_RENDER, round % 4 == 0 ? context : 0), 0);
    if (round % 5 == 0) control(stream, I915_PERF_IOCTL_DISABLE);
    ::close(stream);
  }
  EXPECT_EQ(wait(objects[0].handle), 0);
}

// Until Gen11 a batch may start the unit. Its reports would lie in the lowest pages of the context that runs.
TEST_P(PerfStreamCalls, ABatchThatStartsTheUnitReachesNoOtherFile) {
  if (counts_apart()) GTEST_SKIP() << "batches cannot start the unit";
  constexpr uint64_t kBytes = 128 << 10;
  const std::shared_ptr<File> victim = file, attacker = driver->open({.render = true});
  std::vector<drm_i915_gem_exec_object2> objects(2), attack(1);
  objects[0].handle = create(kBytes);
  objects[0].flags = objects[1].flags = EXEC_OBJECT_PINNED;
  objects[1].handle = make_empty();
  objects[1].offset = 0x10'0000;
  file = attacker;
  attack[0].handle = create(4096);
  fill(attack[0].handle, {0x1100'0001, 0x2360, 3, 0x1100'0001, 0x2b00, 1 | 5 << 2, 0x0500'0000, 0});
  const auto attack_and_look = [&] {
    for (int round = 0; round < 5; ++round) {
      file = attacker;
      EXPECT_EQ(execute(attack, I915_EXEC_RENDER), 0);
      EXPECT_EQ(wait(attack[0].handle), 0);
      file = victim;
      EXPECT_EQ(execute(objects, I915_EXEC_RENDER), 0);
      EXPECT_EQ(wait(objects[1].handle), 0);
    }
    return std::ranges::all_of(content(objects[0].handle), [](std::byte each) { return each == std::byte{0}; });
  };
  EXPECT_TRUE(attack_and_look()) << "before the first stream";
  const int stream = open_quiet();
  EXPECT_TRUE(attack_and_look()) << "beside a stream";
  ::close(stream);
  EXPECT_TRUE(attack_and_look()) << "after a stream";
  driver->with_lock([&] { driver->gpu().find(spec::EngineClass::render, 0)->recover(-EIO); });
  EXPECT_TRUE(attack_and_look()) << "after a reset";
  driver->close(attacker);
}

// The first request of a context sets registers. It is placed while the stream is disabled, behind a batch that ends
// later.
TEST_P(PerfStreamCalls, AContextThatStartsLaterDoesNotStopTheStream) {
  const int stream = open_quiet(I915_PERF_FLAG_FD_NONBLOCK | I915_PERF_FLAG_DISABLED);
  drm_i915_gem_relocation_entry relocation;
  std::vector<drm_i915_gem_exec_object2> endless{make_endless(relocation)}, empty(1);
  ASSERT_EQ(execute(endless, I915_EXEC_RENDER), 0);
  empty[0].handle = make_empty();
  ASSERT_EQ(execute(empty, I915_EXEC_RENDER, make_context()), 0);
  EXPECT_EQ(control(stream, I915_PERF_IOCTL_ENABLE), 0);
  fill(endless[0].handle, {0x0500'0000});
  ASSERT_EQ(wait(empty[0].handle), 0);
  EXPECT_EQ(register_at(counts_apart() ? 0xdaf4 : 0x2b00) & 1, 1u) << "the unit counts";
  ::close(stream);
}

// Counter B1 counts every clock: its custom event compares "at least 0". It must not stand still when a context is
// loaded that was made after the stream.
TEST_P(PerfStreamCalls, CountingGoesOnWhileNewContextsAreLoaded) {
  constexpr uint32_t kSelectsEvents = 0xf080'0000;
  constexpr uint32_t kAtLeast = 3;
  constexpr size_t kTicksAt = 3, kB1At = 49;
  const uint32_t start = boolean(), second_event = counts_apart() ? 0xd948 : 0x2778;
  config_ = add(kUuid, {{mux(), 1}},
                {{start, 0},
                 {start + 4, kSelectsEvents},
                 {start + 0x10, 0},
                 {start + 0x14, kSelectsEvents},
                 {second_event, kAtLeast}});
  ASSERT_GT(config_, 0);
  const int stream = open_with(with(usual(config_), DRM_I915_PERF_PROP_OA_EXPONENT, 1));
  ASSERT_GE(stream, 0);
  std::vector<drm_i915_gem_exec_object2> objects(1);
  objects[0].handle = make_empty();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(execute(objects, I915_EXEC_RENDER, make_context()), 0);
  ASSERT_EQ(wait(objects[0].handle), 0);
  std::vector<uint32_t> words(64 * kRecordBytes / 4);
  const int got = driver->read_stream(stream, reinterpret_cast<uintptr_t>(words.data()), words.size() * 4);
  const int count = got / static_cast<int>(kRecordBytes);
  ASSERT_GT(count, 5);
  const auto report = [&](int n) { return words.data() + static_cast<size_t>(n) * kRecordBytes / 4 + 2; };
  for (int n = 1; n < count; ++n) {
    EXPECT_EQ(report(n)[kB1At] - report(n - 1)[kB1At], report(n)[kTicksAt] - report(n - 1)[kTicksAt]) << n;
  }
  ::close(stream);
}

INSTANTIATE_TEST_SUITE_P(Chips, PerfStreamCalls, ::testing::ValuesIn(chips_with_perf()), chip_name);

}  // namespace
}  // namespace halogen::driver
