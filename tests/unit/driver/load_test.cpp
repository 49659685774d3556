// A device's work as monitors see it: times of engines and of open nodes.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <span>
#include <utility>

#include "driver/perf/load_page.h"
#include "spec/interface_model.h"
#include "unit/driver/door.h"

namespace halogen::driver {
namespace {

// A folder that is removed at the end.
struct Folder {
  Folder() { EXPECT_NE(mkdtemp(path.data()), nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string load() const { return path + "/load"; }
  std::string path = ::testing::TempDir() + "halogen-test-XXXXXX";
};

// The program's end of a node.
struct Ends {
  Ends() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0); }
  ~Ends() {
    for (const int each : ends) ::close(each);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  FileKey key() const { return *key_of(ends[0]); }
  int ends[2];
};

class Load : public Door {
 protected:
  // By default the host's clock passes much faster than the device's, so that times are those of the device.
  void SetUp() override {
    constexpr uint64_t kSecond = 1'000'000'000;
    boot_with([now = std::make_shared<std::atomic<uint64_t>>(0)] { return *now += kSecond; });
  }
  void boot_with(std::function<uint64_t()> host_clock) {
    for (auto* const each : {&first_, &second_}) {
      if (*each) driver->close(*each);
      *each = nullptr;
    }
    DriverOptions options;
    options.perf.load = folder_.load();
    options.load_clock = std::move(host_clock);
    boot(options);
    board_ = LoadBoard::open(folder_.load());
    ASSERT_NE(board_, nullptr);
    first_ = driver->open({.render = true, .file = ends_[0].key()});
    second_ = driver->open({.render = false, .file = ends_[1].key()});
    std::swap(file, first_);  // calls use the first node
  }
  void TearDown() override {
    for (const auto& each : {first_, second_}) driver->close(each);
    Door::TearDown();
  }

  const EngineLoad& engine(unsigned user_class, unsigned instance = 0) {
    return board_->page().engines[user_class][instance];
  }
  uint64_t busy_of_all() {
    uint64_t sum = 0;
    for (const auto& user_class : board_->page().engines) {
      for (const EngineLoad& each : user_class) sum += each.busy;
    }
    return sum;
  }
  uint64_t clock() {
    uint64_t now = 0;
    driver->with_lock([&] { now = driver->gpu().hardware().device().clock().nanoseconds; });
    return now;
  }
  bool has_times() const { return spec::interface_of(model().id).client_times; }
  uint64_t time_of(size_t client, unsigned user_class) {
    const auto times = board_->find(ends_[client].key());
    EXPECT_TRUE(times);
    return times ? times->busy[user_class] : 0;
  }

