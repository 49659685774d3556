// Performance counters: metric sets, and streams with their errors. What counters count is not looked at here.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { format = I915_OA_FORMAT_A32u40_A4u32_B8_C8, report_bytes = 256, record_bytes = 8 + report_bytes };
static const char uuid[] = "01234567-89ab-cdef-0123-456789abcdef";
static const char other_uuid[] = "fedcba98-7654-3210-fedc-ba9876543210";

static uint32_t mux[] = {0x9888, 0};

static int add_set(const char* name, const uint32_t* muxes, uint32_t mux_count, const uint32_t* booleans,
                   uint32_t boolean_count, const uint32_t* flexibles, uint32_t flexible_count) {
  struct drm_i915_perf_oa_config config = {.n_mux_regs = mux_count,
                                           .n_boolean_regs = boolean_count,
                                           .n_flex_regs = flexible_count,
                                           .mux_regs_ptr = (uintptr_t)muxes,
                                           .boolean_regs_ptr = (uintptr_t)booleans,
                                           .flex_regs_ptr = (uintptr_t)flexibles};
  memcpy(config.uuid, name, strnlen(name, sizeof(config.uuid)));
  return call(DRM_IOCTL_I915_PERF_ADD_CONFIG, &config);
}

static int add_any(const char* name) {
  return add_set(name, mux, 1, NULL, 0, NULL, 0);
}

static int remove_set(uint64_t id) {
  return call(DRM_IOCTL_I915_PERF_REMOVE_CONFIG, &id);
}

// Sets that are there already, for example of a program that ran before, do not matter.
static void need_perf(void) {
  uint64_t id = ~0ull;
  set_rights(1);
  const int answer = remove_set(id);
  if (answer == -524) skip("no counters");
  if (answer == -EACCES) skip("no rights");
}

struct list {
  uint64_t pairs[20];
  uint32_t count;
};

static void put_property(struct list* list, uint64_t name, uint64_t value) {
  for (uint32_t i = 0; i < list->count; ++i) {
    if (list->pairs[2 * i] != name) continue;
    list->pairs[2 * i + 1] = value;
    return;
  }
  list->pairs[2 * list->count] = name;
  list->pairs[2 * list->count++ + 1] = value;
}

static struct list usual(int set) {
  struct list list = {.count = 0};
  put_property(&list, DRM_I915_PERF_PROP_SAMPLE_OA, 1);
  put_property(&list, DRM_I915_PERF_PROP_OA_METRICS_SET, (uint64_t)set);
  put_property(&list, DRM_I915_PERF_PROP_OA_FORMAT, format);
  put_property(&list, DRM_I915_PERF_PROP_OA_EXPONENT, 31);
  return list;
}

static int open_list(const struct list* list, uint32_t flags) {
  struct drm_i915_perf_open_param open_call = {
      .flags = flags, .num_properties = list->count, .properties_ptr = (uintptr_t)list->pairs};
  return call(DRM_IOCTL_I915_PERF_OPEN, &open_call);
}

// Opens and closes a stream. Returns 0 or the error.
static int try_list(const struct list* list) {
  const int stream = open_list(list, I915_PERF_FLAG_FD_NONBLOCK | I915_PERF_FLAG_DISABLED);
  if (stream >= 0) close(stream);
  return stream < 0 ? stream : 0;
}

static int try_with(int set, uint64_t name, uint64_t value) {
  struct list list = usual(set);
  put_property(&list, name, value);
  return try_list(&list);
}

static int read_into(int stream, void* into, size_t bytes) {
  const ssize_t got = read(stream, into, bytes);
  return got < 0 ? -errno : (int)got;
}

static int control(int stream, unsigned long request, uint64_t argument) {
  const int result = ioctl(stream, request, argument);
  return result < 0 ? -errno : result;
}

