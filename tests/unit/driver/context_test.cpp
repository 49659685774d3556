// Contexts: which parameters can be set when, engine maps, blame for hangs and its consequences.
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <thread>

#include "door.h"

namespace halogen::driver {
namespace {

// Drops CAP_SYS_ADMIN of this thread. False: it did not have it.
bool give_rights_away() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  constexpr uint32_t kAdministrator = 1u << CAP_SYS_ADMIN;
  if (syscall(SYS_capget, &header, data) != 0 || (data[0].effective & kAdministrator) == 0) return false;
  data[0].effective &= ~kAdministrator;
  return syscall(SYS_capset, &header, data) == 0;
}

class Contexts : public Door {
 protected:
  uint32_t create_context(uint32_t flags = 0, uint64_t extensions = 0) {
    drm_i915_gem_context_create_ext create{};
    create.flags = flags;
    create.extensions = extensions;
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), 0);
    return create.ctx_id;
  }
  int set(uint32_t context, uint64_t name, uint64_t value, uint32_t size = 0) {
    drm_i915_gem_context_param parameter{};
    parameter.ctx_id = context;
    parameter.param = name;
    parameter.value = value;
    parameter.size = size;
    return call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, parameter);
  }
  int64_t get(uint32_t context, uint64_t name) {
    drm_i915_gem_context_param parameter{};
    parameter.ctx_id = context;
    parameter.param = name;
    const int result = call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, parameter);
    return result != 0 ? result : static_cast<int64_t>(parameter.value);
  }
  // Sets engines given as pairs of class and instance, with the address of the first extension.
  int set_engines(uint32_t context, const std::vector<std::pair<unsigned, unsigned>>& engines, uint64_t extension = 0) {
    std::vector<uint16_t> data(4);
    std::memcpy(data.data(), &extension, 8);
    for (const auto& [engine_class, instance] : engines) {
      data.push_back(static_cast<uint16_t>(engine_class));
      data.push_back(static_cast<uint16_t>(instance));
    }
    return set(context, I915_CONTEXT_PARAM_ENGINES, reinterpret_cast<uintptr_t>(data.data()),
               static_cast<uint32_t>(data.size() * 2));
  }
  int execute_endless(uint32_t context, uint64_t flags, uint32_t& batch) {
    drm_i915_gem_relocation_entry relocation;
    std::vector<drm_i915_gem_exec_object2> objects{make_endless(relocation)};
    batch = objects[0].handle;
    return execute(objects, flags, context);
  }
  int execute_empty(uint32_t context, uint64_t flags = 0) {
    std::vector<drm_i915_gem_exec_object2> objects(1);
    objects[0].handle = make_empty();
    const int result = execute(objects, flags, context);
    EXPECT_EQ(wait(objects[0].handle), 0);
    return result;
  }
  drm_i915_reset_stats statistics(uint32_t context) {
    drm_i915_reset_stats statistics{};
    statistics.ctx_id = context;
    EXPECT_EQ(call(DRM_IOCTL_I915_GET_RESET_STATS, statistics), 0);
    return statistics;
  }
};

constexpr unsigned kNone = 0xffff;

TEST_P(Contexts, InvalidParametersAreRefused) {
  const uint32_t context = create_context();
  EXPECT_EQ(get(context, I915_CONTEXT_PARAM_BANNABLE), 1);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_BANNABLE, 0), -EPERM) << "needs privilege";
  EXPECT_EQ(get(context, I915_CONTEXT_PARAM_RECOVERABLE), 1);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_RECOVERABLE, 0), 0);
  EXPECT_EQ(get(context, I915_CONTEXT_PARAM_RECOVERABLE), 0);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_RECOVERABLE, 0, 8), -EINVAL);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_NO_ERROR_CAPTURE, 1), 0);
  EXPECT_EQ(get(context, I915_CONTEXT_PARAM_NO_ERROR_CAPTURE), 1);
  const bool preempts = is("skl") || is("icl") || is("tgl") || is("dg1");
  EXPECT_EQ(get(context, I915_CONTEXT_PARAM_PERSISTENCE), 1);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_PERSISTENCE, 0), preempts ? 0 : -ENODEV);
  EXPECT_EQ(get(context, I915_CONTEXT_PARAM_PERSISTENCE), preempts ? 0 : 1);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_PERSISTENCE, 1), 0);
  constexpr uint64_t kGone[] = {I915_CONTEXT_PARAM_BAN_PERIOD, I915_CONTEXT_PARAM_NO_ZEROMAP,
                                I915_CONTEXT_PARAM_RINGSIZE, 99};
  for (const uint64_t gone : kGone) {
    EXPECT_EQ(set(context, gone, 0), -EINVAL) << gone;
    EXPECT_EQ(get(context, gone), -EINVAL) << gone;
  }
  EXPECT_EQ(get(context, I915_CONTEXT_PARAM_ENGINES), -EINVAL);
  EXPECT_EQ(get(context, I915_CONTEXT_PARAM_PROTECTED_CONTENT), 0);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_PROTECTED_CONTENT, 0), -EINVAL) << "in use";
  EXPECT_EQ(set(create_context(), I915_CONTEXT_PARAM_PROTECTED_CONTENT, 1), -ENODEV);
  EXPECT_EQ(set(77, I915_CONTEXT_PARAM_PRIORITY, 0), -ENOENT);
}

