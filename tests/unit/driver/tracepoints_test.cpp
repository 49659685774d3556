// The driver's tracepoints: the file is always valid JSON, the events of a request come in order, every start on an
// engine has an end, and several processes write to one file.
#include "driver/core/tracepoints.h"

#include <libdrm/drm_mode.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "covers.h"
#include "driver/kms/kms.h"
#include "unit/driver/door.h"

namespace halogen::driver {
namespace {

using nlohmann::json;

class EventFile {
 public:
  EventFile() {
    std::string name = ::testing::TempDir() + "/events.XXXXXX";
    const int descriptor = mkstemp(name.data());
    if (descriptor >= 0) ::close(descriptor);
    name_ = name;
  }
  ~EventFile() { unlink(name_.c_str()); }
  const std::string& name() const { return name_; }
  std::vector<json> events() const {
    std::ifstream in(name_);
    const json all = json::parse(in, nullptr, false);
    EXPECT_FALSE(all.is_discarded()) << "not JSON";
    return all.is_discarded() ? std::vector<json>{} : all.at("traceEvents").get<std::vector<json>>();
  }

 private:
  std::string name_;
};

class TracepointTest : public Door {
 protected:
  void SetUp() override {
    auto made = Tracepoints::create(events.name(), model());
    ASSERT_TRUE(made.ok()) << made.message();
    tracepoints = std::move(*made);
    DriverOptions options;
    options.tracepoints = tracepoints.get();
    boot(options);
  }
  void TearDown() override {
    Door::TearDown();
    file.reset();
    driver.reset();
  }
  uint32_t create_context() {
    drm_i915_gem_context_create create{};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, create), 0);
    return create.ctx_id;
  }
  uint32_t run_empty(uint32_t context) {
    std::vector<drm_i915_gem_exec_object2> objects(1);
    objects[0].handle = make_empty();
    EXPECT_EQ(execute(objects, I915_EXEC_NO_RELOC, context), 0);
    return objects[0].handle;
  }
  uint32_t run_endless(uint32_t context) {
    std::vector<drm_i915_gem_exec_object2> objects(1);
    drm_i915_gem_relocation_entry relocation{};
    objects[0].handle = create(4096);
    if (driver->shared_space()) {
      fill(objects[0].handle, {0x1880'0180, 0});
      relocation.target_handle = objects[0].handle;
      relocation.offset = 4;
      relocation.presumed_offset = ~0ull;
      objects[0].relocation_count = 1;
      objects[0].relocs_ptr = reinterpret_cast<uintptr_t>(&relocation);
    } else {
      objects[0].offset = 0x40'0000;
      objects[0].flags = EXEC_OBJECT_PINNED;
      fill(objects[0].handle, {0x1880'0101, 0x40'0000, 0});
    }
    EXPECT_EQ(execute(objects, 0, context), 0);
    return objects[0].handle;
  }
  // Returns the event names of each request in order, by context and number.
  std::map<std::pair<uint64_t, uint64_t>, std::vector<std::string>> stories() {
    tracepoints->flush();
    std::map<std::pair<uint64_t, uint64_t>, std::vector<std::string>> all;
    double last = 0;
    for (const json& event : events.events()) {
      if (event.at("ph") != "i") continue;
      EXPECT_GE(event.at("ts").get<double>(), last) << "time is monotonic";
      last = event.at("ts").get<double>();
      const json& arguments = event.at("args");
      if (!arguments.contains("seqno")) continue;
      const char* const context = arguments.contains("ctx") ? "ctx" : "context";
      all[{arguments.at(context).get<uint64_t>(), arguments.at("seqno").get<uint64_t>()}].push_back(event.at("name"));
    }
    return all;
  }

  EventFile events;
  std::unique_ptr<Tracepoints> tracepoints;
};
INSTANTIATE_TEST_SUITE_P(All, TracepointTest, ::testing::ValuesIn(all_chips()), chip_name);

TEST_P(TracepointTest, EventsOfARequestComeInOrder) {
  const uint32_t one = create_context(), two = create_context();
  uint32_t last = 0;
  for (int i = 0; i < 5; ++i) {
    run_empty(one);
    last = run_empty(two);
  }
  EXPECT_EQ(wait(last), 0);
  const auto all = stories();
  EXPECT_EQ(all.size(), 10u);
  const std::vector<std::string> whole = {"i915_request_queue", "i915_request_add",   "i915_request_in",
                                          "i915_request_out",   "dma_fence_signaled", "i915_request_retire"};
  std::map<uint64_t, int> of_context;
  for (const auto& [request, story] : all) {
    EXPECT_EQ(story, whole) << request.first << ":" << request.second;
    ++of_context[request.first];
  }
  EXPECT_EQ(of_context.size(), 2u);
}

TEST_P(TracepointTest, EventsHaveArgumentsAndDurations) {
  EXPECT_EQ(wait(run_empty(0)), 0);
  tracepoints->flush();
  std::map<std::string, json> by_name;
  json bar;
  std::map<std::pair<int, int>, std::string> tracks;
  for (const json& event : events.events()) {
    EXPECT_EQ(event.at("pid"), getpid());
    if (event.at("ph") == "M" && event.at("name") == "thread_name") {
      tracks[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
    } else if (event.at("ph") == "X") {
      bar = event;
    } else {
      by_name[event.at("name")] = event;
    }
  }
  const json& begin = by_name.at("i915_request_in");
  EXPECT_EQ(begin.at("args").at("engine"), "0:0");
  EXPECT_EQ(begin.at("args").at("prio"), 0);
  EXPECT_EQ((tracks[{getpid(), begin.at("tid")}]), std::string(driver->model().engines[0].name));
  EXPECT_EQ(by_name.at("i915_request_queue").at("args").at("flags"), uint64_t{I915_EXEC_NO_RELOC});
  EXPECT_NE(by_name.at("i915_request_queue").at("tid"), begin.at("tid")) << "contexts have their own tracks";
  EXPECT_EQ(by_name.at("i915_request_out").at("args").at("completed"), 1);
  EXPECT_EQ(by_name.at("dma_fence_signaled").at("args").at("driver"), "0000:00:02.0");
  ASSERT_TRUE(bar.is_object());
  EXPECT_EQ(bar.at("tid"), begin.at("tid"));
  EXPECT_GE(bar.at("dur").get<double>(), 0);
}

TEST_P(TracepointTest, HungRequestEndsIncomplete) {
  const uint32_t culprit = create_context();
  const uint32_t batch = run_endless(culprit);
  const uint32_t after = run_empty(0);
  EXPECT_EQ(wait(batch), 0);
  EXPECT_EQ(wait(after), 0);
  int undone = 0;
  for (const auto& [request, story] : stories()) {
    int open = 0;
    for (const std::string& name : story) {
      open += name == "i915_request_in" ? 1 : name == "i915_request_out" ? -1 : 0;
      EXPECT_TRUE(open == 0 || open == 1);
    }
    EXPECT_EQ(open, 0) << "a start without an end";
    EXPECT_EQ(story.back(), "i915_request_retire");
  }
  for (const json& event : events.events()) {
    if (event.at("name") == "i915_request_out") undone += event.at("args").at("completed") == 0 ? 1 : 0;
    if (event.at("name") != "dma_fence_signaled") continue;
    const int error = event.at("args").at("error");
    EXPECT_TRUE(error == 0 || error == -EIO);
  }
  EXPECT_GE(undone, 1);
}

// Two engines, one buffer: readers do not wait for each other, a writer waits for all, a reader waits for the writer.
TEST_P(TracepointTest, ImplicitFencesAreSharedOrExclusiveByTheWriteFlag) {
  COVERS("NOTES-DRV-06");
  if (Generation(model()).ggtt_entry_bytes() == 4) GTEST_SKIP() << "shared address space: batches cannot be pinned";
  DriverOptions patient;
  patient.tracepoints = tracepoints.get();
  patient.hang_after = std::chrono::hours(1);
  boot(patient);
  const uint32_t shared = create(4096);
  uint32_t place = 0x100'0000;
  // Spins until released, or ends at once; uses the buffer.
  const auto run = [&](uint64_t engine, bool write, bool spins) {
    const uint32_t batch = create(4096);
    place += 0x10'0000;
    fill(batch, spins ? std::vector<uint32_t>{0x1880'0101, place, 0} : std::vector<uint32_t>{0x0500'0000, 0});
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = shared;
    objects[0].offset = 0x40'0000;
    objects[0].flags = EXEC_OBJECT_PINNED | (write ? EXEC_OBJECT_WRITE : 0);
    objects[1].handle = batch;
    objects[1].offset = place;
    objects[1].flags = EXEC_OBJECT_PINNED;
    EXPECT_EQ(execute(objects, engine, create_context()), 0);
    return batch;
  };
  const auto let_go = [&](uint32_t batch) { fill(batch, {0x0500'0000}); };
  const uint32_t reader = run(I915_EXEC_RENDER, false, true);
  const uint32_t other_reader = run(I915_EXEC_BLT, false, false);
  EXPECT_EQ(wait(other_reader), 0) << "while the first still spins";
  const uint32_t writer = run(I915_EXEC_BLT, true, true);
  EXPECT_EQ(wait(writer, 0), -ETIME);
  let_go(reader);
  EXPECT_EQ(wait(reader), 0);
  const uint32_t last_reader = run(I915_EXEC_RENDER, false, false);
  let_go(writer);
  EXPECT_EQ(wait(last_reader), 0);
  // Sorted by time: contexts were created in this order.
  tracepoints->flush();
  std::vector<uint64_t> contexts;
  std::vector<std::pair<std::string, size_t>> order;
  for (const json& event : events.events()) {
    const std::string name = event.at("name");
    if (event.at("ph") != "i" || !event.at("args").contains("ctx")) continue;
    const uint64_t context = event.at("args").at("ctx");
    if (name == "i915_request_queue") contexts.push_back(context);
    if (name != "i915_request_in" && name != "i915_request_out") continue;
    const auto found = std::find(contexts.begin(), contexts.end(), context);
    order.emplace_back(name == "i915_request_in" ? "in" : "out", static_cast<size_t>(found - contexts.begin()));
  }
  const std::vector<std::pair<std::string, size_t>> wanted = {{"in", 0}, {"in", 1},  {"out", 1}, {"out", 0},
                                                              {"in", 2}, {"out", 2}, {"in", 3},  {"out", 3}};
  EXPECT_EQ(order, wanted);
}

// The calls of one frame of a Vulkan driver.
TEST_P(TracepointTest, VulkanFrameNeedsCompletionAndResetStatus) {
  COVERS("NOTES-DRV-07");
  drm_syncobj_create made{};
  made.flags = DRM_SYNCOBJ_CREATE_SIGNALED;  // as if the previous frame had completed
  ASSERT_EQ(call(DRM_IOCTL_SYNCOBJ_CREATE, made), 0);
  const uint32_t batch = make_empty();
  uint32_t hung = 0;
  for (int frame = 0; frame < 3; ++frame) {
    uint32_t handle = made.handle;
    drm_syncobj_wait waiting{};
    waiting.handles = reinterpret_cast<uintptr_t>(&handle);
    waiting.count_handles = 1;
    waiting.timeout_nsec = INT64_MAX;
    ASSERT_EQ(call(DRM_IOCTL_SYNCOBJ_WAIT, waiting), 0) << frame;
    drm_syncobj_array reset{};
    reset.handles = waiting.handles;
    reset.count_handles = 1;
    ASSERT_EQ(call(DRM_IOCTL_SYNCOBJ_RESET, reset), 0);
    drm_i915_reset_stats health{};
    ASSERT_EQ(call(DRM_IOCTL_I915_GET_RESET_STATS, health), 0);
    EXPECT_EQ(health.batch_active, hung);
    drm_i915_gem_exec_fence fence{.handle = handle, .flags = I915_EXEC_FENCE_SIGNAL};
    drm_i915_gem_exec_object2 object{};
    object.handle = batch;
    drm_i915_gem_execbuffer2 submit{};
    submit.buffers_ptr = reinterpret_cast<uintptr_t>(&object);
    submit.buffer_count = 1;
    submit.flags = I915_EXEC_FENCE_ARRAY;
    submit.cliprects_ptr = reinterpret_cast<uintptr_t>(&fence);
    submit.num_cliprects = 1;
    ASSERT_EQ(call(DRM_IOCTL_I915_GEM_EXECBUFFER2, submit), 0);
    ASSERT_EQ(call(DRM_IOCTL_SYNCOBJ_WAIT, waiting), 0) << "completion";
    if (frame == 1) {  // another batch of the same context hangs: the next frame must learn of it
      EXPECT_EQ(wait(run_endless(0)), 0);
      hung = 1;
    }
  }
}

TEST_P(TracepointTest, FlipAndVblankEventsAreWritten) {
  driver->close(file);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  file = driver->open({.render = false, .events = ends[1]});
  drm_mode_modeinfo mode{};
  for (const drm_mode_modeinfo& each : Kms::modes()) {
    if (each.hdisplay == 640) mode = each;
  }
  std::vector<uint32_t> pictures;
  for (int i = 0; i < 2; ++i) {
    drm_mode_create_dumb dumb{};
    dumb.width = mode.hdisplay;
    dumb.height = mode.vdisplay;
    dumb.bpp = 32;
    ASSERT_EQ(call(DRM_IOCTL_MODE_CREATE_DUMB, dumb), 0);
    drm_mode_fb_cmd fb{};
    fb.width = dumb.width;
    fb.height = dumb.height;
    fb.pitch = dumb.pitch;
    fb.bpp = 32;
    fb.depth = 24;
    fb.handle = dumb.handle;
    ASSERT_EQ(call(DRM_IOCTL_MODE_ADDFB, fb), 0);
    pictures.push_back(fb.fb_id);
  }
  uint32_t connector = kConnectorId;
  drm_mode_crtc crtc{};
  crtc.crtc_id = kCrtcId;
  crtc.fb_id = pictures[0];
  crtc.set_connectors_ptr = reinterpret_cast<uintptr_t>(&connector);
  crtc.count_connectors = 1;
  crtc.mode_valid = 1;
  crtc.mode = mode;
  ASSERT_EQ(call(DRM_IOCTL_MODE_SETCRTC, crtc), 0);
  drm_mode_crtc_page_flip flip{};
  flip.crtc_id = kCrtcId;
  flip.fb_id = pictures[1];
  flip.flags = DRM_MODE_PAGE_FLIP_EVENT;
  ASSERT_EQ(call(DRM_IOCTL_MODE_PAGE_FLIP, flip), 0);
  drm_event_vblank event{};
  ASSERT_EQ(read(ends[0], &event, sizeof event), static_cast<ssize_t>(sizeof event));
  driver->with_lock([] {});  // the driver's thread sends the event first, and notes it then
  tracepoints->flush();
  // The last update of the plane, the vertical blank that latches it, and the program's event, in this order.
  std::vector<json> screen;
  for (const json& each : events.events()) {
    if (each.at("ph") == "i") screen.push_back(each);
  }
  const auto is_start = [](const json& each) { return each.at("name") == "i915_pipe_update_start"; };
  const auto start = std::find_if(screen.rbegin(), screen.rend(), is_start);
  ASSERT_NE(start, screen.rend());
  // On a slow host later vertical blanks may follow.
  const std::vector<json> last(start.base() - 1, screen.end());
  ASSERT_GE(last.size(), 5u);
  EXPECT_EQ(last[0].at("name"), "i915_pipe_update_start");
  EXPECT_EQ(last[1].at("name"), "intel_update_plane");
  EXPECT_EQ(last[1].at("args").at("dst"), "640x480+0+0");
  EXPECT_EQ(last[2].at("name"), "i915_pipe_update_end");
  EXPECT_EQ(last[3].at("name"), "drm_vblank_event");
  EXPECT_EQ(last[4].at("name"), "drm_vblank_event_delivered");
  EXPECT_EQ(last[3].at("args").at("seq"), event.sequence);
  EXPECT_EQ(last[4].at("args").at("seq"), event.sequence);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(TracepointFile, SeveralProcessesAppendToOneFile) {
  const EventFile events;
  const spec::DeviceModel& model = *spec::find_device("icl");
  constexpr int kProcesses = 3, kBlanks = 50;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      auto made = Tracepoints::create(events.name(), model);
      for (uint64_t number = 0; made && number < kBlanks; ++number) {
        (*made)->vblank(number, number * 1000);
        (*made)->flush();
      }
      _exit(made.ok() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::map<int, int> blanks;
  for (const json& event : events.events()) blanks[event.at("pid")] += event.at("name") == "drm_vblank_event" ? 1 : 0;
  EXPECT_EQ(blanks.size(), size_t{kProcesses});
  for (const auto& [pid, count] : blanks) EXPECT_EQ(count, kBlanks) << pid;
}

TEST(TracepointFile, FileWithoutEventsIsValidJson) {
  const json all = json::parse(kEmptyEvents, nullptr, false);
  ASSERT_FALSE(all.is_discarded());
  EXPECT_TRUE(all.at("traceEvents").empty());
  EXPECT_FALSE(Tracepoints::create("/nowhere/events", *spec::find_device("icl")).ok());
}

}  // namespace
}  // namespace halogen::driver
