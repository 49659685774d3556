// Events of the PMU as files, and the text about open nodes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <libdrm/i915_drm.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "client_info.h"
#include "pmu_events.h"
#include "pmu_group.h"
#include "polling.h"
#include "tree_files.h"

namespace halogen::shim {
namespace {

using driver::LoadBoard;
using driver::LoadPage;
using Words = std::vector<uint64_t>;

constexpr uint64_t kBusy = I915_PMU_ENGINE_BUSY(0, 0);
constexpr uint64_t kTimes = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

class Pmu : public ::testing::Test {
 protected:
  Pmu() {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    board_ = LoadBoard::open(folder_ + "/load");
    groups_ = std::make_unique<PmuGroup>(model_, *board_);
  }
  ~Pmu() override { std::filesystem::remove_all(folder_); }

  LoadPage& page() { return board_->page(); }
  std::atomic<uint64_t>& busy() { return page().engines[0][0].busy; }
  int open(uint64_t config, uint64_t format = 0, int leader = -1, bool starts = true) {
    return groups_->open({.config = config, .read_format = format, .starts = starts, .leader = leader});
  }
  Words read(int descriptor, size_t bytes = PmuGroup::kMaxAnswer) {
    Words words;
    EXPECT_EQ(groups_->read(descriptor, bytes, words), 0);
    return words;
  }
  int try_read(int descriptor, size_t bytes) {
    Words words;
    return groups_->read(descriptor, bytes, words);
  }