static void rights(void) {
  const int set = 2;
  struct list list = usual(set);
  observe("all", try_list(&list));
  observe("own with samples", try_with(set, DRM_I915_PERF_PROP_CTX_HANDLE, 0));
  list = (struct list){.count = 0};
  put_property(&list, DRM_I915_PERF_PROP_CTX_HANDLE, 0);
  put_property(&list, DRM_I915_PERF_PROP_OA_METRICS_SET, 77);
  put_property(&list, DRM_I915_PERF_PROP_OA_FORMAT, format);
  observe("own without samples", try_list(&list));
  put_property(&list, DRM_I915_PERF_PROP_HOLD_PREEMPTION, 1);
  observe("own without preemption", try_list(&list));
  for (unsigned exponent = 4; exponent < 9; ++exponent) {
    list = usual(set);
    put_property(&list, DRM_I915_PERF_PROP_CTX_HANDLE, 77);
    put_property(&list, DRM_I915_PERF_PROP_OA_EXPONENT, exponent);
    observe(key("exponent %u", exponent), try_list(&list));
  }
  observe("add", add_any(uuid));
  observe("remove", remove_set(2));
}

static void sets(void) {
  need_perf();
  const int first = add_any(uuid);
  expect_true("added", first >= 2);
  expect("again", add_any(uuid), -EADDRINUSE);
  const int second = add_any(other_uuid);
  expect("next", second - first, 1);
  expect("remove", remove_set((uint64_t)first), 0);
  expect("remove again", remove_set((uint64_t)first), -ENOENT);
  expect("remove test", remove_set(1), -ENOENT);
  expect("remove large", remove_set((1ull << 32) + (unsigned)second), -ENOENT);
  const int third = add_any(uuid);
  expect("lowest", third - first, 0);
  const char* const names[] = {"", "01234567-89ab-cdef-0123-456789abcde", "01234567-89ab-cdef-0123-456789abcdeg",
                               "012345678-9ab-cdef-0123-456789abcdef", "01234567x89ab-cdef-0123-456789abcdee"};
  for (unsigned i = 0; i < 5; ++i) expect(key("name %u", i), add_any(names[i]), -EINVAL);
  const int upper = add_any("ABCDEF01-89AB-CDEF-0123-456789ABCDEE");
  expect_true("upper case", upper > 0);
  if (upper > 0) remove_set((uint64_t)upper);
  expect("remove second", remove_set((uint64_t)second), 0);
  expect("remove third", remove_set((uint64_t)third), 0);
  expect("nothing", add_set(uuid, NULL, 0, NULL, 0, NULL, 0), -EINVAL);
  expect("no address", add_set(uuid, NULL, 42, NULL, 0, NULL, 0), -EINVAL);
  const uint32_t* const wild = (const uint32_t*)0xdead00000000;
  expect("wild", add_set(uuid, wild, 42, NULL, 0, NULL, 0), -EFAULT);
  expect("second wild", add_set(uuid, mux, 1, wild, 1, NULL, 0), -EFAULT);
  expect("half null", add_set(uuid, mux, 1, NULL, 1, NULL, 0), -EFAULT);
}

// Which addresses each list takes, around the ranges of all chips.
static void registers(void) {
  need_perf();
  static const uint32_t edges[] = {0xd00,  0xd04,  0xd08,  0xd0c,  0xd2c,  0xd30,    0x20cc,   0x2710,   0x272c,
                                   0x2730, 0x2740, 0x275c, 0x2760, 0x2770, 0x27ac,   0x27b0,   0x2b28,   0x2b2c,
                                   0x2360, 0x91b8, 0x91c8, 0x91cc, 0x91d0, 0x91dc,   0x91e0,   0x9800,   0x9840,
                                   0x9844, 0x9884, 0x9888, 0x988c, 0xd900, 0xd91c,   0xd920,   0xd93c,   0xd940,
                                   0xd97c, 0xd980, 0xdc00, 0xdc3c, 0xdc40, 0xdc44,   0xdc48,   0xe180,   0xe184,
                                   0xe458, 0xe459, 0xe45c, 0xe558, 0xe65c, 0xe75c,   0x182300, 0x1823a4, 0x1823a8,
                                   0x2711, 0xd901, 0x9801, 0,      0xfffffffc};
  for (unsigned i = 0; i < sizeof(edges) / sizeof(edges[0]); ++i) {
    const uint32_t pair[2] = {edges[i], 0};
    char answers[4] = "";
    for (unsigned kind = 0; kind < 3; ++kind) {
      const int set =
          add_set(uuid, pair, kind == 0, pair, kind == 1, pair, kind == 2);
      answers[kind] = set > 0 ? 'y' : set == -EINVAL ? 'n' : '?';
      if (set > 0) remove_set((uint64_t)set);
    }
    observe_text(key("%x", edges[i]), answers);
  }
}

