// Fences as files: information, merging, polling.
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

static int fence_of(struct spinner* spinner, uint64_t engine) {
  prepare_spinner(spinner, NULL);
  finish_batch(&spinner->batch, engine | I915_EXEC_FENCE_OUT, 0);
  require(submit_as_is(&spinner->batch) == 0, "an endless batch cannot be started");
  return (int)(spinner->batch.execute.rsvd2 >> 32);
}

static int is_signalled(int fence, int milliseconds) {
  struct pollfd look = {.fd = fence, .events = POLLIN};
  return poll(&look, 1, milliseconds) == 1 && (look.revents & POLLIN) != 0;
}

static void information(void) {
  struct spinner spinner;
  const int fence = fence_of(&spinner, I915_EXEC_RENDER);
  struct sync_fence_info fences[4] = {0};
  struct sync_file_info request = {.num_fences = 0};
  expect("count", call_on(fence, SYNC_IOC_FILE_INFO, &request), 0);
  expect_number("fences", request.num_fences, 1);
  expect("status", request.status, 0);
  request = (struct sync_file_info){.num_fences = 4, .sync_fence_info = (uintptr_t)fences};
  expect("details", call_on(fence, SYNC_IOC_FILE_INFO, &request), 0);
  expect_number("details of", request.num_fences, 1);
  observe_text("driver", fences[0].driver_name);
  expect("fence status", fences[0].status, 0);
  end_spinner(&spinner);
  expect_true("signalled", is_signalled(fence, 20000));
  request = (struct sync_file_info){.num_fences = 4, .sync_fence_info = (uintptr_t)fences};
  expect("after", call_on(fence, SYNC_IOC_FILE_INFO, &request), 0);
  expect("status after", request.status, 1);
  expect("fence status after", fences[0].status, 1);
  expect_true("time", fences[0].timestamp_ns != 0);
  request = (struct sync_file_info){.flags = 1};
  expect("flags", call_on(fence, SYNC_IOC_FILE_INFO, &request), -EINVAL);
  request = (struct sync_file_info){.pad = 1};
  expect("pad", call_on(fence, SYNC_IOC_FILE_INFO, &request), -EINVAL);
  request = (struct sync_file_info){.num_fences = 1};
  observe("null", call_on(fence, SYNC_IOC_FILE_INFO, &request));
  observe("other call", call_on(fence, _IO('>', 9), NULL));
  char byte;
  observe("read", read(fence, &byte, 1) < 0 ? -errno : 0);
  close(fence);
}

static void merging(void) {
  struct spinner first, second;
  const int one = fence_of(&first, I915_EXEC_RENDER);
  const int two = fence_of(&second, has_engine(1) ? I915_EXEC_BLT : I915_EXEC_RENDER);
  struct sync_merge_data merge = {.name = "both", .fd2 = two};
  expect("merge", call_on(one, SYNC_IOC_MERGE, &merge), 0);
  const int both = merge.fence;
  struct sync_file_info request = {0};
  expect("info", call_on(both, SYNC_IOC_FILE_INFO, &request), 0);
  observe_number("fences", request.num_fences);
  observe_text("name", request.name);
  end_spinner(&first);
  expect_true("first ends", is_signalled(one, 20000));
  if (has_engine(1)) expect_true("both not yet", !is_signalled(both, 0));
  end_spinner(&second);
  expect_true("both end", is_signalled(both, 20000));
  merge = (struct sync_merge_data){.fd2 = 999};
  expect("closed file", call_on(one, SYNC_IOC_MERGE, &merge), -ENOENT);
  merge = (struct sync_merge_data){.fd2 = two, .flags = 1};
  expect("flags", call_on(one, SYNC_IOC_MERGE, &merge), -EINVAL);
  merge = (struct sync_merge_data){.fd2 = two, .pad = 1};
  expect("pad", call_on(one, SYNC_IOC_MERGE, &merge), -EINVAL);
  const int null = open("/dev/null", O_RDONLY);
  merge = (struct sync_merge_data){.fd2 = null};
  expect("other file", call_on(one, SYNC_IOC_MERGE, &merge), -ENOENT);
  close(null);
  merge = (struct sync_merge_data){.name = "same", .fd2 = one};
  expect("with itself", call_on(one, SYNC_IOC_MERGE, &merge), 0);
  request = (struct sync_file_info){0};
  call_on(merge.fence, SYNC_IOC_FILE_INFO, &request);
  observe_number("fences of the same", request.num_fences);
  close(merge.fence);
  close(one);
  close(two);
  close(both);
}

const struct test sync_file_tests[] = {
    {"sync-files.information", information, 0}, {"sync-files.merging", merging, 0}, {0}};