TEST_P(Contexts, PrioritiesAboveDefaultNeedPrivilege) {
  const uint32_t context = create_context();
  if (!execlists()) {
    EXPECT_EQ(set(context, I915_CONTEXT_PARAM_PRIORITY, 0), -ENODEV);
    return;
  }
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_PRIORITY, static_cast<uint64_t>(-1023)), 0);
  EXPECT_EQ(get(context, I915_CONTEXT_PARAM_PRIORITY), -1023);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_PRIORITY, static_cast<uint64_t>(-1024)), -EINVAL);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_PRIORITY, 1024), -EINVAL);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_PRIORITY, 1), -EPERM);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_PRIORITY, 0), 0);
  DriverOptions options;
  options.privileged = true;
  boot(options);
  EXPECT_EQ(set(0, I915_CONTEXT_PARAM_PRIORITY, 1023), 0);
  EXPECT_EQ(set(0, I915_CONTEXT_PARAM_BANNABLE, 0), 0);
  std::thread([&] {  // capabilities belong to a thread
    if (!give_rights_away()) return;
    EXPECT_EQ(set(0, I915_CONTEXT_PARAM_PRIORITY, 1), -EPERM);
    EXPECT_EQ(get(0, I915_CONTEXT_PARAM_PRIORITY), 1023);
    EXPECT_EQ(set(0, I915_CONTEXT_PARAM_PRIORITY, 1024), -EINVAL);
    EXPECT_EQ(set(0, I915_CONTEXT_PARAM_PRIORITY, 0), 0);
  })
      .join();
}

TEST_P(Contexts, SpacesCanBeSharedUntilTheFirstUse) {
  drm_i915_gem_vm_control control{};
  if (driver->shared_space()) {
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_VM_CREATE, control), -ENODEV);
    EXPECT_EQ(get(0, I915_CONTEXT_PARAM_VM), -ENODEV);
    EXPECT_EQ(set(create_context(), I915_CONTEXT_PARAM_VM, 1), -ENODEV);
    return;
  }
  const uint64_t size = is("chv") ? uint64_t{1} << 32 : uint64_t{1} << (is("dg1") ? 47 : 48);
  EXPECT_EQ(static_cast<uint64_t>(get(0, I915_CONTEXT_PARAM_GTT_SIZE)), size);
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_VM_CREATE, control), 0);
  const uint32_t first = create_context();
  const uint32_t second = create_context();
  EXPECT_EQ(set(first, I915_CONTEXT_PARAM_VM, control.vm_id), 0);
  EXPECT_EQ(set(second, I915_CONTEXT_PARAM_VM, control.vm_id), 0);
  EXPECT_EQ(set(first, I915_CONTEXT_PARAM_VM, 4000), -ENOENT);
  EXPECT_EQ(set(first, I915_CONTEXT_PARAM_VM, uint64_t{control.vm_id} | uint64_t{1} << 32), -ENOENT);
  EXPECT_EQ(file->contexts.find(first)->space, file->contexts.find(second)->space);
  EXPECT_GT(get(first, I915_CONTEXT_PARAM_VM), 0);
  EXPECT_EQ(set(first, I915_CONTEXT_PARAM_VM, control.vm_id), -EINVAL) << "in use";
  EXPECT_EQ(set(0, I915_CONTEXT_PARAM_VM, control.vm_id), -EINVAL) << "the default context is always in use";
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_VM_DESTROY, control), 0);
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_VM_DESTROY, control), -ENOENT);
  EXPECT_EQ(execute_empty(first), 0) << "the context keeps it";
}