static int ask(uint32_t kind, void* data, int length) {
  struct drm_i915_query_item item = {
      .query_id = DRM_I915_QUERY_PERF_CONFIG, .flags = kind, .length = length, .data_ptr = (uintptr_t)data};
  struct drm_i915_query query = {.num_items = 1, .items_ptr = (uintptr_t)&item};
  const int result = call(DRM_IOCTL_I915_QUERY, &query);
  return result != 0 ? result : item.length;
}

static void queries(void) {
  need_perf();
  const uint32_t muxes[] = {0x9888, 5, 0x20cc, 0xffffffff}, flexibles[] = {0xe458, 9};
  const uint32_t masked[] = {0x9888, 5, 0xe180, 0xffffffff};
  int set = add_set(uuid, muxes, 2, NULL, 0, flexibles, 1);
  if (set < 0) set = add_set(uuid, masked, 2, NULL, 0, flexibles, 1);
  require(set > 0, "a set is added");
  uint64_t list[64] = {0};
  const int length = ask(DRM_I915_QUERY_PERF_CONFIG_LIST, NULL, 0);
  expect("length", ask(DRM_I915_QUERY_PERF_CONFIG_LIST, list, sizeof(list)), length);
  expect_number("test set", list[6], 1);
  expect_number("count", list[0], ((unsigned)length - 48) / 8);
  expect("short", ask(DRM_I915_QUERY_PERF_CONFIG_LIST, list, length - 1), -EINVAL);
  struct {
    struct drm_i915_query_perf_config head;
    struct drm_i915_perf_oa_config config;
  } answer;
  uint32_t got[4] = {0};
  memset(&answer, 0, sizeof(answer));
  answer.head.config = (uint64_t)set;
  answer.config.n_mux_regs = 2;
  answer.config.mux_regs_ptr = (uintptr_t)got;
  expect("data", ask(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_ID, &answer, sizeof(answer)), 120);
  expect_number("flexible", answer.config.n_flex_regs, 1);
  expect_number("boolean", answer.config.n_boolean_regs, 0);
  expect_true("name", memcmp(answer.config.uuid, uuid, 36) == 0);
  observe_number("first", got[1]);
  observe_number("masked", got[3]);
  answer.config.n_flex_regs = 0;  // otherwise the counts of the first answer ask for the registers
  answer.config.n_mux_regs = 1;
  expect("no room", ask(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_ID, &answer, sizeof(answer)), -EINVAL);
  answer.config.n_flex_regs = 0;
  answer.config.n_mux_regs = 2;
  answer.config.mux_regs_ptr = 8;
  expect("fault", ask(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_ID, &answer, sizeof(answer)), -EFAULT);
  memset(&answer, 0, sizeof(answer));
  memcpy(answer.head.uuid, uuid, 36);
  expect("by name", ask(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_UUID, &answer, sizeof(answer)), 120);
  expect_number("muxes", answer.config.n_mux_regs, 2);
  memcpy(answer.head.uuid, other_uuid, 36);
  expect("other name", ask(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_UUID, &answer, sizeof(answer)), -ENOENT);
  answer.head.flags = 1;
  expect("flags", ask(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_UUID, &answer, sizeof(answer)), -EINVAL);
  answer.head.flags = 0;
  answer.head.config = 1;
  expect("test data", ask(DRM_I915_QUERY_PERF_CONFIG_DATA_FOR_ID, &answer, sizeof(answer)), -ENOENT);
  remove_set((uint64_t)set);
}