  const spec::DeviceModel& model_ = *spec::find_device("icl");
  std::string folder_ = ::testing::TempDir() + "halogen-test-XXXXXX";
  std::shared_ptr<LoadBoard> board_;
  std::unique_ptr<PmuGroup> groups_;
};

TEST_F(Pmu, AnEventCountsFromItsOpening) {
  busy() = 1000;
  const int event = open(kBusy);
  ASSERT_GE(event, 0);
  EXPECT_EQ(read(event), Words{0});
  busy() += 234;
  EXPECT_EQ(read(event), Words{234});
  const int later = open(kBusy);
  busy() += 1;
  EXPECT_EQ(read(event), Words{235});
  EXPECT_EQ(read(later), Words{1});
  close(event);
  close(later);
}

TEST_F(Pmu, EachEventReadsItsOwnCounter) {
  const std::pair<uint64_t, std::atomic<uint64_t>*> rows[] = {
      {I915_PMU_ENGINE_BUSY(0, 0), &page().engines[0][0].busy},
      {I915_PMU_ENGINE_WAIT(0, 0), &page().engines[0][0].waits_for_event},
      {I915_PMU_ENGINE_SEMA(0, 0), &page().engines[0][0].waits_for_signal},
      {I915_PMU_ENGINE_BUSY(1, 0), &page().engines[1][0].busy},
      {I915_PMU_ENGINE_BUSY(2, 1), &page().engines[2][1].busy},
      {I915_PMU_INTERRUPTS, &page().interrupts},
      {I915_PMU_SOFTWARE_GT_AWAKE_TIME, &page().awake_ns}};
  uint64_t number = 0;
  for (const auto& row : rows) *row.second = ++number;
  number = 0;
  for (const auto& row : rows) EXPECT_EQ(pmu_value(model_, page(), row.first), ++number) << row.first;
  EXPECT_EQ(pmu_value(model_, page(), I915_PMU_RC6_RESIDENCY), 0u);
  EXPECT_EQ(pmu_value(model_, page(), ~uint64_t{0}), 0u);
  EXPECT_EQ(pmu_value(model_, page(), I915_PMU_ENGINE_BUSY(200, 200)), 0u);
}

TEST_F(Pmu, FrequenciesAreThoseOfSysfs) {
  std::string shown;
  for (const TreeFile& each : clock_files(model_)) {
    if (each.path == "gt_act_freq_mhz") shown = each.text;
  }
  page().awake_ns = 3'000'000'000;
  EXPECT_EQ(pmu_value(model_, page(), I915_PMU_ACTUAL_FREQUENCY), 3 * std::stoull(shown));
  EXPECT_EQ(pmu_value(model_, page(), I915_PMU_REQUESTED_FREQUENCY), 3 * std::stoull(shown));
}

TEST_F(Pmu, AnEventThatIsOffKeepsValueAndTime) {
  const int event = open(kBusy, kTimes, -1, false);
  busy() = 50;
  EXPECT_EQ(read(event), (Words{0, 0, 0}));
  groups_->control(event, PERF_EVENT_IOC_ENABLE, false);
  busy() += 7;
  groups_->control(event, PERF_EVENT_IOC_DISABLE, false);
  busy() += 100;
  const Words off = read(event);
  EXPECT_EQ(off[0], 7u);
  EXPECT_GT(off[1], 0u);
  EXPECT_EQ(off[1], off[2]);
  EXPECT_EQ(read(event), off);
  groups_->control(event, PERF_EVENT_IOC_RESET, false);
  EXPECT_EQ(read(event), (Words{0, off[1], off[2]}));
  close(event);
}

TEST_F(Pmu, TheTimeOfAnEventIsTheHosts) {
  const uint64_t before = LoadBoard::now_ns();
  const int event = open(kBusy, PERF_FORMAT_TOTAL_TIME_ENABLED);
  usleep(1000);
  const uint64_t time = read(event)[1];
  EXPECT_GE(time, 1'000'000u);
  EXPECT_LE(time, LoadBoard::now_ns() - before);
  close(event);
}

TEST_F(Pmu, AGroupIsReadAtOnce) {
  constexpr uint64_t kFormat = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  const int leader = open(kBusy, kFormat), second = open(I915_PMU_INTERRUPTS, kFormat, leader),
            third = open(I915_PMU_SOFTWARE_GT_AWAKE_TIME, 0, leader);
  busy() = 3;
  page().interrupts = 4;
  page().awake_ns = 5;
  const Words words = read(leader);
  ASSERT_EQ(words.size(), 7u);
  EXPECT_EQ((Words{words[0], words[1], words[3], words[5]}), (Words{3, 3, 4, 5}));
  EXPECT_EQ(words[2], groups_->id(leader));
  EXPECT_EQ(words[4], groups_->id(second));
  EXPECT_EQ(words[6], groups_->id(third));
  EXPECT_EQ(read(second), words);
  EXPECT_EQ(read(third), Words{5});
  EXPECT_EQ(try_read(leader, 55), -ENOSPC);
  EXPECT_EQ(try_read(leader, 56), 0);
  EXPECT_EQ(try_read(third, 7), -ENOSPC);
  close(second);
  EXPECT_EQ(read(leader).size(), 5u);
  const int copy = dup(leader);
  close(leader);
  EXPECT_EQ(read(copy).size(), 5u);
  close(copy);
  EXPECT_EQ(read(third), Words{5});
  close(third);
}

TEST_F(Pmu, MembersCountOnlyWhileTheirLeaderIsOn) {
  const int leader = open(kBusy, 0, -1, false), member = open(I915_PMU_INTERRUPTS, 0, leader);
  page().interrupts = 9;
  EXPECT_EQ(read(member), Words{0});
  groups_->control(leader, PERF_EVENT_IOC_ENABLE, false);
  page().interrupts += 2;
  EXPECT_EQ(read(member), Words{2});
  groups_->control(member, PERF_EVENT_IOC_DISABLE, true);
  page().interrupts += 2;
  EXPECT_EQ(read(member), Words{2});
  groups_->control(leader, PERF_EVENT_IOC_ENABLE, false);  // the member stays off
  page().interrupts += 2;
  EXPECT_EQ(read(member), Words{2});
  close(leader);
  close(member);
}

TEST_F(Pmu, APlaceInAGroupIsUsedAgain) {
  const int leader = open(kBusy, PERF_FORMAT_GROUP);
  for (unsigned i = 0; i < 3 * PmuGroup::kMaxEvents; ++i) {
    const int member = open(I915_PMU_INTERRUPTS, 0, leader);
    ASSERT_GE(member, 0);
    close(member);
  }
  EXPECT_EQ(read(leader).size(), 2u);
  close(leader);
}

// Linux allows answers of less than 16 KiB: (16384 - 8) / 24 events with number and lost samples.
TEST_F(Pmu, AGroupIsAsLongAsItsAnswerMayBe) {
  constexpr uint64_t kFormat = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
  std::vector<int> members = {open(kBusy, kFormat)};
  while (members.size() < 2000) {
    const int member = open(kBusy, kFormat, members[0]);
    if (member < 0) {
      EXPECT_EQ(member, -E2BIG);
      break;
    }
    members.push_back(member);
  }
  EXPECT_EQ(members.size(), 682u);
  for (const int each : members) close(each);
}

TEST_F(Pmu, AHundredThousandOpensEndWithTooManyFiles) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit less{.rlim_cur = 300, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &less), 0);
  std::vector<int> opened;
  unsigned refused = 0;
  for (unsigned i = 0; i < 100'000; ++i) {
    const int event = open(kBusy);
    if (event >= 0) opened.push_back(event);
    refused += event == -EMFILE;
  }
  EXPECT_EQ(opened.size() + refused, 100'000u);
  EXPECT_EQ(open(kBusy, 0, opened[0]), -EMFILE);
  for (const int each : opened) close(each);
  const int again = open(kBusy);
  EXPECT_GE(again, 0);
  close(again);
  setrlimit(RLIMIT_NOFILE, &before);
}

// A program can write anything into the file of a group.
TEST_F(Pmu, AnyContentOfAGroupIsHarmless) {
  const int leader = open(kBusy, PERF_FORMAT_GROUP | kTimes), member = open(kBusy, PERF_FORMAT_GROUP, leader);
  for (const int value : {0x00, 0x01, 0x7f, 0xff}) {
    const std::vector<char> bytes(4096, static_cast<char>(value));
    ASSERT_EQ(pwrite(leader, bytes.data(), bytes.size(), 0), 4096);
    for (const int each : {leader, member}) {
      static_cast<void>(try_read(each, PmuGroup::kMaxAnswer));
      groups_->control(each, PERF_EVENT_IOC_ENABLE, true);
      groups_->control(each, PERF_EVENT_IOC_RESET, true);
    }
  }
  for (const off_t place : {off_t{0}, off_t{1}, off_t{128}, off_t{1} << 40}) {
    lseek(member, place, SEEK_SET);
    static_cast<void>(try_read(member, PmuGroup::kMaxAnswer));
    static_cast<void>(PmuGroup::is_leader(member));
  }
  ASSERT_EQ(ftruncate(leader, 0), 0);
  EXPECT_EQ(try_read(leader, PmuGroup::kMaxAnswer), -EIO);
  close(leader);
  close(member);
}

TEST_F(Pmu, DescriptorsAreMarkedAndClosedOnExecAsAsked) {
  const int event = groups_->open({.config = kBusy, .close_on_exec = true});
  EXPECT_EQ(fcntl(event, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  const int member = open(kBusy, 0, event);
  EXPECT_EQ(fcntl(member, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(fcntl(event, F_GETSIG), kEventMark);
  EXPECT_EQ(fcntl(member, F_GETSIG), kEventMark);
  EXPECT_TRUE(PmuGroup::is_leader(event));
  EXPECT_FALSE(PmuGroup::is_leader(member));
  close(event);
  close(member);
}

// ---- which events there are (i915_pmu.c: config_status and engine_event_status)

TEST(PmuEvents, ADeviceHasTheEventsOfItsEngines) {
  const spec::DeviceModel& icl = *spec::find_device("icl");
  const spec::DeviceModel& g45 = *spec::find_device("g45");
  EXPECT_EQ(check_pmu_event(icl, I915_PMU_ENGINE_BUSY(2, 1)), 0);
  EXPECT_EQ(check_pmu_event(icl, I915_PMU_ENGINE_BUSY(2, 2)), -ENODEV);
  EXPECT_EQ(check_pmu_event(icl, 3), -ENOENT);
  EXPECT_EQ(check_pmu_event(icl, I915_PMU_SOFTWARE_GT_AWAKE_TIME + 1), -ENOENT);
  EXPECT_EQ(check_pmu_event(g45, I915_PMU_ENGINE_SEMA(0, 0)), -ENODEV);
  EXPECT_EQ(check_pmu_event(g45, I915_PMU_ENGINE_BUSY(1, 0)), -ENODEV);
  EXPECT_EQ(check_pmu_event(*spec::find_device("chv"), I915_PMU_ACTUAL_FREQUENCY), -ENODEV);
}

TEST(PmuEvents, DiscreteBoardsHaveTheirAddressInTheName) {
  EXPECT_EQ(pmu_name(*spec::find_device("icl")), "i915");
  EXPECT_EQ(pmu_name(*spec::find_device("dg1")), "i915_0000_03_00.0");
}

// ---- fdinfo (Linux: Documentation/gpu/drm-usage-stats.rst)

TEST(ClientInfo, ChipsWithContextsShowTimesByClass) {
  driver::ClientTimes client{.id = 42};
  client.busy = {1, 2, 3, 4, 5};
  EXPECT_EQ(client_info(*spec::find_device("icl"), client),
            "drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t42\n"
            "drm-engine-render:\t1 ns\ndrm-engine-copy:\t2 ns\ndrm-engine-video:\t3 ns\ndrm-engine-capacity-video:\t2\n"
            "drm-engine-video-enhance:\t4 ns\n");
  EXPECT_EQ(client_info(*spec::find_device("snb"), client),
            "drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t42\n");
}

TEST(ClientInfo, LinesAboutSocketsAreLeftOut) {
  EXPECT_EQ(lines_of_file("pos:\t0\nflags:\t02\nscm_fds: 0\nino:\t7\n"), "pos:\t0\nflags:\t02\nino:\t7\n");
  EXPECT_EQ(lines_of_file("scm_fds: 0"), "");
  EXPECT_EQ(lines_of_file("last"), "last");
  EXPECT_EQ(lines_of_file(""), "");
}

TEST(ClientInfo, OnlyPathsOfTextsNameFiles) {
  EXPECT_EQ(path_of_file("/proc/self/fdinfo/5"), "/proc/self/fd/5");
  EXPECT_EQ(path_of_file("/proc/12/task/13/fdinfo/0"), "/proc/12/task/13/fd/0");
  for (const char* const other : {"/proc/self/fdinfo/", "/proc/self/fdinfo", "/proc/self/fdinfo/5x", "/run/fdinfo/5",
                                  "/proc/fdinfo/5/6", "", "/fdinfo/1", "/proc/self/fd/5"}) {
    EXPECT_EQ(path_of_file(other), "") << other;
  }
}

}  // namespace
}  // namespace halogen::shim
