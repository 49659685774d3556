// The view of monitors: events of the PMU with their errors and groups, and the text about an open node (fdinfo). Times
// that are measured are only compared with each other.
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

static const char devices[] = "/sys/bus/event_source/devices";
static char pmu[300];

// Reads the first line of a file below the folder of the PMU. "": the file does not exist.
static const char* line_of(const char* name) {
  static char lines[8][128];
  static unsigned next;
  char path[600];
  char* const line = lines[next++ % 8];
  snprintf(path, sizeof(path), "%s/%s", pmu, name);
  line[0] = '\0';
  FILE* file = fopen(path, "r");
  if (file == NULL) return line;
  if (fgets(line, sizeof(lines[0]), file) != NULL) line[strcspn(line, "\n")] = '\0';
  fclose(file);
  return line;
}

static void find_pmu(void) {
  DIR* folder = opendir(devices);
  require(folder != NULL, "the folder of PMUs");
  pmu[0] = '\0';
  for (const struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    if (strncmp(entry->d_name, "i915", 4) == 0) snprintf(pmu, sizeof(pmu), "%s/%s", devices, entry->d_name);
  }
  closedir(folder);
  require(pmu[0] != '\0', "the folder of i915");
}

static int open_attributes(const struct perf_event_attr* attributes, pid_t process, int cpu, int leader,
                           unsigned long flags) {
  const long result = syscall(SYS_perf_event_open, attributes, process, cpu, leader, flags);
  return result < 0 ? -errno : (int)result;
}

static struct perf_event_attr event(uint64_t config) {
  return (struct perf_event_attr){.type = (uint32_t)atoi(line_of("type")), .size = sizeof(struct perf_event_attr),
                                  .config = config};
}

static int open_event(uint64_t config, uint64_t format, int leader) {
  struct perf_event_attr attributes = event(config);
  attributes.read_format = format;
  return open_attributes(&attributes, -1, 0, leader, 0);
}

// Opens and closes an event. Returns 0 or the error.
static int try_attributes(const struct perf_event_attr* attributes, pid_t process, int cpu, int leader,
                          unsigned long flags) {
  const int opened = open_attributes(attributes, process, cpu, leader, flags);
  if (opened >= 0) close(opened);
  return opened < 0 ? opened : 0;
}

static int try_config(uint64_t config) {
  const struct perf_event_attr attributes = event(config);
  return try_attributes(&attributes, -1, 0, -1, 0);
}

static int read_words(int descriptor, uint64_t* words, size_t bytes) {
  const ssize_t got = read(descriptor, words, bytes);
  return got < 0 ? -errno : (int)got;
}

static int control(int descriptor, unsigned long request, uintptr_t argument) {
  const int result = ioctl(descriptor, request, argument);
  return result < 0 ? -errno : result;
}

static void files(void) {
  find_pmu();
  static const char* const names[] = {
      "actual-frequency", "requested-frequency", "interrupts", "rc6-residency", "software-gt-awake-time",
      "rcs0-busy",        "rcs0-sema",           "rcs0-wait",  "bcs0-busy",     "bcs0-sema",
      "bcs0-wait",        "vcs0-busy",           "vcs1-busy",  "vecs0-busy",    "vecs0-wait",
      "ccs0-busy",        "other"};
  for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    observe_text(names[i], line_of(key("events/%s", names[i])));
    observe_text(key("unit of %s", names[i]), line_of(key("events/%s.unit", names[i])));
  }
  observe_text("format", line_of("format/i915_eventid"));
  observe_text("cpumask", line_of("cpumask"));
  observe_text("interval", line_of("perf_event_mux_interval_ms"));
}

static void configs(void) {
  find_pmu();
  set_rights(1);
  for (unsigned class = 0; class < 7; ++class) {
    for (unsigned instance = 0; instance < 3; ++instance) {
      for (unsigned sample = 0; sample < 4; ++sample) {
        observe(key("class %u instance %u sample %u", class, instance, sample),
                try_config(class << 12 | instance << 4 | sample));
      }
    }
  }
  for (unsigned other = 0; other < 7; ++other) observe(key("other %u", other), try_config(0x100000 + other));
  observe("class 255", try_config(0xff000));
  observe("instance 255", try_config(0xff0));
  observe("large", try_config(1ull << 40));
}