static void opens(void) {
  need_perf();
  const int set = add_any(uuid);
  require(set > 0, "a set is added");
  struct list list = usual(set);
  expect("good", try_list(&list), 0);
  expect("flag", open_list(&list, 8), -EINVAL);
  list.count = 0;
  expect("nothing", try_list(&list), -EINVAL);
  for (unsigned count = 8; count <= 9; ++count) {
    list = usual(set);
    while (list.count < count) {
      list.pairs[2 * list.count] = DRM_I915_PERF_PROP_SAMPLE_OA;
      list.pairs[2 * list.count++ + 1] = 1;
    }
    expect(key("%u properties", count), try_list(&list), count == 8 ? 0 : -EINVAL);
  }
  expect("property 0", try_with(set, 0, 1), -EINVAL);
  expect("property 9", try_with(set, 9, 1), -EINVAL);
  for (unsigned i = 0; i < 13; ++i) {
    observe(key("format %u", i), try_with(set, DRM_I915_PERF_PROP_OA_FORMAT, i));
  }
  const uint64_t wrong_sets[] = {0, 1, 12345, ~0ull, (1ull << 32) + (unsigned)set};
  for (unsigned i = 0; i < 5; ++i) {
    observe(key("set %u", i), try_with(set, DRM_I915_PERF_PROP_OA_METRICS_SET, wrong_sets[i]));
  }
  for (unsigned i = 0; i < 34; ++i) {
    expect(key("exponent %u", i), try_with(set, DRM_I915_PERF_PROP_OA_EXPONENT, i), i < 32 ? 0 : -EINVAL);
  }
  expect("poll", try_with(set, DRM_I915_PERF_PROP_POLL_OA_PERIOD, 99999), -EINVAL);
  expect("poll often", try_with(set, DRM_I915_PERF_PROP_POLL_OA_PERIOD, 100000), 0);
  expect("preemption", try_with(set, DRM_I915_PERF_PROP_HOLD_PREEMPTION, 1), -EINVAL);
  expect("no preemption", try_with(set, DRM_I915_PERF_PROP_HOLD_PREEMPTION, 0), 0);
  expect("context", try_with(set, DRM_I915_PERF_PROP_CTX_HANDLE, 0), 0);
  expect("stranger", try_with(set, DRM_I915_PERF_PROP_CTX_HANDLE, 77), -ENOENT);
  expect("sseu fault", try_with(set, DRM_I915_PERF_PROP_GLOBAL_SSEU, 8), -EFAULT);
  struct drm_i915_gem_context_param_sseu sseu = {0};
  struct drm_i915_gem_context_param parameter = {
      .param = I915_CONTEXT_PARAM_SSEU, .size = sizeof(sseu), .value = (uintptr_t)&sseu};
  require(call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &parameter) == 0, "slices");
  expect("sseu", try_with(set, DRM_I915_PERF_PROP_GLOBAL_SSEU, (uintptr_t)&sseu), 0);
  sseu.engine.engine_class = I915_ENGINE_CLASS_COPY;
  expect("sseu of blitter", try_with(set, DRM_I915_PERF_PROP_GLOBAL_SSEU, (uintptr_t)&sseu), -EINVAL);
  sseu.engine.engine_class = I915_ENGINE_CLASS_RENDER;
  const uint64_t slices = sseu.slice_mask;
  sseu.slice_mask = 0;
  expect("no slice", try_with(set, DRM_I915_PERF_PROP_GLOBAL_SSEU, (uintptr_t)&sseu), -EINVAL);
  sseu.slice_mask = slices;
  sseu.max_eus_per_subslice += 1;
  observe("more units", try_with(set, DRM_I915_PERF_PROP_GLOBAL_SSEU, (uintptr_t)&sseu));
  list = usual(set);
  list.pairs[1] = 0;
  expect("no samples", try_list(&list), -EINVAL);
  put_property(&list, DRM_I915_PERF_PROP_CTX_HANDLE, 0);
  observe("own without samples", try_list(&list));
  list = usual(set);
  list.pairs[4] = DRM_I915_PERF_PROP_SAMPLE_OA;
  expect("no format", try_list(&list), -EINVAL);
  struct drm_i915_perf_open_param wild = {.num_properties = 1, .properties_ptr = 8};
  expect("fault", call(DRM_IOCTL_I915_PERF_OPEN, &wild), -EFAULT);
  remove_set((uint64_t)set);
}