TEST_P(Contexts, EngineMapAssignsIndices) {
  const uint32_t context = create_context();
  EXPECT_EQ(set_engines(context, {{0, 0}, {kNone, kNone}, {9, 0}}), -ENOENT);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_ENGINES, 0, 4), -EINVAL);
  EXPECT_EQ(set(context, I915_CONTEXT_PARAM_ENGINES, 8, 12), -EFAULT);
  EXPECT_EQ(set_engines(context, std::vector<std::pair<unsigned, unsigned>>(65, {0, 0})), -EINVAL);
  ASSERT_EQ(set_engines(context, {{kNone, kNone}, {0, 0}, {0, 0}}), 0);
  EXPECT_EQ(set_engines(context, {{0, 0}}), -EINVAL) << "cannot be set twice";
  std::vector<drm_i915_gem_exec_object2> objects(1);
  objects[0].handle = make_empty();
  EXPECT_EQ(execute(objects, 0, context), -EINVAL) << "a hole";
  EXPECT_EQ(execute(objects, 1, context), 0);
  EXPECT_EQ(execute(objects, 2, context), 0);
  EXPECT_EQ(execute(objects, 3, context), -EINVAL);
  EXPECT_EQ(wait(objects[0].handle), 0);
  const std::vector<EngineSlot>& slots = file->contexts.find(context)->engines;
  EXPECT_NE(slots[1].state, slots[2].state) << "two slots are two contexts, even on one engine";
}

TEST_P(Contexts, BalancedEnginesMustHaveOneClass) {
  const uint32_t context = create_context();
  struct {
    i915_user_extension base;
    uint16_t index, siblings;
    uint32_t flags;
    uint64_t reserved;
    uint16_t engines[4];
  } balance{};
  balance.base.name = I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE;
  balance.siblings = 2;
  balance.engines[0] = balance.engines[2] = I915_ENGINE_CLASS_VIDEO;
  balance.engines[3] = 1;
  const auto extension = reinterpret_cast<uintptr_t>(&balance);
  if (!execlists()) {
    EXPECT_EQ(set_engines(context, {{kNone, kNone}}, extension), -ENODEV);
    return;
  }
  const bool two = is("icl") || is("tgl") || is("dg1");
  balance.index = 1;
  EXPECT_EQ(set_engines(context, {{kNone, kNone}}, extension), -EINVAL) << "slot out of range";
  balance.index = 0;
  EXPECT_EQ(set_engines(context, {{0, 0}}, extension), -EEXIST);
  balance.flags = 1;
  EXPECT_EQ(set_engines(context, {{kNone, kNone}}, extension), -EINVAL);
  balance.flags = 0;
  ASSERT_EQ(set_engines(context, {{kNone, kNone}}, extension), two ? 0 : -EINVAL);
  if (two) {
    EXPECT_EQ(execute_empty(context, 0), 0);
  }
  // Engines of two classes are refused at the first use.
  balance.engines[2] = I915_ENGINE_CLASS_COPY;
  balance.engines[3] = 0;
  const uint32_t mixed = create_context();
  ASSERT_EQ(set_engines(mixed, {{kNone, kNone}}, extension), 0);
  EXPECT_EQ(get(mixed, I915_CONTEXT_PARAM_PRIORITY), -EINVAL);
}

TEST_P(Contexts, CreateExtensionsAreApplied) {
  drm_i915_gem_context_create_ext_setparam extension{};
  extension.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM;
  extension.param.param = I915_CONTEXT_PARAM_RECOVERABLE;
  drm_i915_gem_context_create_ext create{};
  create.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS;
  create.extensions = reinterpret_cast<uintptr_t>(&extension);
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), 0);
  EXPECT_EQ(get(create.ctx_id, I915_CONTEXT_PARAM_RECOVERABLE), 0);
  extension.param.ctx_id = 1;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), -EINVAL) << "no handle exists yet";
  extension.param.ctx_id = 0;
  extension.base.rsvd[2] = 1;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), -EINVAL);
  extension.base.rsvd[2] = 0;
  extension.base.name = I915_CONTEXT_CREATE_EXT_CLONE;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), -EINVAL);
  extension.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM;
  extension.base.next_extension = reinterpret_cast<uintptr_t>(&extension);
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), -E2BIG) << "an endless list";
  create.extensions = 16;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), -EFAULT);
  create.flags = I915_CONTEXT_CREATE_FLAGS_SINGLE_TIMELINE;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), execlists() ? 0 : -EINVAL);
  create.flags = 4;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), -EINVAL);
}

