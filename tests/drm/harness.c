// usage: drm_suite [--list] [--values] [--slow|--screen|--all] [--node PATH] [name or start of a name...]
#define _GNU_SOURCE
#include <inttypes.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "suite.h"

static const struct test* const topics[] = {
    core_tests,    parameter_tests, query_tests,    buffer_tests,  access_tests,     map_tests,
    tiling_tests,  domain_tests,    context_tests,  space_tests,   engine_map_tests, context_parameter_tests,
    execute_tests, store_tests,     pin_tests,      fence_tests,   relocation_tests, syncobj_tests,
    prime_tests,   timeline_tests,  busy_tests,     userptr_tests, sync_file_tests,  process_tests,
    signal_tests,  load_tests,      schedule_tests, hang_tests,    screen_tests, perf_tests,
    monitor_tests};
enum { topic_count = sizeof(topics) / sizeof(topics[0]) };

static const char* current = "";
static int shows_values;
static sigjmp_buf way_out;
enum outcome { goes_on = 0, skipped = 1, given_up = 2, crashed = 3 };
static char reason[512];
static unsigned case_failures;

const char* key(const char* format, ...) {
  static char texts[8][96];
  static unsigned next;
  char* text = texts[next++ % 8];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof(texts[0]), format, values);
  va_end(values);
  return text;
}

static const char* result_text(int64_t result) {
  if (result >= 0) return result == 0 ? "0" : key("%" PRId64, result);
  const char* name = result >= -4095 ? strerrorname_np((int)-result) : NULL;
  return name != NULL ? name : key("%" PRId64, result);
}

static void record(const char* name, const char* text) {
  if (shows_values) printf("%s %s=%s\n", current, name, text);
}

static void fail(const char* name, const char* wanted, const char* got) {
  if (!shows_values) printf("%s: FAILED: %s, expected %s, got %s\n", current, name, wanted, got);
  ++case_failures;
}

void observe_text(const char* name, const char* text) {
  record(name, text);
}

void observe(const char* name, int64_t result) {
  record(name, result_text(result));
}

void observe_number(const char* name, uint64_t value) {
  record(name, key(value < 10 ? "%" PRIu64 : "0x%" PRIx64, value));
}

void expect(const char* name, int64_t result, int64_t wanted) {
  observe(name, result);
  if (result != wanted) fail(name, result_text(wanted), result_text(result));
}

void expect_number(const char* name, uint64_t value, uint64_t wanted) {
  observe_number(name, value);
  if (value != wanted) fail(name, key("0x%" PRIx64, wanted), key("0x%" PRIx64, value));
}

void expect_true(const char* name, int holds) {
  record(name, holds ? "yes" : "no");
  if (!holds) fail(name, "yes", "no");
}

void require(int holds, const char* what) {
  if (holds) return;
  snprintf(reason, sizeof(reason), "%s (%s)", what, result_text(-errno));
  siglongjmp(way_out, given_up);
}

void skip(const char* why) {
  snprintf(reason, sizeof(reason), "%s", why);
  siglongjmp(way_out, skipped);
}

static void on_crash(int number) {
  snprintf(reason, sizeof(reason), "signal %d", number);
  siglongjmp(way_out, crashed);
}

static void on_alarm(int number) {
  (void)number;
  static const char text[] = "FAILED: a case takes too long\n";
  if (write(STDOUT_FILENO, current, strlen(current)) < 0 || write(STDOUT_FILENO, ": ", 2) < 0 ||
      write(STDOUT_FILENO, text, sizeof(text) - 1) < 0) {
    _exit(2);
  }
  _exit(1);
}

int set_rights(int all) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {{0}};
  if (syscall(SYS_capget, &header, data) != 0) return 0;
  for (int i = 0; i < 2; ++i) data[i].effective = all ? data[i].permitted : 0;
  return syscall(SYS_capset, &header, data) == 0 && data[0].permitted != 0;
}

static enum outcome run(const struct test* test) {
  current = test->name;
  case_failures = 0;
  device = -1;
  alarm(test->kind == 1 ? 200 : 90);
  const int left = sigsetjmp(way_out, 1);
  if (left == 0) {
    device = open_device();
    require(device >= 0, "the node cannot be opened");
    test->run();
  }
  set_rights(0);
  if (device >= 0) close(device);
  alarm(0);
  if (left == skipped) {
    printf(shows_values ? "%s skipped=%s\n" : "%s: skipped: %s\n", current, reason);
    return skipped;
  }
  if (left != 0) {
    ++case_failures;
    printf(shows_values ? "%s stopped=%s\n" : "%s: FAILED: stopped, %s\n", current, reason);
  }
  if (case_failures != 0) return given_up;
  if (!shows_values) printf("%s: ok\n", current);
  return goes_on;
}

static int is_named(const char* name, int count, char** names) {
  for (int i = 0; i < count; ++i) {
    if (strncmp(name, names[i], strlen(names[i])) == 0) return 1;
  }
  return count == 0;
}

int main(int count, char** words) {
  int lists = 0, slow = 0, all = 0, first = 1;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (; first < count && strncmp(words[first], "--", 2) == 0; ++first) {
    if (strcmp(words[first], "--list") == 0) {
      lists = 1;
    } else if (strcmp(words[first], "--values") == 0) {
      shows_values = 1;
    } else if (strcmp(words[first], "--slow") == 0) {
      slow = 1;
    } else if (strcmp(words[first], "--screen") == 0) {
      slow = 2;
      node = "/dev/dri/card0";
    } else if (strcmp(words[first], "--all") == 0) {
      all = 1;
    } else if (strcmp(words[first], "--node") == 0 && first + 1 < count) {
      node = words[++first];
    } else {
      fprintf(stderr, "usage: drm_suite [--list] [--values] [--slow|--screen|--all] [--node PATH] [name...]\n");
      return 2;
    }
  }
  set_rights(0);
  const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  for (unsigned i = 0; i < 4; ++i) sigaction(crashes[i], &(struct sigaction){.sa_handler = on_crash}, NULL);
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
  unsigned counts[3] = {0};
  for (unsigned topic = 0; topic < topic_count; ++topic) {
    for (const struct test* test = topics[topic]; test->name != NULL; ++test) {
      if (!is_named(test->name, count - first, words + first) || (!all && test->kind != slow)) continue;
      if (lists) {
        printf("%s%s\n", test->name, test->kind == 1 ? " (slow)" : test->kind == 2 ? " (screen)" : "");
      } else {
        ++counts[run(test)];
      }
    }
  }
  if (lists) return 0;
  if (!shows_values) printf("%u ok, %u skipped, %u failed\n", counts[0], counts[1], counts[2]);
  return counts[2] != 0;
}