static void order(void) {
  need_perf();
  const int set = add_any(uuid);
  struct list list = usual(set);
  const int stream = open_list(&list, I915_PERF_FLAG_DISABLED);
  require(stream >= 0, "a stream opens");
  expect("busy", try_list(&list), -EBUSY);
  put_property(&list, DRM_I915_PERF_PROP_OA_METRICS_SET, 12345);
  expect("busy before set", try_list(&list), -EBUSY);
  put_property(&list, DRM_I915_PERF_PROP_CTX_HANDLE, 77);
  expect("context before busy", try_list(&list), -ENOENT);
  put_property(&list, DRM_I915_PERF_PROP_OA_EXPONENT, 32);
  expect("properties before context", try_list(&list), -EINVAL);
  list = usual(set);
  list.pairs[4] = DRM_I915_PERF_PROP_SAMPLE_OA;
  expect("busy before format", try_list(&list), -EBUSY);
  list.pairs[1] = list.pairs[5] = 0;
  expect("samples before busy", try_list(&list), -EINVAL);
  close(stream);
  list = usual(set);
  expect("free again", try_list(&list), 0);
  remove_set((uint64_t)set);
}

static void streams(void) {
  need_perf();
  const int set = add_any(uuid), other = add_any(other_uuid);
  require(set > 0 && other > 0, "sets are added");
  struct list list = usual(set);
  static unsigned char bytes[1 << 16];
  const int stream = open_list(&list, I915_PERF_FLAG_FD_NONBLOCK | I915_PERF_FLAG_DISABLED | I915_PERF_FLAG_FD_CLOEXEC);
  require(stream >= 0, "a stream opens");
  expect_number("close on exec", (unsigned)fcntl(stream, F_GETFD), FD_CLOEXEC);
  expect("disabled", read_into(stream, bytes, sizeof(bytes)), -EIO);
  expect("enable", control(stream, I915_PERF_IOCTL_ENABLE, 0), 0);
  expect("enable again", control(stream, I915_PERF_IOCTL_ENABLE, 0), 0);
  expect("unknown", control(stream, _IO('i', 7), 0), -EINVAL);
  expect("seek", lseek(stream, 0, SEEK_SET) < 0 ? -errno : 0, -ESPIPE);
  expect("set", control(stream, I915_PERF_IOCTL_CONFIG, (unsigned)other), set);
  expect("same set", control(stream, I915_PERF_IOCTL_CONFIG, (unsigned)other), other);
  expect("no set", control(stream, I915_PERF_IOCTL_CONFIG, 12345), -EINVAL);
  expect("test set", control(stream, I915_PERF_IOCTL_CONFIG, 1), -EINVAL);
  expect("remove in use", remove_set((unsigned)other), 0);
  expect("set back", control(stream, I915_PERF_IOCTL_CONFIG, (unsigned)set), other);
  expect("removed set", control(stream, I915_PERF_IOCTL_CONFIG, (unsigned)other), -EINVAL);
  expect("disable", control(stream, I915_PERF_IOCTL_DISABLE, 0), 0);
  expect("disable again", control(stream, I915_PERF_IOCTL_DISABLE, 0), 0);
  expect("disabled again", read_into(stream, bytes, sizeof(bytes)), -EIO);
  expect("write", write(stream, bytes, 1) < 0 ? -errno : 0, -EBADF);
  close(stream);
  list = usual(set);
  --list.count;  // without a timer
  const int untimed = open_list(&list, 0);
  require(untimed >= 0, "a stream without timer opens");
  expect("blocking without timer", read_into(untimed, bytes, sizeof(bytes)), -EIO);
  close(untimed);
  remove_set((uint64_t)set);
}

