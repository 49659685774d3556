// Runs in the guest: the work of a small driver through the i915 interface. Stores by every engine, fills and copies,
// alternating contexts, waits that only interrupts end, reading every file that Linux has for the device, and an
// endless batch that i915 must end with a reset, after which all engines still work. Prints one line per step, and the
// number of steps at the end. Status 0: all steps passed. `gem_test no-hang` skips the waits, files and endless
// batches.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blits.h"
#include "gem.h"
#include "system.h"

static int steps = 0, failures = 0;

static void expect(int holds, const char* what) {
  printf("%s: %s\n", holds ? "ok" : "FAILED", what);
  ++steps;
  failures += !holds;
}

static const struct {
  const char* name;
  uint64_t flag;
  int parameter;
} engines[] = {{"render", I915_EXEC_RENDER, 0},
               {"blit", I915_EXEC_BLT, I915_PARAM_HAS_BLT},
               {"video", I915_EXEC_BSD | I915_EXEC_BSD_RING1, I915_PARAM_HAS_BSD},
               {"second video", I915_EXEC_BSD | I915_EXEC_BSD_RING2, I915_PARAM_HAS_BSD2},
               {"video enhancement", I915_EXEC_VEBOX, I915_PARAM_HAS_VEBOX}};
enum { engine_count = sizeof(engines) / sizeof(engines[0]) };

static int has_engine(unsigned number) {
  return engines[number].parameter == 0 || parameter(engines[number].parameter) > 0;
}

static void test_stores(const char* when) {
  const struct object target = create(4096, in_local), commands = create(4096, in_local);
  for (unsigned i = 0; i < engine_count; ++i) {
    if (!has_engine(i)) continue;
    struct batch batch;
    uint32_t value = 0;
    const uint32_t wanted = 0xc0de0001 + i;
    start_batch(&batch, &commands);
    add_store(&batch, &target, 8 * i, wanted);
    const int done = submit(&batch, engines[i].flag, 0) == 0 && wait_for(&commands) == 0;
    get(&target, 8 * i, &value, sizeof(value));
    char text[96];
    snprintf(text, sizeof(text), "%s stores %08x%s: %08x", engines[i].name, wanted, when, value);
    expect(done && value == wanted, text);
  }
}

// Returns 0 if the chip's driver has no contexts.
static uint32_t create_context(void) {
  struct drm_i915_gem_context_create context = {0};
  return call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &context) == 0 ? context.ctx_id : 0;
}

// Submits batches of two contexts alternately without waiting; each adds to the content of the target.
static void test_contexts(void) {
  enum { rounds = 8 };
  const uint32_t contexts[2] = {0, create_context()};
  expect(contexts[1] != 0, "a second context is made");
  if (contexts[1] == 0) return;
  const struct object target = create(4096, in_system);
  for (unsigned engine = 0; engine < engine_count; ++engine) {
    if (!has_engine(engine)) continue;
    uint32_t values[2 * rounds] = {0};
    put(&target, 0, values, sizeof(values));
    int done = 1;
    struct batch batch;
    for (unsigned i = 0; i < 2 * rounds; ++i) {
      const struct object commands = create(4096, in_system);
      start_batch(&batch, &commands);
      add_store(&batch, &target, 4 * i, 0xabc00000 + i);
      done = done && submit(&batch, engines[engine].flag, contexts[i % 2]) == 0;
    }
    done = done && wait_for(&target) == 0;
    get(&target, 0, values, sizeof(values));
    for (unsigned i = 0; i < 2 * rounds; ++i) done = done && values[i] == 0xabc00000 + i;
    char text[96];
    snprintf(text, sizeof(text), "two contexts in turn on %s", engines[engine].name);
    expect(done, text);
  }
}

static void set_text(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, text, strlen(text)) < 0) printf("note: %s stays as it is\n", path);
  close(file);
}

// Shortens the interval at which i915 checks for hangs, which is a few seconds by default.
static void hurry_hang_checks(void) {
  const char* const folder = "/sys/class/drm/card0/engine";
  DIR* list = opendir(folder);
  expect(list != NULL, "i915 shows its engines");
  if (list == NULL) return;
  for (const struct dirent* entry = readdir(list); entry != NULL; entry = readdir(list)) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s/heartbeat_interval_ms", folder, entry->d_name);
    set_text(path, "100");
    snprintf(path, sizeof(path), "%s/%s/preempt_timeout_ms", folder, entry->d_name);
    set_text(path, "50");
  }
  closedir(list);
}

static int error_state_names_a_hang(void) {
  static const char* const path = "/sys/class/drm/card0/error";
  char text[16] = "";
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = read(file, text, sizeof(text) - 1);
  close(file);
  set_text(path, "1");  // clears the error state, so that i915 keeps the next one
  return got > 0 && strncmp(text, "GPU HANG", 8) == 0;
}

