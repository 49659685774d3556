// The host runs out of memory, mappings, descriptors or threads at any point of a typical program: every call returns a
// defined error, the program can still close everything, nothing leaks, and the same program then works.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "support/host_faults.h"
#include "unit/driver/screen_door.h"

namespace halogen::driver {
namespace {

using test::HostCall;
using test::HostFaults;

// A program with a node of its own. Each driver call may fail for lack of something; what depends on it is left out.
class Program {
 public:
  Program(Driver& driver, HostFaults& faults, bool execlists)
      : driver_(driver), faults_(faults), execlists_(execlists) {}

  void run(const std::string& error_of) {
    context_ = error_of;
    int ends[2] = {-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    file_ = faults_.in([&] { return driver_.open({.render = false, .events = ends[1]}); });
    if (file_) {
      buffers();
      contexts();
      sync_objects();
      shares();
      maps();
      lends();
      screen();
      faults_.in([&] {
        driver_.close(file_);
        return 0;
      });
      file_ = nullptr;
    } else {
      ++failures;
    }
    ::close(ends[0]);
    ::close(ends[1]);
  }
  unsigned failures = 0;

 private:
  template <class T>
  int call(const char* what, unsigned long request, T& argument) {
    const int result =
        faults_.in([&] { return driver_.ioctl(*file_, request, reinterpret_cast<uintptr_t>(&argument), false); });
    check(what, result);
    return result;
  }
  void check(const char* what, int result) {
    if (result == 0) return;
    ++failures;
    const bool defined = result == -ENOMEM || result == -EAGAIN || result == -ENOSPC || result == -EMFILE;
    EXPECT_TRUE(defined) << what << " " << result << " " << context_;
  }

  void buffers() {
    drm_i915_gem_create batch{.size = 4096, .handle = 0, .pad = 0};
    drm_i915_gem_create data{.size = 4 * 4096, .handle = 0, .pad = 0};
    if (call("create", DRM_IOCTL_I915_GEM_CREATE, batch) != 0) return;
    if (call("create", DRM_IOCTL_I915_GEM_CREATE, data) != 0) return;
    const BufferRef buffer = file_->buffers.find(batch.handle);
    if (!buffer->need_pages()) return;
    const uint32_t commands[] = {0, 0x0500'0000};
    std::memcpy(buffer->bytes().data(), commands, sizeof commands);
    batch_ = batch.handle;
    data_ = data.handle;
    drm_i915_gem_madvise advice{.handle = data_, .madv = I915_MADV_DONTNEED, .retained = 0};
    drm_i915_gem_create lost{.size = 4096, .handle = 0, .pad = 0};
    if (call("create", DRM_IOCTL_I915_GEM_CREATE, lost) != 0) return;
    advice.handle = lost.handle;
    call("advise", DRM_IOCTL_I915_GEM_MADVISE, advice);
    drm_gem_close close{.handle = lost.handle, .pad = 0};
    EXPECT_EQ(call("close", DRM_IOCTL_GEM_CLOSE, close), 0) << "closing cannot fail";
  }

  void execute(uint32_t context, uint64_t flags, uint32_t object) {
    if (batch_ == 0) return;
    std::array<drm_i915_gem_exec_object2, 2> objects{};
    objects[0].handle = data_;
    objects[0].flags = EXEC_OBJECT_WRITE;
    objects[1].handle = batch_;
    drm_i915_gem_relocation_entry relocation{};
    relocation.target_handle = data_;
    relocation.offset = 64;
    relocation.presumed_offset = ~uint64_t{0};
    if (!execlists_) {
      objects[1].relocation_count = 1;
      objects[1].relocs_ptr = reinterpret_cast<uintptr_t>(&relocation);
    }
    drm_i915_gem_exec_fence fence{.handle = object, .flags = I915_EXEC_FENCE_SIGNAL};
    drm_i915_gem_execbuffer2 execute{};
    execute.buffers_ptr = reinterpret_cast<uintptr_t>(objects.data());
    execute.buffer_count = objects.size();
    execute.rsvd1 = context;
    execute.flags = flags;
    if (object != 0) {
      execute.flags |= I915_EXEC_FENCE_ARRAY;
      execute.cliprects_ptr = reinterpret_cast<uintptr_t>(&fence);
      execute.num_cliprects = 1;
    }
    const int result = call("execute", DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, execute);
    if (result == 0 && (flags & I915_EXEC_FENCE_OUT) != 0) ::close(static_cast<int>(execute.rsvd2 >> 32));
    drm_i915_gem_wait wait{.bo_handle = data_, .flags = 0, .timeout_ns = -1};
    call("wait", DRM_IOCTL_I915_GEM_WAIT, wait);
    // Nothing keeps the buffer busy for ever, also if a call failed. Nothing fails here.
    wait.timeout_ns = -1;
    EXPECT_EQ(driver_.ioctl(*file_, DRM_IOCTL_I915_GEM_WAIT, reinterpret_cast<uintptr_t>(&wait), false), 0) << context_;
  }

  void contexts() {
    execute(0, 0, 0);
    if (!execlists_) return;
    drm_i915_gem_vm_control space{};
    if (call("space", DRM_IOCTL_I915_GEM_VM_CREATE, space) != 0) return;
    drm_i915_gem_context_create_ext_setparam extension{};
    extension.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM;
    extension.param.param = I915_CONTEXT_PARAM_VM;
    extension.param.value = space.vm_id;
    drm_i915_gem_context_create_ext context{};
    context.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS;
    context.extensions = reinterpret_cast<uintptr_t>(&extension);
    if (call("context", DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, context) != 0) return;
    execute(context.ctx_id, 0, 0);
    drm_i915_gem_context_destroy destroy{.ctx_id = context.ctx_id, .pad = 0};
    EXPECT_EQ(call("destroy", DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, destroy), 0) << context_;
    EXPECT_EQ(call("destroy", DRM_IOCTL_I915_GEM_VM_DESTROY, space), 0) << context_;
  }

  void sync_objects() {
    drm_syncobj_create object{};
    if (call("syncobj", DRM_IOCTL_SYNCOBJ_CREATE, object) != 0) return;
    execute(0, I915_EXEC_FENCE_OUT, object.handle);
    uint64_t point = 5;
    drm_syncobj_timeline_array points{};
    points.handles = reinterpret_cast<uintptr_t>(&object.handle);
    points.points = reinterpret_cast<uintptr_t>(&point);
    points.count_handles = 1;
    call("signal", DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, points);
    drm_syncobj_handle handle{};
    handle.handle = object.handle;
    handle.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE;
    if (file_->sync_objects.find(object.handle)->fence() &&
        call("sync file", DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, handle) == 0) {
      ::close(handle.fd);
    }
    drm_syncobj_destroy destroy{.handle = object.handle, .pad = 0};
    EXPECT_EQ(call("destroy", DRM_IOCTL_SYNCOBJ_DESTROY, destroy), 0) << context_;
  }

  void shares() {
    if (data_ == 0) return;
    drm_prime_handle prime{.handle = data_, .flags = DRM_CLOEXEC | DRM_RDWR, .fd = -1};
    if (call("export", DRM_IOCTL_PRIME_HANDLE_TO_FD, prime) != 0) return;
    drm_prime_handle back{.handle = 0, .flags = 0, .fd = prime.fd};
    call("import", DRM_IOCTL_PRIME_FD_TO_HANDLE, back);
    ::close(prime.fd);
  }

  void maps() {
    drm_mode_create_dumb dumb{};
    dumb.width = dumb.height = 64;
    dumb.bpp = 32;
    if (call("dumb", DRM_IOCTL_MODE_CREATE_DUMB, dumb) != 0) return;
    drm_mode_map_dumb map{};
    map.handle = dumb.handle;
    if (call("offset", DRM_IOCTL_MODE_MAP_DUMB, map) == 0) {
      void* const place = faults_.in(
          [&] { return driver_.map_here(*file_, nullptr, dumb.size, PROT_READ | PROT_WRITE, MAP_SHARED, map.offset); });
      if (place == MAP_FAILED) {
        check("map", -errno);
      } else {
        static_cast<char*>(place)[0] = 1;
        const auto first = reinterpret_cast<uintptr_t>(place);
        auto kept = faults_.in([&] { return driver_.forget_memory(first, dumb.size); });
        EXPECT_EQ(kept.size(), 1u) << context_;
        munmap(place, dumb.size);
        faults_.in([&] {
          driver_.release(std::move(kept));
          return 0;
        });
      }
    }
    drm_mode_destroy_dumb destroy{.handle = dumb.handle};
    EXPECT_EQ(call("destroy", DRM_IOCTL_MODE_DESTROY_DUMB, destroy), 0) << context_;
  }

  void lends() {
    constexpr uint64_t kBytes = 2 * 4096;
    void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    const auto first = reinterpret_cast<uintptr_t>(memory);
    drm_i915_gem_userptr lent{};
    lent.user_ptr = first;
    lent.user_size = kBytes;
    const int result = faults_.in(
        [&] { return driver_.ioctl(*file_, DRM_IOCTL_I915_GEM_USERPTR, reinterpret_cast<uintptr_t>(&lent), false); });
    if (result != -ENODEV) check("lend", result);
    const uint32_t data = std::exchange(data_, result == 0 ? lent.handle : data_);
    if (result == 0) execute(0, 0, 0);
    data_ = data;
    auto kept = faults_.in([&] { return driver_.forget_memory(first, kBytes); });
    munmap(memory, kBytes);
  }

  void screen() {
    uint32_t connector = kConnectorId;
    drm_mode_create_dumb dumb{};
    dumb.width = 640;
    dumb.height = 480;
    dumb.bpp = 32;
    if (call("dumb", DRM_IOCTL_MODE_CREATE_DUMB, dumb) != 0) return;
    drm_mode_fb_cmd fb{};
    fb.width = dumb.width;
    fb.height = dumb.height;
    fb.pitch = dumb.pitch;
    fb.bpp = 32;
    fb.depth = 24;
    fb.handle = dumb.handle;
    if (call("framebuffer", DRM_IOCTL_MODE_ADDFB, fb) != 0) return;
    drm_mode_crtc crtc{};
    crtc.crtc_id = kCrtcId;
    crtc.fb_id = fb.fb_id;
    crtc.set_connectors_ptr = reinterpret_cast<uintptr_t>(&connector);
    crtc.count_connectors = 1;
    crtc.mode_valid = 1;
    for (const drm_mode_modeinfo& mode : Kms::modes()) {
      if (mode.hdisplay == dumb.width) crtc.mode = mode;
    }
    if (call("mode", DRM_IOCTL_MODE_SETCRTC, crtc) == 0) {
      drm_mode_crtc_page_flip flip{};
      flip.crtc_id = kCrtcId;
      flip.fb_id = fb.fb_id;
      flip.flags = DRM_MODE_PAGE_FLIP_EVENT;
      call("flip", DRM_IOCTL_MODE_PAGE_FLIP, flip);
      driver_.finish_display();
    }
    std::array<std::byte, 100> bytes{};
    drm_mode_create_blob blob{};
    blob.data = reinterpret_cast<uintptr_t>(bytes.data());
    blob.length = bytes.size();
    call("blob", DRM_IOCTL_MODE_CREATEPROPBLOB, blob);
    drm_mode_crtc off{};
    off.crtc_id = kCrtcId;
    call("off", DRM_IOCTL_MODE_SETCRTC, off);
    EXPECT_EQ(call("remove", DRM_IOCTL_MODE_RMFB, fb.fb_id), 0) << context_;
  }

  Driver& driver_;
  HostFaults& faults_;
  bool execlists_;
  std::string context_;
  std::shared_ptr<File> file_;
  uint32_t batch_ = 0, data_ = 0;
};

class HostExhausted : public ScreenDoor {
 protected:
  void SetUp() override {
    DriverOptions options;
    options.hang_after = std::chrono::minutes(5);  // nothing hangs
    boot(options);
    driver->close(file);
    file = nullptr;
  }
  // Returns the number of calls of this kind that the program makes, and of its failures.
  std::pair<uint64_t, unsigned> run(HostCall kind, uint64_t n, bool then_all = false) {
    HostFaults faults(kind, n, then_all);
    Program program(*driver, faults, execlists());
    program.run(std::string(test::name_of(kind)) + " " + std::to_string(n));
    return {faults.counted(), program.failures};
  }
  uint64_t free_pages() {
    uint64_t bytes = 0;
    driver->with_lock([&] {
      Hardware& hardware = driver->gpu().hardware();
      bytes = hardware.pages(false).free_bytes() + hardware.pages(true).free_bytes();
    });
    return bytes / kPageBytes;
  }
  static size_t descriptors() {
    size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, HostExhausted, ::testing::Values("g45", "snb", "bdw", "icl", "dg1"), chip_name);

TEST_P(HostExhausted, EachCallFailsCleanlyAndLeaksNothing) {
  ASSERT_EQ(run(HostCall::memory, HostFaults::kNever).second, 0u);
  ASSERT_EQ(run(HostCall::memory, HostFaults::kNever).second, 0u);
  const uint64_t pages = free_pages();
  const size_t files = descriptors();
  for (const HostCall kind : test::kHostCalls) {
    const uint64_t all = run(kind, HostFaults::kNever).first;
    if (kind == HostCall::memory) {
      ASSERT_GT(all, 100u);
    }
    constexpr uint64_t kMaxAttempts = 300;
    const uint64_t step = all / kMaxAttempts + 1;
    for (uint64_t n = 1; n <= all; n += step) {
      run(kind, n);
      ASSERT_FALSE(HasFailure()) << test::name_of(kind) << " " << n << " of " << all;
      ASSERT_EQ(run(kind, HostFaults::kNever).second, 0u) << "after " << test::name_of(kind) << " " << n;
      ASSERT_EQ(descriptors(), files) << test::name_of(kind) << " " << n;
      if (kind == HostCall::memory) {
        ASSERT_EQ(free_pages(), pages) << n;
      }
    }
  }
}

TEST_P(HostExhausted, StartFailsWithAnError) {
  const auto start = [&](HostCall kind, uint64_t n) {
    HostFaults faults(kind, n);
    DriverOptions options;
    options.hardware.memory_bytes = uint64_t{256} << 20;
    const auto made = faults.in([&] { return Driver::start(model(), options); });
    if (n == HostFaults::kNever || kind == HostCall::thread) {
      EXPECT_EQ(made.ok(), n == HostFaults::kNever) << test::name_of(kind) << " " << n;
    }
    return faults.counted();
  };
  const size_t files = descriptors();
  for (const HostCall kind : test::kHostCalls) {
    const uint64_t all = start(kind, HostFaults::kNever);
    ASSERT_GT(all, 0u) << test::name_of(kind);
    for (uint64_t n = 1; n <= all; n += all / 25 + 1) start(kind, n);
  }
  EXPECT_EQ(descriptors(), files);
}

// From some call on, the host has nothing left until the program has closed everything.
TEST_P(HostExhausted, ProgramSurvivesPermanentExhaustion) {
  ASSERT_EQ(run(HostCall::memory, HostFaults::kNever).second, 0u);
  ASSERT_EQ(run(HostCall::memory, HostFaults::kNever).second, 0u);
  const size_t files = descriptors();
  for (const HostCall kind : {HostCall::mapping, HostCall::file, HostCall::thread}) {
    const uint64_t all = run(kind, HostFaults::kNever).first;
    for (uint64_t n = 1; n <= all; n += all / 20 + 1) {
      run(kind, n, true);
      ASSERT_FALSE(HasFailure()) << test::name_of(kind) << " " << n << " of " << all;
      ASSERT_EQ(run(kind, HostFaults::kNever).second, 0u) << "after " << test::name_of(kind) << " " << n;
      ASSERT_EQ(descriptors(), files) << test::name_of(kind) << " " << n;
    }
  }
}

}  // namespace
}  // namespace halogen::driver