TEST_P(Contexts, SubslicesArePoweredAllOrHalf) {
  drm_i915_gem_context_param_sseu sseu{};
  drm_i915_gem_context_param parameter{};
  parameter.param = I915_CONTEXT_PARAM_SSEU;
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, parameter), 0);
  EXPECT_EQ(parameter.size, sizeof sseu) << "size query";
  parameter.value = reinterpret_cast<uintptr_t>(&sseu);
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, parameter), 0);
  const bool tells = execlists();
  EXPECT_EQ(sseu.slice_mask, tells ? 1u : 0u);
  EXPECT_EQ(sseu.max_eus_per_subslice, !tells ? 0 : is("tgl") || is("dg1") ? 16 : 8);
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, parameter), is("icl") ? 0 : -ENODEV);
  if (is("icl")) {
    sseu.subslice_mask = 0xf;
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, parameter), 0);
    for (const unsigned bad : {0u, 0x3fu, 0x7u, 0x100u}) {
      sseu.subslice_mask = bad;
      EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, parameter), -EINVAL) << bad;
    }
    ASSERT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, parameter), 0);
    EXPECT_EQ(sseu.subslice_mask, 0xfu);
  }
  sseu.engine.engine_class = 8;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, parameter), -EINVAL);
}

// No batch is waited for before its hang is found, so a short timeout is safe.
class HangsOfContexts : public Contexts {
 protected:
  void SetUp() override { boot({.hang_after = std::chrono::milliseconds(120)}); }
};

TEST_P(HangsOfContexts, ThreeHangsInTwoMinutesBanTheContext) {
  const uint32_t context = create_context();
  for (uint32_t hang = 1; hang <= 3; ++hang) {
    uint32_t batch = 0;
    ASSERT_EQ(execute_endless(context, 0, batch), 0) << hang;
    EXPECT_EQ(wait(batch), 0);
    EXPECT_EQ(statistics(context).batch_active, hang);
    EXPECT_EQ(statistics(context).reset_count, 0u) << "hidden without privilege";
  }
  uint32_t batch = 0;
  EXPECT_EQ(execute_endless(context, 0, batch), -EIO);
  EXPECT_EQ(execute_empty(0), 0) << "other contexts continue";
  EXPECT_EQ(statistics(0).batch_active, 0u);
}

TEST_P(Contexts, OneHangBansNonRecoverableContext) {
  const uint32_t context = create_context();
  ASSERT_EQ(set(context, I915_CONTEXT_PARAM_RECOVERABLE, 0), 0);
  uint32_t batch = 0, after = make_empty();
  ASSERT_EQ(execute_endless(context, 0, batch), 0);
  std::vector<drm_i915_gem_exec_object2> objects(1);
  objects[0].handle = after;
  ASSERT_EQ(execute(objects, 0, context), 0);
  EXPECT_EQ(wait(batch), 0);
  EXPECT_EQ(wait(after), 0) << "later work of the context is cancelled too";
  EXPECT_EQ(execute(objects, 0, context), -EIO);
  // Three such contexts, with hangs in quick succession: the file cannot create contexts any more.
  for (int i = 0; i < 2; ++i) {
    const uint32_t another = create_context();
    ASSERT_EQ(set(another, I915_CONTEXT_PARAM_RECOVERABLE, 0), 0);
    ASSERT_EQ(execute_endless(another, 0, batch), 0);
    EXPECT_EQ(wait(batch), 0);
  }
  drm_i915_gem_context_create_ext create{};
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), -EIO);
  const std::shared_ptr<File> other = driver->open();
  EXPECT_EQ(call_on(*other, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), 0);
  driver->close(other);
}

TEST_P(Contexts, FullResetCountsInnocentContexts) {
  if (!is("g45") && !is("gm45") && !is("snb")) GTEST_SKIP() << "single engine, or per-engine reset";
  const uint32_t guilty = create_context();
  const uint32_t innocent = create_context();
  uint32_t first = 0, second = 0;
  ASSERT_EQ(execute_endless(guilty, I915_EXEC_RENDER, first), 0);
  EXPECT_EQ(wait(first, 20'000'000), -ETIME);
  ASSERT_EQ(execute_endless(innocent, I915_EXEC_BSD, second), 0);
  EXPECT_EQ(wait(first), 0);
  EXPECT_EQ(statistics(guilty).batch_active, 1u);
  EXPECT_EQ(statistics(guilty).batch_pending, 0u);
  EXPECT_EQ(wait(second), 0) << "it is repeated, and then hangs itself";
  EXPECT_GE(statistics(innocent).batch_pending, 1u);
  EXPECT_EQ(statistics(innocent).batch_active, 1u);
  EXPECT_EQ(execute_empty(0), 0);
}

