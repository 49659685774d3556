// Runs in the guest: performance counters of Linux's i915. Adds the custom events of Mesa's metric set TestOa, opens a stream
// with a timer, reads its reports, and closes it. The events have no signals as inputs: their ratios to the clock follow
// from their definition. Gen8 and later. Prints one line per check, and the number of checks at the end. Status 0: all checks
// passed.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gem.h"

static int steps = 0, failures = 0;

static void expect(int holds, const char* what) {
  printf("perf %s: %s\n", holds ? "ok" : "FAILED", what);
  ++steps;
  failures += !holds;
}

enum {
  wanted = 100,   // timer reports
  exponent = 13,  // of two: 2^14 ticks between two reports, about one millisecond
  period = 2 << exponent,
  counters_at = 48,  // dword of the first B counter
  events = 8,
  report_dwords = 64,
  timer = 1 << 19,  // reasons for a report, in its first dword
  context_switch = 1 << 22,
};

// The first and the second register of each event, and the start trigger's selection of events instead of signals.
static const uint32_t event_values[events] = {0x4, 0x3, 0x7, 0x00100002, 0x00100002, 0x00100082, 0x001000c2, 0x00100001};
static const uint32_t event_masks[events] = {0, 0, 0, 0xfff7, 0xffcf, 0xffef, 0xffe7, 0xffe7};
enum { selects_events = 0xf0800000 };

static uint32_t pairs[64][2];
static uint32_t pair_count;

static void put_register(uint32_t offset, uint32_t value) {
  pairs[pair_count][0] = offset;
  pairs[pair_count++][1] = value;
}

// Returns the number of the set, or -1.
static int add_set(void) {
  const int split = chip.generation >= 12;
  const uint32_t start = split ? 0xd900 : 0x2710, first_event = split ? 0xd940 : 0x2770;
  for (uint32_t half = 0; half < 2; ++half) {
    put_register(start + 0x10 * half, 0);
    put_register(start + 0x10 * half + 4, selects_events);
  }
  for (uint32_t i = 0; i < events; ++i) {
    put_register(first_event + 8 * i, event_values[i]);
    put_register(first_event + 8 * i + 4, event_masks[i]);
  }
  struct drm_i915_perf_oa_config set = {.n_boolean_regs = pair_count, .boolean_regs_ptr = (uintptr_t)pairs};
  memcpy(set.uuid, "5a1e57ed-0a00-4000-8000-c0117e57ed00", sizeof(set.uuid));
  return call(DRM_IOCTL_I915_PERF_ADD_CONFIG, &set);
}

static int open_stream(int set) {
  const uint64_t list[] = {DRM_I915_PERF_PROP_SAMPLE_OA,      1,
                           DRM_I915_PERF_PROP_OA_METRICS_SET, (uint64_t)set,
                           DRM_I915_PERF_PROP_OA_FORMAT,      I915_OA_FORMAT_A32u40_A4u32_B8_C8,
                           DRM_I915_PERF_PROP_OA_EXPONENT,    exponent};
  struct drm_i915_perf_open_param open_call = {.flags = I915_PERF_FLAG_FD_CLOEXEC | I915_PERF_FLAG_FD_NONBLOCK,
                                               .num_properties = sizeof(list) / sizeof(list[0]) / 2,
                                               .properties_ptr = (uintptr_t)list};
  return call(DRM_IOCTL_I915_PERF_OPEN, &open_call);
}

// Sums over the reports of a stream.
struct sums {
  unsigned reports, timers, switches, others, records_of_other_kinds;
  int grows;      // every time is later than the one before
  int is_steady;  // timer reports follow each other after the period
  int counts;     // custom events count their parts of the clocks
  uint32_t before[report_dwords];
  uint32_t timer_before;
};

// Returns whether a count of an event is within one of its part of the clocks.
static int is_part(uint32_t count, uint32_t clocks, uint32_t times, uint32_t divisor) {
  const int64_t difference = (int64_t)count * divisor - (int64_t)clocks * times;
  return difference >= -(int64_t)divisor && difference <= (int64_t)divisor;
}