static void rights(void) {
  find_pmu();
  struct perf_event_attr attributes = event(0);
  expect("all", try_attributes(&attributes, -1, 0, -1, 0), -EACCES);
  attributes.exclude_kernel = 1;
  expect("without the kernel", try_attributes(&attributes, -1, 0, -1, 0), -EACCES);
  set_rights(1);
  expect("with rights", try_attributes(&attributes, -1, 0, -1, 0), 0);
}

static void opens(void) {
  find_pmu();
  set_rights(1);
  const struct perf_event_attr usual = event(0);
  struct perf_event_attr changed = usual;
  observe("other processor", try_attributes(&usual, -1, 4095, -1, 0));
  observe("no processor", try_attributes(&usual, -1, -1, -1, 0));
  observe("own process", try_attributes(&usual, 0, -1, -1, 0));
  observe("own process on a processor", try_attributes(&usual, 0, 0, -1, 0));
  observe("no process", try_attributes(&usual, 0x3ffffffe, 0, -1, 0));
  observe("flags", try_attributes(&usual, -1, 0, -1, 16));
  observe("close on exec", try_attributes(&usual, -1, 0, -1, PERF_FLAG_FD_CLOEXEC));
  observe("group of control", try_attributes(&usual, -1, 0, -1, PERF_FLAG_PID_CGROUP));
  observe("leader -2", try_attributes(&usual, -1, 0, -2, 0));
  observe("leader is a node", try_attributes(&usual, -1, 0, device, 0));
  observe("null", try_attributes(NULL, -1, 0, -1, 0));
  changed.sample_period = 1000;
  observe("period", try_attributes(&changed, -1, 0, -1, 0));
  changed = usual;
  changed.read_format = 1ull << 20;
  observe("format", try_attributes(&changed, -1, 0, -1, 0));
  changed = usual;
  changed.sample_type = 1ull << 60;
  observe("sample type", try_attributes(&changed, -1, 0, -1, 0));
  changed = usual;
  changed.use_clockid = 1;
  changed.clockid = CLOCK_MONOTONIC;
  observe("clock", try_attributes(&changed, -1, 0, -1, 0));
  changed.clockid = 77;
  observe("unknown clock", try_attributes(&changed, -1, 0, -1, 0));
  changed = usual;
  changed.size = 0;
  observe("size 0", try_attributes(&changed, -1, 0, -1, 0));
  changed.size = 8;
  observe("size 8", try_attributes(&changed, -1, 0, -1, 0));
  observe("size is told", changed.size > 8);
  struct {
    struct perf_event_attr known;
    uint64_t more[8];
  } longer = {.known = usual};
  longer.known.size = sizeof(longer);
  observe("longer", try_attributes(&longer.known, -1, 0, -1, 0));
  longer.more[7] = 1;
  observe("longer and more", try_attributes(&longer.known, -1, 0, -1, 0));
  changed = usual;
  changed.__reserved_2 = 1;
  observe("reserved", try_attributes(&changed, -1, 0, -1, 0));
}

enum { with_times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING };

static void reads(void) {
  find_pmu();
  set_rights(1);
  uint64_t words[8] = {0};
  const int plain = open_event(0x100002, 0, -1);
  require(plain >= 0, "an event opens");
  expect("plain", read_words(plain, words, sizeof(words)), 8);
  expect("nothing", read_words(plain, words, 0), -ENOSPC);
  expect("seven", read_words(plain, words, 7), -ENOSPC);
  expect("wild", read_words(plain, (uint64_t*)8, 64), -EFAULT);
  expect("write", write(plain, words, 8) < 0 ? -errno : 0, -EINVAL);
  observe("seek", lseek(plain, 0, SEEK_SET) < 0 ? -errno : 0);
  const int full = open_event(0x100002, with_times | PERF_FORMAT_ID | PERF_FORMAT_LOST, -1);
  expect("full", read_words(full, words, sizeof(words)), 40);
  expect("full short", read_words(full, words, 39), -ENOSPC);
  expect_true("times", words[1] != 0 && words[1] == words[2]);
  const uint64_t id = words[3];
  uint64_t asked = 0;
  expect("id", control(full, PERF_EVENT_IOC_ID, (uintptr_t)&asked), 0);
  expect_true("same id", asked == id);
  expect("id nowhere", control(full, PERF_EVENT_IOC_ID, 8), -EFAULT);
  observe("refresh", control(full, PERF_EVENT_IOC_REFRESH, 1));
  observe("period", control(full, PERF_EVENT_IOC_PERIOD, (uintptr_t)&asked));
  observe("period nowhere", control(full, PERF_EVENT_IOC_PERIOD, 8));
  observe("output", control(full, PERF_EVENT_IOC_SET_OUTPUT, (uintptr_t)-1));
  observe("output of another", control(full, PERF_EVENT_IOC_SET_OUTPUT, (uintptr_t)plain));
  observe("pause", control(full, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
  observe("unknown", control(full, _IO('$', 77), 0));
  observe("other type", control(full, _IO('x', 0), 0));
  const int copy = dup(full);
  close(full);
  expect("copy", read_words(copy, words, sizeof(words)), 40);
  expect_true("copy's id", words[3] == id);
  close(copy);
  close(plain);
}

// An event that is off keeps its value and its time.
static void switching(void) {
  find_pmu();
  set_rights(1);
  struct perf_event_attr attributes = event(0x100004);
  attributes.disabled = 1;
  attributes.read_format = with_times;
  const int descriptor = open_attributes(&attributes, -1, 0, -1, 0);
  require(descriptor >= 0, "an event opens");
  uint64_t words[3] = {9, 9, 9}, again[3] = {9, 9, 9};
  read_words(descriptor, words, sizeof(words));
  expect_number("value off", words[0], 0);
  expect_number("time off", words[1], 0);
  expect("enable", control(descriptor, PERF_EVENT_IOC_ENABLE, 0), 0);
  expect("enable again", control(descriptor, PERF_EVENT_IOC_ENABLE, 0), 0);
  usleep(2000);
  expect("disable", control(descriptor, PERF_EVENT_IOC_DISABLE, 0), 0);
  read_words(descriptor, words, sizeof(words));
  expect_true("time on", words[1] >= 1000000);
  usleep(2000);
  read_words(descriptor, again, sizeof(again));
  expect_true("stays", memcmp(words, again, sizeof(words)) == 0);
  expect("reset", control(descriptor, PERF_EVENT_IOC_RESET, 0), 0);
  read_words(descriptor, again, sizeof(again));
  expect_number("value after reset", again[0], 0);
  expect_true("time after reset", again[1] == words[1]);
  close(descriptor);
}

static void groups(void) {
  find_pmu();
  set_rights(1);
  const uint64_t format = PERF_FORMAT_GROUP | with_times | PERF_FORMAT_ID;
  uint64_t words[16] = {0};
  const int leader = open_event(0, format, -1);
  const int second = open_event(1, format, leader);
  const int third = open_event(0x100002, format, leader);
  require(leader >= 0 && second >= 0 && third >= 0, "a group opens");
  expect("three", read_words(leader, words, sizeof(words)), 8 * (3 + 2 * 3));
  expect_number("count", words[0], 3);
  expect_true("ids differ", words[4] != words[6] && words[6] != words[8] && words[4] != words[8]);
  expect("short", read_words(leader, words, 8 * 9 - 1), -ENOSPC);
  observe("of a member", read_words(second, words, sizeof(words)));
  observe("member of a member", open_event(0, format, second) < 0 ? -errno : 0);
  close(second);
  expect("two", read_words(leader, words, sizeof(words)), 8 * (3 + 2 * 2));
  expect_number("count of two", words[0], 2);
  expect("disable all", control(third, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
  read_words(leader, words, sizeof(words));
  const uint64_t time = words[1];
  usleep(1000);
  read_words(leader, words, sizeof(words));
  expect_true("all are off", words[1] == time);
  close(leader);
  observe("without its leader", read_words(third, words, sizeof(words)));
  observe_number("count alone", words[0]);
  close(third);
  struct perf_event_attr pinned = event(0);
  pinned.pinned = 1;
  const int other = open_event(0, 0, -1);
  observe("pinned member", try_attributes(&pinned, -1, 0, other, 0));
  pinned.pinned = 0;
  pinned.disabled = 1;
  observe("no group", try_attributes(&pinned, -1, 0, other, PERF_FLAG_FD_NO_GROUP));
  struct perf_event_attr host = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(host), .config = PERF_COUNT_SW_CPU_CLOCK};
  observe("software event in the group", try_attributes(&host, -1, 0, other, 0));
  close(other);
  const int software = open_attributes(&host, -1, 0, -1, 0);
  if (software >= 0) {
    observe("event in a group of software", try_attributes(&pinned, -1, 0, software, 0));
    close(software);
  }
}

// Returns memory that a child of fork shares.
static uint64_t* shared_words(void) {
  void* const words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(words != MAP_FAILED, "shared memory");
  return words;
}

static void passed(void) {
  find_pmu();
  set_rights(1);
  const int descriptor = open_event(0x100002, with_times, -1);
  require(descriptor >= 0, "an event opens");
  uint64_t* const shared = shared_words();
  const pid_t child = fork();
  if (child == 0) {
    shared[0] = (uint64_t)read_words(descriptor, shared + 1, 24);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  expect("read by a child", (int)shared[0], 24);
  expect_true("time of the child's read", shared[2] != 0);
  close(descriptor);
}

static void many(void) {
  find_pmu();
  set_rights(1);
  struct rlimit before, less;
  getrlimit(RLIMIT_NOFILE, &before);
  less = before;
  less.rlim_cur = 256;
  setrlimit(RLIMIT_NOFILE, &less);
  int opened[256], count = 0, result = 0;
  while (count < 256 && (result = open_event(0, 0, -1)) >= 0) opened[count++] = result;
  for (int i = 0; i < count; ++i) close(opened[i]);
  setrlimit(RLIMIT_NOFILE, &before);
  expect("one too many", result, -EMFILE);
  expect_true("as many as fit", count > 200);
  result = open_event(0, 0, -1);
  expect_true("again", result >= 0);
  close(result);
}

// A busy engine is busy for some of the time, an idle one never. On earlier chips Linux takes samples of 5 ms.
static void engine_times(void) {
  enum { sample = 10000000 };
  find_pmu();
  set_rights(1);
  const struct object target = create(4096);
  for (unsigned i = 0; i < engine_kinds; ++i) {
    if (!has_engine(i) || !can_store(i)) continue;
    const uint64_t config = (uint64_t)engines[i].class << 12 | (uint64_t)engines[i].instance << 4;
    const int descriptor = open_event(config, with_times, -1);
    require(descriptor >= 0, "an event opens");
    uint64_t before[3], after[3], later[3];
    wait_for(&target);
    usleep(20000);
    read_words(descriptor, before, sizeof(before));
    usleep(20000);
    read_words(descriptor, after, sizeof(after));
    expect_true(key("%s idle", engines[i].name), after[0] == before[0]);
    expect_true(key("%s time", engines[i].name), after[1] - before[1] >= 10000000);
    struct spinner spinner;
    const uint64_t first = engines[i].class == I915_ENGINE_CLASS_VIDEO ? I915_EXEC_BSD_RING1 : 0;
    start_spinner(&spinner, engines[i].flag | first, 0, &target);
    for (unsigned round = 0; round < 100; ++round) {
      usleep(20000);
      read_words(descriptor, later, sizeof(later));
      if (later[0] > after[0]) break;
    }
    end_spinner(&spinner);
    wait_for(&spinner.batch.object);
    expect_true(key("%s busy", engines[i].name), later[0] > after[0]);
    expect_true(key("%s not busier than time", engines[i].name), later[0] - after[0] <= later[1] - after[1] + sample);
    close(descriptor);
  }
}

static void* end_later(void* spinner) {
  usleep(20000);
  end_spinner(spinner);
  return NULL;
}

// An interrupt ends the wait for a batch.
static void interrupts(void) {
  find_pmu();
  set_rights(1);
  const int descriptor = open_event(0x100002, 0, -1);
  require(descriptor >= 0, "an event opens");
  uint64_t before = 0, after = 0;
  const struct object target = create(4096);
  read_words(descriptor, &before, 8);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, can_store(0) ? &target : NULL);
  pthread_t ender;
  require(pthread_create(&ender, NULL, end_later, &spinner) == 0, "a thread starts");
  wait_for(&spinner.batch.object);
  pthread_join(ender, NULL);
  read_words(descriptor, &after, 8);
  expect_true("grow", after > before);
  close(descriptor);
}

// ---- fdinfo

// Reads the value of a key of the text about a descriptor. NULL: it has none.
static const char* info_of(const char* process, int descriptor, const char* name) {
  static char values[8][64];
  static unsigned next;
  char path[64], line[256];
  snprintf(path, sizeof(path), "/proc/%s/fdinfo/%d", process, descriptor);
  FILE* file = fopen(path, "r");
  const char* found = NULL;
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    char* const colon = strchr(line, ':');
    if (colon == NULL) continue;
    *colon = '\0';
    if (strcmp(line, name) != 0) continue;
    const char* value = colon + 1;
    while (isspace((unsigned char)*value)) ++value;
    char* const copy = values[next++ % 8];
    snprintf(copy, sizeof(values[0]), "%s", value);
    copy[strcspn(copy, "\n")] = '\0';
    found = copy;
  }
  if (file != NULL) fclose(file);
  return found;
}

static void info_keys(void) {
  char path[64], line[256];
  snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", device);
  FILE* file = fopen(path, "r");
  require(file != NULL, "fdinfo");
  for (unsigned i = 0; fgets(line, sizeof(line), file) != NULL; ++i) {
    line[strcspn(line, ":\n")] = '\0';
    observe_text(key("line %02u", i), line);
  }
  fclose(file);
  const char* const driver = info_of("self", device, "drm-driver");
  expect_true("driver", driver != NULL && strcmp(driver, "i915") == 0);
  const char* const capacity = info_of("self", device, "drm-engine-capacity-video");
  observe_text("capacity of video", capacity != NULL ? capacity : "none");
  const char* const render = info_of("self", device, "drm-engine-render");
  expect_true("unit", render == NULL || strstr(render, " ns") != NULL);
}

static void info_clients(void) {
  set_rights(1);  // with less than a process has, its files cannot be seen
  const char* first = info_of("self", device, "drm-client-id");
  require(first != NULL, "a client has a number");
  const int other = open_device(), copy = dup(device);
  const char* const second = info_of("self", other, "drm-client-id");
  const char* const same = info_of("self", copy, "drm-client-id");
  expect_true("other file", second != NULL && strcmp(first, second) != 0);
  expect_true("copy", same != NULL && strcmp(first, same) == 0);
  close(other);
  close(copy);
  const char* own = key("%d", (int)getpid());
  const char* const by_number = info_of(own, device, "drm-client-id");
  expect_true("by process", by_number != NULL && strcmp(first, by_number) == 0);
  uint64_t* const shared = shared_words();
  const pid_t child = fork();
  if (child == 0) {
    const char* const seen = info_of("self", device, "drm-client-id");
    const char* const of_parent = info_of(own, device, "drm-client-id");
    shared[0] = seen != NULL && strcmp(first, seen) == 0;
    shared[1] = of_parent != NULL && strcmp(first, of_parent) == 0;
    _exit(0);
  }
  waitpid(child, NULL, 0);
  expect_true("in a child", shared[0] == 1);
  expect_true("of the parent, in a child", shared[1] == 1);
  expect_true("another descriptor", info_of("self", 0, "drm-driver") == NULL);
}

// The time of a client grows with its work, and only with its own.
static void info_times(void) {
  if (info_of("self", device, "drm-engine-render") == NULL) skip("clients have no times");
  const int other = open_device();
  const struct object target = create(4096);
  const uint64_t before = strtoull(info_of("self", device, "drm-engine-render"), NULL, 10);
  const uint64_t copy_before = strtoull(info_of("self", device, "drm-engine-copy"), NULL, 10);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, &target);
  uint64_t running = before;
  for (unsigned round = 0; round < 100 && running == before; ++round) {
    usleep(20000);
    running = strtoull(info_of("self", device, "drm-engine-render"), NULL, 10);
  }
  end_spinner(&spinner);
  wait_for(&spinner.batch.object);
  expect_true("grows while it works", running > before);
  expect_true("other engine", strtoull(info_of("self", device, "drm-engine-copy"), NULL, 10) == copy_before);
  expect_number("other client", strtoull(info_of("self", other, "drm-engine-render"), NULL, 10), 0);
  close(other);
}

const struct test monitor_tests[] = {{"monitors.files", files, 0},
                                     {"monitors.configs", configs, 0},
                                     {"monitors.rights", rights, 0},
                                     {"monitors.opens", opens, 0},
                                     {"monitors.reads", reads, 0},
                                     {"monitors.switching", switching, 0},
                                     {"monitors.groups", groups, 0},
                                     {"monitors.passed", passed, 0},
                                     {"monitors.many", many, 0},
                                     {"monitors.engine-times", engine_times, 0},
                                     {"monitors.interrupts", interrupts, 0},
                                     {"monitors.info-keys", info_keys, 0},
                                     {"monitors.info-clients", info_clients, 0},
                                     {"monitors.info-times", info_times, 0},
                                     {0}};