  // Executes `count` commands that do nothing, and waits for them.
  void execute_nothing(size_t count, uint64_t flags = I915_EXEC_RENDER) {
    std::vector<uint32_t> commands(count, 0);
    commands.insert(commands.end(), {0x0500'0000, 0});
    std::vector<drm_i915_gem_exec_object2> objects(1);
    objects[0].handle = create((commands.size() * 4 + 4095) / 4096 * 4096);
    fill(objects[0].handle, commands);
    ASSERT_EQ(execute(objects, flags), 0);
    ASSERT_EQ(wait(objects[0].handle), 0);
  }

  Folder folder_;
  std::array<Ends, 2> ends_;
  std::shared_ptr<LoadBoard> board_;
  std::shared_ptr<File> first_, second_;
};

constexpr uint64_t kNanosecondsPerCommand = engine::kCommandTime;

TEST_P(Load, AnEngineIsBusyWhileItExecutesAndOthersAreNot) {
  constexpr size_t kCommands = 10'000;
  const uint64_t busy = engine(I915_ENGINE_CLASS_RENDER).busy, others = busy_of_all() - busy;
  const uint64_t began = clock();
  execute_nothing(kCommands);
  const uint64_t grown = engine(I915_ENGINE_CLASS_RENDER).busy - busy;
  EXPECT_GE(grown, kCommands * kNanosecondsPerCommand);
  EXPECT_LE(grown, clock() - began);
  EXPECT_EQ(busy_of_all() - grown - busy, others);
  EXPECT_EQ(engine(I915_ENGINE_CLASS_RENDER).waits_for_signal, 0u);
}

TEST_P(Load, TwiceTheWorkTakesTwiceTheTime) {
  constexpr size_t kCommands = 20'000;
  const auto cost = [&](size_t commands) {
    const uint64_t before = engine(I915_ENGINE_CLASS_RENDER).busy;
    execute_nothing(commands);
    return engine(I915_ENGINE_CLASS_RENDER).busy - before;
  };
  cost(kCommands);
  const uint64_t once = cost(kCommands), twice = cost(2 * kCommands);
  // Beside the commands there is the same time for the ring or the context in both.
  EXPECT_NEAR(static_cast<double>(twice - once), static_cast<double>(kCommands * kNanosecondsPerCommand),
              static_cast<double>(once) / 20);
}

TEST_P(Load, AnIdleDeviceIsNeitherBusyNorAwake) {
  execute_nothing(1);
  const uint64_t busy = busy_of_all(), awake = board_->page().awake_ns;
  driver->with_lock([&] { driver->gpu().work(5'000'000); });
  execute_nothing(1);
  // The second batch may take no longer than the slice that the driver runs for it.
  constexpr uint64_t kSlices = 60'000;
  EXPECT_LE(busy_of_all() - busy, kSlices);
  EXPECT_LE(board_->page().awake_ns - awake, kSlices);
}

TEST_P(Load, CopiesKeepTheCopyEngineBusy) {
  if (driver->gpu().find_user(I915_ENGINE_CLASS_COPY, 0) == nullptr) GTEST_SKIP() << "no copy engine";
  const uint64_t render = engine(I915_ENGINE_CLASS_RENDER).busy;
  execute_nothing(5000, I915_EXEC_BLT);
  EXPECT_GE(engine(I915_ENGINE_CLASS_COPY).busy, 5000 * kNanosecondsPerCommand);
  EXPECT_EQ(engine(I915_ENGINE_CLASS_RENDER).busy, render);
}

// A batch that waits for a word in memory which the test writes later.
TEST_P(Load, AWaitForASemaphoreIsPartOfBusyTime) {
  if (!execlists()) GTEST_SKIP() << "no waits for memory";
  constexpr uint32_t kPlace = 0x40'0000;
  const uint32_t target = create(4096);
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = target;
  objects[0].offset = kPlace;
  objects[1].handle = create(4096);
  objects[1].offset = kPlace + 0x1'0000;
  for (auto& each : objects) each.flags = EXEC_OBJECT_PINNED;
  // MI_SEMAPHORE_WAIT in polling mode until the word equals 7 (i915's intel_gpu_commands.h).
  fill(objects[1].handle, {0x0e00'c002, 7, kPlace, 0, 0x0500'0000, 0});
  ASSERT_EQ(execute(objects), 0);
  EXPECT_EQ(wait(objects[1].handle, 20'000'000), -ETIME);
  const EngineLoad& render = engine(I915_ENGINE_CLASS_RENDER);
  const uint64_t waited = render.waits_for_signal;
  EXPECT_GT(waited, 0u);
  EXPECT_LE(waited, render.busy);
  EXPECT_EQ(render.waits_for_event, 0u);
  fill(target, {7});
  ASSERT_EQ(wait(objects[1].handle), 0);
  EXPECT_LE(render.waits_for_signal, render.busy);
  EXPECT_LE(render.busy, clock());
}

TEST_P(Load, TimesBelongToTheClientThatWorked) {
  execute_nothing(30'000);
  if (!has_times()) {
    EXPECT_EQ(time_of(0, I915_ENGINE_CLASS_RENDER), 0u);
    return;
  }
  driver->with_lock([&] { driver->gpu().work(1'000'000); });  // the context leaves the engine
  const uint64_t tick = 1'000'000'000 / model().timestamp_hz + 1;
  const uint64_t own = time_of(0, I915_ENGINE_CLASS_RENDER);
  EXPECT_GE(own + tick, 30'000 * kNanosecondsPerCommand);
  EXPECT_LE(own, engine(I915_ENGINE_CLASS_RENDER).busy + tick);
  EXPECT_EQ(time_of(1, I915_ENGINE_CLASS_RENDER), 0u);
  EXPECT_EQ(time_of(0, I915_ENGINE_CLASS_COPY), 0u);
}

TEST_P(Load, TheTimeOfARunningContextGrowsAndNeverShrinks) {
  if (!has_times()) GTEST_SKIP() << "contexts do not count their time";
  drm_i915_gem_relocation_entry relocation;
  std::vector<drm_i915_gem_exec_object2> objects = {make_endless(relocation)};
  ASSERT_EQ(execute(objects), 0);
  uint64_t last = 0;
  for (unsigned i = 0; i < 5; ++i) {
    EXPECT_EQ(wait(objects[0].handle, 2'000'000), -ETIME);
    const uint64_t now = time_of(0, I915_ENGINE_CLASS_RENDER);
    EXPECT_GT(now, last);
    last = now;
  }
  fill(objects[0].handle, {0x0500'0000});
  ASSERT_EQ(wait(objects[0].handle), 0);
  driver->with_lock([&] { driver->gpu().work(1'000'000); });
  EXPECT_GE(time_of(0, I915_ENGINE_CLASS_RENDER), last);
}

TEST_P(Load, AHungContextHasItsTimeUntilTheReset) {
  if (!has_times()) GTEST_SKIP() << "contexts do not count their time";
  drm_i915_gem_relocation_entry relocation;
  std::vector<drm_i915_gem_exec_object2> objects = {make_endless(relocation)};
  const uint64_t began = clock();
  ASSERT_EQ(execute(objects), 0);
  EXPECT_EQ(wait(objects[0].handle), 0);  // until the hang check removes it
  const uint64_t hung = time_of(0, I915_ENGINE_CLASS_RENDER);
  EXPECT_GT(hung, (clock() - began) / 2);
  execute_nothing(1000);
  driver->with_lock([&] { driver->gpu().work(1'000'000); });
  EXPECT_GE(time_of(0, I915_ENGINE_CLASS_RENDER), hung);
  EXPECT_LE(time_of(0, I915_ENGINE_CLASS_RENDER), clock() - began);
}

TEST_P(Load, InterruptsAreCounted) {
  const uint64_t before = board_->page().interrupts;
  execute_nothing(1);
  EXPECT_GT(board_->page().interrupts, before);
}

TEST_P(Load, ANodeIsFoundByTheFileOfTheProgramUntilItIsClosed) {
  const auto first = board_->find(ends_[0].key()), second = board_->find(ends_[1].key());
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->id, second->id);
  EXPECT_EQ(first->minor, 128u);
  EXPECT_EQ(second->minor, 0u);
  EXPECT_FALSE(board_->find({ends_[0].key().first, 1}));
  driver->close(second_);
  EXPECT_FALSE(board_->find(ends_[1].key()));
  EXPECT_TRUE(board_->find(ends_[0].key()));
}

TEST_P(Load, AContextThatOutlivesItsNodeShowsNothing) {
  drm_i915_gem_relocation_entry relocation;
  std::vector<drm_i915_gem_exec_object2> objects = {make_endless(relocation)};
  ASSERT_EQ(execute(objects), 0);
  driver->close(file);
  EXPECT_FALSE(board_->find(ends_[0].key()));
  std::swap(file, first_);
  execute_nothing(1);  // waits until the endless batch is removed
  EXPECT_FALSE(board_->find(ends_[0].key()));
}

// A host whose clock is slower than the device's.
TEST_P(Load, NoEngineIsBusyForLongerThanTheHostsTime) {
  auto host = std::make_shared<std::atomic<uint64_t>>(0);
  boot_with([host] { return *host += 1000; });
  for (unsigned i = 0; i < 3; ++i) {
    const uint64_t before = *host, busy = engine(I915_ENGINE_CLASS_RENDER).busy, awake = board_->page().awake_ns;
    const uint64_t client = time_of(0, I915_ENGINE_CLASS_RENDER);
    execute_nothing(50'000);
    const uint64_t passed = *host - before;
    EXPECT_GT(engine(I915_ENGINE_CLASS_RENDER).busy, busy);
    EXPECT_LE(engine(I915_ENGINE_CLASS_RENDER).busy - busy, passed);
    EXPECT_LE(board_->page().awake_ns - awake, passed);
    EXPECT_LE(time_of(0, I915_ENGINE_CLASS_RENDER) - client, passed);
    if (has_times()) {
      EXPECT_GT(time_of(0, I915_ENGINE_CLASS_RENDER), client);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, Load, ::testing::ValuesIn(all_chips()), chip_name);

// ---- the file

pid_t ended_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(LoadBoard, SlotsOfEndedProcessesAreUsedAgain) {
  const Folder folder;
  const auto board = LoadBoard::open(folder.load());
  ASSERT_NE(board, nullptr);
  for (uint64_t i = 0; i < LoadPage::kClients; ++i) ASSERT_NE(board->take_slot({1, i + 1}, 0), nullptr);
  EXPECT_EQ(board->take_slot({1, 9999}, 0), nullptr);
  board->page().clients[7].process = ended_process();
  EXPECT_FALSE(board->find({1, 8}));
  EXPECT_EQ(board->take_slot({1, 9999}, 0), &board->page().clients[7]);
  EXPECT_TRUE(board->find({1, 9999}));
}

TEST(LoadBoard, AnyContentOfTheFileIsHarmless) {
  const Folder folder;
  const auto board = LoadBoard::open(folder.load());
  ASSERT_NE(board, nullptr);
  const auto words = std::as_writable_bytes(std::span(&board->page(), 1));
  for (const auto value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
    std::fill(words.begin(), words.end(), static_cast<std::byte>(value));
    for (const uint64_t key : {uint64_t{0}, uint64_t{1}, std::numeric_limits<uint64_t>::max()}) {
      static_cast<void>(board->find({key, key}));
    }
    static_cast<void>(board->take_slot({1, 2}, 3));
  }
}

TEST(LoadBoard, OtherFilesAreRefused) {
  const Folder folder;
  ASSERT_EQ(symlink("/etc/passwd", folder.load().c_str()), 0);
  EXPECT_EQ(LoadBoard::open(folder.load()), nullptr);
  EXPECT_EQ(LoadBoard::open(folder.path), nullptr);
  const std::string pipe = folder.path + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(LoadBoard::open(pipe), nullptr);
  EXPECT_EQ(LoadBoard::open(""), nullptr);
  EXPECT_EQ(LoadBoard::open("/nonexistent/load"), nullptr);
}

TEST(LoadBoard, TwoMappingsAreOneFile) {
  const Folder folder;
  const auto one = LoadBoard::open(folder.load()), other = LoadBoard::open(folder.load());
  ASSERT_TRUE(one && other);
  ASSERT_NE(one->take_slot({5, 6}, 128), nullptr);
  ASSERT_TRUE(other->find({5, 6}));
  one->page().interrupts = 77;
  EXPECT_EQ(other->page().interrupts, 77u);
}

}  // namespace
}  // namespace halogen::driver