static int events_count(const uint32_t* from, const uint32_t* to) {
  static const uint32_t times[events] = {0, 1, 1, 1, 1, 1, 1, 2}, divisors[events] = {1, 1, 1, 2, 3, 3, 6, 3};
  const uint32_t clocks = to[3] - from[3];
  int holds = clocks != 0;
  for (unsigned i = 0; i < events; ++i) {
    const uint32_t at = counters_at + i;
    const int exact = times[i] == divisors[i] || times[i] == 0;
    const uint32_t count = to[at] - from[at];
    holds = holds && (exact ? count == clocks * times[i] : is_part(count, clocks, times[i], divisors[i]));
  }
  return holds;
}

static void look_at(struct sums* sums, const uint32_t* report) {
  const int first = sums->reports++ == 0;
  if (!first) {
    sums->grows = sums->grows && (int32_t)(report[1] - sums->before[1]) > 0;
    sums->counts = sums->counts && events_count(sums->before, report);
  }
  memcpy(sums->before, report, sizeof(sums->before));
  const uint32_t reasons = report[0] & 0x3f << 19;
  if (reasons == timer) {
    if (sums->timers++ != 0) sums->is_steady = sums->is_steady && report[1] - sums->timer_before == period;
    sums->timer_before = report[1];
  } else if (reasons == context_switch) {
    ++sums->switches;
  } else {
    ++sums->others;
  }
}

// Reads until there are enough timer reports. Returns 0 if no report comes for ten seconds or a read fails.
static int read_reports(int stream, struct sums* sums) {
  static uint32_t records[4096];
  while (sums->timers < wanted) {
    struct pollfd ready = {.fd = stream, .events = POLLIN};
    if (poll(&ready, 1, 10000) != 1) return 0;
    const ssize_t bytes = read(stream, records, sizeof(records));
    if (bytes < 0 && errno == EAGAIN) continue;
    if (bytes <= 0) return 0;
    for (ssize_t at = 0; at < bytes;) {
      const uint32_t* const record = records + at / 4;
      if (record[0] == DRM_I915_PERF_RECORD_SAMPLE) {
        look_at(sums, record + 2);
      } else {
        ++sums->records_of_other_kinds;
      }
      at += record[1] >> 16;
    }
  }
  return 1;
}

static int finish(void) {
  printf("perf done: %d checks, %d failed\n", steps, failures);
  return failures != 0;
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  const int opened = open_chip() == 0 && chip.generation >= 8;
  expect(opened, "the device, Gen8 or later, opens");
  if (!opened) return finish();
  const int set = add_set();
  expect(set > 0, "a metric set is added");
  const int stream = open_stream(set);
  expect(stream >= 0, "a stream opens");
  if (stream < 0) return finish();
  struct sums sums = {.grows = 1, .is_steady = 1, .counts = 1};
  const int enough = read_reports(stream, &sums);
  char text[128];
  snprintf(text, sizeof(text), "%u reports are read: %u of the timer, %u of context switches", sums.reports, sums.timers,
           sums.switches);
  expect(enough, text);
  snprintf(text, sizeof(text), "no report is lost or has another reason: %u, %u", sums.records_of_other_kinds, sums.others);
  expect(sums.records_of_other_kinds == 0 && sums.others == 0 && sums.switches <= sums.timers / 10, text);
  expect(sums.grows, "each report is later than the one before");
  expect(sums.is_steady, "the timer's reports have the timer's period");
  expect(sums.counts, "custom events count their parts of the clocks");
  expect(open_stream(set) < 0 && errno == EBUSY, "a second stream does not open");
  expect(close(stream) == 0, "the stream closes");
  const int again = open_stream(set);
  expect(again >= 0 && close(again) == 0, "a stream opens again");
  uint64_t id = (uint64_t)set;
  expect(call(DRM_IOCTL_I915_PERF_REMOVE_CONFIG, &id) == 0, "the metric set is removed");
  return finish();
}