// Reports of a timer of about a millisecond.
static void reports(void) {
  need_perf();
  const int set = add_any(uuid);
  struct list list = usual(set);
  put_property(&list, DRM_I915_PERF_PROP_OA_EXPONENT, 12);
  const int stream = open_list(&list, 0);
  require(stream >= 0, "a stream opens");
  static uint32_t record[record_bytes / 4];
  uint32_t before = 0;
  unsigned timers = 0;
  int grows = 1, whole = 1;
  for (unsigned i = 0; i < 40 && timers < 5; ++i) {
    const int got = read_into(stream, record, sizeof(record));
    whole = whole && got == record_bytes;
    if (got != record_bytes) break;
    const uint32_t type = record[0], size = record[1] >> 16;
    whole = whole && type == DRM_I915_PERF_RECORD_SAMPLE && size == record_bytes;
    grows = grows && (timers == 0 || (int32_t)(record[3] - before) > 0);
    before = record[3];
    if ((record[2] >> 19 & 1) != 0) ++timers;
  }
  expect_true("records are whole", whole);
  expect_true("time goes on", grows);
  expect_number("timer reports", timers, 5);
  struct pollfd wait = {.fd = stream, .events = POLLIN};
  expect("poll", poll(&wait, 1, 10000), 1);
  // A record that ends at the end of the page, one that does not fit it, and one that is larger than the rest.
  unsigned char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + 4096, 4096);
  usleep(20000);
  expect("one record", read_into(stream, pages + 4096 - record_bytes - 10, 2 * record_bytes), record_bytes);
  usleep(20000);
  expect("fault", read_into(stream, pages + 4096 - 10, 2 * record_bytes), -EFAULT);
  expect("no room", read_into(stream, pages, record_bytes - 1), -ENOSPC);
  expect("nothing", read_into(stream, pages, 0), -ENOSPC);
  munmap(pages, 4096);
  close(stream);
  remove_set((uint64_t)set);
}

// A report that is later than a context's work comes without a timer: Mesa waits for it.
static void switches(void) {
  need_perf();
  const int set = add_any(uuid);
  const uint32_t context = create_context();
  struct list list = usual(set);
  put_property(&list, DRM_I915_PERF_PROP_CTX_HANDLE, context);
  const int stream = open_list(&list, I915_PERF_FLAG_FD_NONBLOCK);
  require(stream >= 0, "a stream opens");
  const struct object target = create(4096);
  for (unsigned round = 0; round < 3; ++round) {
    struct drm_i915_reg_read before = {.offset = 0x2358 | I915_REG_READ_8B_WA};
    require(call(DRM_IOCTL_I915_REG_READ, &before) == 0, "the clock");
    require(store(I915_EXEC_RENDER, context, &target, 0, round) == 0, "a store");
    wait_for(&target);
    // A new context does not stop the stream.
    const uint32_t other = create_context();
    require(store(I915_EXEC_RENDER, other, &target, 64, round) == 0, "another store");
    wait_for(&target);
    int later = 0;
    for (unsigned i = 0; i < 8000 && !later; ++i) {
      static uint32_t record[record_bytes / 4];
      const int got = read_into(stream, record, sizeof(record));
      if (got == record_bytes) later = (int32_t)(record[3] - (uint32_t)before.val) > 0 && (record[2] >> 22 & 1) != 0;
      if (got < 0) usleep(1000);
    }
    expect_true(key("round %u", round), later);
  }
  close(stream);
  remove_set((uint64_t)set);
}