static void test_hang(unsigned engine, int is_kept) {
  const uint32_t context = create_context();
  const struct object target = create(4096, in_system), commands = create(4096, in_system);
  struct drm_i915_reset_stats before = {.ctx_id = context}, after = {.ctx_id = context};
  struct batch batch;
  char text[128];
  call(DRM_IOCTL_I915_GET_RESET_STATS, &before);
  start_batch(&batch, &commands);
  add_store(&batch, &target, 0, 0xdeadbea7);
  add_loop(&batch);
  const int submitted = submit(&batch, engines[engine].flag, context) == 0;
  const int ended = wait_for(&commands) == 0;
  const int told = call(DRM_IOCTL_I915_GET_RESET_STATS, &after) == 0;
  uint32_t value = 0;
  get(&target, 0, &value, sizeof(value));
  snprintf(text, sizeof(text), "an endless batch on %s ran (%08x) and was ended", engines[engine].name, value);
  expect(submitted && ended && value == 0xdeadbea7, text);
  snprintf(text, sizeof(text), "the context's reset statistics say so: %u guilty batches, %u before", after.batch_active,
           before.batch_active);
  expect(told && after.batch_active == before.batch_active + 1, text);
  if (is_kept) expect(error_state_names_a_hang(), "i915 kept the error state of a hang");
}

static void test_interrupts(void) {
  const unsigned long before = interrupt_count();
  const int ended = run_long_fills() == 0;
  const unsigned long after = interrupt_count();
  char text[96];
  snprintf(text, sizeof(text), "long work ends; interrupts so far: %lu, %lu before it", after, before);
  expect(ended && after > 0, text);  // a driver that finds its work done at once needs no interrupt
}

// A batch loops until the CPU ends it. A poll of its fence before that can only end by an interrupt, so each such batch
// causes at least one. The batch is ended after its store is visible.
static int run_until_told(unsigned engine, const struct object* target, uint32_t value) {
  enum { most_looks = 6000, pause_us = 10000 };
  const struct object commands = create(4096, in_system);
  volatile uint32_t* memory = map_memory(&commands);
  const volatile uint32_t* seen = map_memory(target);
  if (memory == NULL || seen == NULL) return 0;
  memory[0] = seen[0] & 0;  // touch the pages early
  struct batch batch;
  start_batch(&batch, &commands);
  add(&batch, 0);
  add(&batch, 0);
  add_store(&batch, target, 0, value);
  add_loop(&batch);
  struct pollfd fence = {.fd = submit_with_fence(&batch, engines[engine].flag), .events = POLLIN};
  const int runs = fence.fd >= 0 && poll(&fence, 1, 0) == 0;
  for (unsigned looks = 0; runs && seen[0] != value && looks < most_looks; ++looks) usleep(pause_us);
  const int stored = seen[0] == value;
  memory[0] = 0x05000000;  // MI_BATCH_BUFFER_END
  __sync_synchronize();
  const int ended = runs && poll(&fence, 1, 60000) == 1;
  if (fence.fd >= 0) close(fence.fd);
  munmap((void*)(uintptr_t)memory, commands.bytes);
  munmap((void*)(uintptr_t)seen, target->bytes);
  return ended && stored;
}

static void test_awaited_interrupts(void) {
  enum { requests = 4 };
  const struct object target = create(4096, in_system);
  for (unsigned engine = 0; engine < engine_count; ++engine) {
    if (!has_engine(engine)) continue;
    const unsigned long before = interrupt_count();
    unsigned ended = 0;
    for (unsigned i = 0; i < requests; ++i) ended += run_until_told(engine, &target, 0x1a7e0000 + 16 * engine + i) != 0;
    const unsigned long taken = interrupt_count() - before;
    char text[128];
    snprintf(text, sizeof(text), "%u waits for %s end by interrupts: %lu taken", ended, engines[engine].name, taken);
    expect(ended == requests && taken >= requests, text);
  }
}

// Prints the time from the start of the driver to its render node, as measured by the guest's init.
static void tell_bind_time(void) {
  unsigned hundredths = 0;
  FILE* file = fopen("/halogen/bind-time", "r");
  if (file == NULL) return;
  if (fscanf(file, "%u", &hundredths) == 1) printf("bind: %u.%02u s\n", hundredths / 100, hundredths % 100);
  fclose(file);
}

static void list_engines(void) {
  char names[256];
  expect(engine_names(names, sizeof(names)) > 0, "i915 lists engines");
  printf("engines: %s\n", names);
}

// Reads every file of a folder. Reading must not break anything, as the stores that follow show.
static void test_files(const char* name, const char* folder, unsigned least) {
  const struct files_read sum = read_files(folder);
  char text[128];
  snprintf(text, sizeof(text), "files of %s: %u read, %u refused, %lu bytes", name, sum.opened, sum.refused, sum.bytes);
  expect(sum.opened >= least && sum.bytes > 0, text);
}

static int finish(void) {
  printf("done: %d checks, %d failed\n", steps, failures);
  return failures != 0;
}

int main(int count, char** words) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  const int opened = open_chip() == 0;
  expect(opened, "the device opens and is known");
  if (!opened) return finish();
  printf("chip %04x\n", (unsigned)chip.id);
  expect(access("/dev/dri/renderD128", F_OK) == 0, "there is a render node");
  tell_bind_time();
  list_engines();
  test_stores("");
  test_blits(expect, 1);
  test_contexts();
  test_interrupts();
  if (count > 1 && strcmp(words[1], "no-hang") == 0) return finish();
  test_awaited_interrupts();
  test_files("debugfs", "/sys/kernel/debug/dri/0", 20);
  test_files("sysfs", "/sys/class/drm/card0/", 20);
  test_stores(" after reading files");
  hurry_hang_checks();
  test_hang(0, 1);
  test_stores(" after a hang");
  if (has_engine(1)) {
    set_text("/sys/kernel/debug/dri/0/i915_params/error_capture", "N");  // capturing an error state takes long
    test_hang(1, 0);
    test_stores(" after another");
    test_blits(expect, 0);
  }
  return finish();
}