TEST_P(Contexts, DestroyingNonPersistentContextCancelsItsWork) {
  const uint32_t context = create_context();
  if (set(context, I915_CONTEXT_PARAM_PERSISTENCE, 0) != 0) GTEST_SKIP() << "this chip has no persistence control";
  uint32_t batch = 0;
  ASSERT_EQ(execute_endless(context, 0, batch), 0);
  EXPECT_EQ(wait(batch, 1'000'000), -ETIME);
  drm_i915_gem_context_destroy destroy{};
  destroy.ctx_id = context;
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, destroy), 0);
  EXPECT_EQ(wait(batch, 0), 0) << "at once, without waiting for the hang check";
  EXPECT_EQ(execute_empty(0), 0);
}

TEST_P(Contexts, BusyReportsReadingAndWritingEngines) {
  uint32_t batch = 0;
  const uint32_t context = create_context();
  ASSERT_EQ(execute_endless(context, 0, batch), 0);
  drm_i915_gem_busy busy{.handle = batch, .busy = 0};
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_BUSY, busy), 0);
  EXPECT_EQ(busy.busy, 0x1'0000u) << "the render class reads it";
  EXPECT_EQ(wait(batch), 0);
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_BUSY, busy), 0);
  EXPECT_EQ(busy.busy, 0u);
  if (!is("snb") && !execlists()) return;
  ASSERT_EQ(execute_endless(context, I915_EXEC_BLT, batch), 0);
  busy.handle = batch;
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_BUSY, busy), 0);
  EXPECT_EQ(busy.busy, 0x2'0000u);
  EXPECT_EQ(wait(batch), 0);
}

// The vertex counter belongs to the context. As in Linux, a new context starts with the state that the first one found.
TEST_P(Contexts, NewContextDoesNotSeeStateOfOthers) {
  if (!is("snb")) GTEST_SKIP() << "contexts have initial images, or batches cannot read counters";
  constexpr uint32_t kVertices = 0x2310;
  const uint32_t target = create(4096);
  // Enables the vertex counter, draws some triangles without any other state, and stores the counter.
  const auto run = [&](uint32_t context, uint32_t triangles, uint32_t place) {
    std::vector<uint32_t> batch{0x680b'0001, 0x7b00'1004, triangles * 3, 0, 1, 0, 0, 0};
    if (triangles == 0) batch.clear();
    const size_t store = batch.size();
    batch.insert(batch.end(), {0x1200'0001, kVertices, 0, 0x0500'0000});
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = target;
    objects[1].handle = create(4096);
    fill(objects[1].handle, batch);
    drm_i915_gem_relocation_entry relocation{};
    relocation.target_handle = target;
    relocation.offset = (store + 2) * 4;
    relocation.delta = place;
    relocation.presumed_offset = ~uint64_t{0};
    relocation.write_domain = relocation.read_domains = I915_GEM_DOMAIN_INSTRUCTION;
    objects[1].relocation_count = 1;
    objects[1].relocs_ptr = reinterpret_cast<uintptr_t>(&relocation);
    EXPECT_EQ(execute(objects, 0, context), 0);
    EXPECT_EQ(wait(objects[1].handle), 0);
    uint32_t found = 0;
    std::memcpy(&found, content(target).data() + place, 4);
    return found;
  };
  const uint32_t first = create_context();
  EXPECT_EQ(run(first, 2, 0), 6u);
  const uint32_t second = create_context();
  EXPECT_EQ(run(second, 0, 4), 0u);
  EXPECT_EQ(run(first, 0, 8), 6u);
  EXPECT_EQ(run(second, 1, 12), 3u);
  EXPECT_EQ(run(create_context(), 0, 16), 0u);
  EXPECT_EQ(run(first, 1, 20), 9u);
}

INSTANTIATE_TEST_SUITE_P(Chips, Contexts, ::testing::ValuesIn(all_chips()), chip_name);
INSTANTIATE_TEST_SUITE_P(Chips, HangsOfContexts, ::testing::ValuesIn(all_chips()), chip_name);

}  // namespace
}  // namespace halogen::driver