static void outlives(void) {
  need_perf();
  const int set = add_any(uuid);
  const uint32_t context = create_context();
  struct list list = usual(set);
  put_property(&list, DRM_I915_PERF_PROP_CTX_HANDLE, context);
  put_property(&list, DRM_I915_PERF_PROP_OA_EXPONENT, 12);
  const int stream = open_list(&list, I915_PERF_FLAG_FD_NONBLOCK);
  require(stream >= 0, "a stream opens");
  const struct object target = create(4096);
  if (can_store(0)) expect("store", store(I915_EXEC_RENDER, context, &target, 0, 7), 0);
  struct drm_i915_gem_context_destroy destroy = {.ctx_id = context};
  expect("destroy", call(DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy), 0);
  expect("disable", control(stream, I915_PERF_IOCTL_DISABLE, 0), 0);
  expect("enable", control(stream, I915_PERF_IOCTL_ENABLE, 0), 0);
  close(device);
  device = open_device();
  expect("busy", try_with(set, DRM_I915_PERF_PROP_OA_EXPONENT, 12), -EBUSY);
  expect("disable later", control(stream, I915_PERF_IOCTL_DISABLE, 0), 0);
  close(stream);
  remove_set((uint64_t)set);
}

// Reads timer reports. Returns how many whole ones came, at most five.
static int read_five(int stream) {
  static uint32_t record[record_bytes / 4];
  int reports = 0;
  for (unsigned i = 0; i < 4000 && reports < 5; ++i) {
    const int got = read_into(stream, record, sizeof(record));
    if (got == -EAGAIN) usleep(1000);
    if (got != record_bytes) continue;
    reports += record[0] == DRM_I915_PERF_RECORD_SAMPLE && (record[2] >> 19 & 1) != 0;
  }
  return reports;
}

// The child has the parent's node and stream. Returns the number of the check that failed, or 0.
static int use_in_child(int inherited, const struct list* list) {
  if (try_list(list) != -EBUSY) return 1;
  if (read_five(inherited) != 5) return 2;
  if (control(inherited, I915_PERF_IOCTL_DISABLE, 0) != 0) return 3;
  char any[record_bytes];
  if (read_into(inherited, any, sizeof(any)) != -EIO) return 4;
  return close(inherited) == 0 ? 0 : 5;
}

static int open_in_child(const struct list* list) {
  struct list wrong = *list;
  put_property(&wrong, DRM_I915_PERF_PROP_OA_METRICS_SET, 12345);
  if (try_list(&wrong) != -EINVAL) return 1;
  const int stream = open_list(list, I915_PERF_FLAG_FD_NONBLOCK | I915_PERF_FLAG_FD_CLOEXEC);
  if (stream < 0 || fcntl(stream, F_GETFD) != FD_CLOEXEC) return 2;
  if (read_five(stream) != 5) return 3;
  unsigned char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + 4096, 4096);
  usleep(20000);
  if (read_into(stream, pages + 4096 - 10, 2 * record_bytes) != -EFAULT) return 4;
  if (read_into(stream, pages, record_bytes - 1) != -ENOSPC) return 5;
  if (read_into(stream, pages, record_bytes) != record_bytes) return 6;
  struct pollfd wait = {.fd = stream, .events = POLLIN};
  if (poll(&wait, 1, 10000) != 1) return 7;
  if (control(stream, _IO('i', 7), 0) != -EINVAL) return 8;
  return 0;  // the end of the process closes the stream
}

static int status_of(pid_t child) {
  int status = 0;
  if (child <= 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The rights that Linux demands from programs that open streams: 1: some, 0: none.
static void set_paranoia(const char* level) {
  const int file = open("/proc/sys/dev/i915/perf_stream_paranoid", O_WRONLY | O_CLOEXEC);
  require(file >= 0 && write(file, level, 1) == 1, "the limit can be written");
  close(file);
}

// A child of fork uses the stream of its parent, and opens one through its parent's node.
static void children(void) {
  need_perf();
  set_paranoia("0");
  const int set = add_any(uuid);
  struct list list = usual(set);
  put_property(&list, DRM_I915_PERF_PROP_OA_EXPONENT, 12);
  const int stream = open_list(&list, I915_PERF_FLAG_FD_NONBLOCK);
  require(stream >= 0, "a stream opens");
  pid_t child = fork();
  if (child == 0) _exit(use_in_child(stream, &list));
  expect("child of a stream", status_of(child), 0);
  char any[record_bytes];
  expect("disabled by the child", read_into(stream, any, sizeof(any)), -EIO);
  expect("enable", control(stream, I915_PERF_IOCTL_ENABLE, 0), 0);
  expect("reports", read_five(stream), 5);
  close(stream);
  child = fork();
  if (child == 0) _exit(open_in_child(&list));
  expect("child with a stream", status_of(child), 0);
  set_paranoia("1");
  expect("free again", try_list(&list), 0);
  remove_set((uint64_t)set);
}

// Streams come and go while contexts work, and measured contexts are destroyed. No store is lost.
static void load(void) {
  need_perf();
  enum { count = 24 };
  const int set = add_any(uuid);
  const struct object target = create(4096);
  int opened = 0, stored = 0;
  for (unsigned round = 0; round < count; ++round) {
    const uint32_t measured = create_context(), other = create_context();
    stored += store(I915_EXEC_RENDER, measured, &target, 8 * round, round + 1) == 0;
    struct list list = usual(set);
    put_property(&list, DRM_I915_PERF_PROP_OA_EXPONENT, 8 + round % 6);
    if (round % 3 != 0) put_property(&list, DRM_I915_PERF_PROP_CTX_HANDLE, measured);
    const int stream = open_list(&list, I915_PERF_FLAG_FD_NONBLOCK | (round % 2 == 0 ? I915_PERF_FLAG_DISABLED : 0));
    opened += stream >= 0;
    stored += store(I915_EXEC_RENDER, round % 4 == 0 ? other : measured, &target, 8 * round + 4, round + 1) == 0;
    if (round % 2 == 0) control(stream, I915_PERF_IOCTL_ENABLE, 0);
    struct drm_i915_gem_context_destroy destroy = {.ctx_id = measured};
    if (round % 2 != 0) call(DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy);
    if (round % 5 == 0) control(stream, I915_PERF_IOCTL_DISABLE, 0);
    close(stream);
    destroy.ctx_id = round % 2 != 0 ? other : measured;
    call(DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy);
  }
  wait_for(&target);
  unsigned wrong = 0;
  for (unsigned i = 0; i < 2 * count; ++i) wrong += word_at(&target, 4 * i) != i / 2 + 1;
  expect("streams", opened, count);
  expect("stores", stored, 2 * count);
  expect_number("lost stores", wrong, 0);
  const struct list list = usual(set);
  expect("free again", try_list(&list), 0);
  remove_set((uint64_t)set);
}

const struct test perf_tests[] = {{"perf.rights", rights, 0},   {"perf.sets", sets, 0},
                                  {"perf.registers", registers, 0}, {"perf.queries", queries, 0},
                                  {"perf.opens", opens, 0},     {"perf.order", order, 0},
                                  {"perf.streams", streams, 0}, {"perf.reports", reports, 0},
                                  {"perf.switches", switches, 0}, {"perf.outlives", outlives, 0},
                                  {"perf.children", children, 0}, {"perf.load", load, 0}, {0}};
