// Two processes with an open file each see each other's work: fences of objects, sync files, syncobjs. The
// parent delays its batches until the child has looked, and the child reports what it saw.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

static const int64_t long_time = 20000000000ll, short_time = 1000000;

// ---- messages between the two: a number, with or without a descriptor
static int pipe_here;

static void tell_with(int64_t number, int file) {
  char control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {.iov_base = &number, .iov_len = sizeof(number)};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &file, sizeof(int));
  }
  if (sendmsg(pipe_here, &message, MSG_NOSIGNAL) != sizeof(number)) _exit(9);
}

static void tell(int64_t number) {
  tell_with(number, -1);
}

static int64_t hear_with(int* file) {
  int64_t number = -EPIPE;
  char control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {.iov_base = &number, .iov_len = sizeof(number)};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  if (recvmsg(pipe_here, &message, 0) != sizeof(number)) return -EPIPE;
  if (file != NULL) *file = -1;
  if (file != NULL && CMSG_FIRSTHDR(&message) != NULL) memcpy(file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
  return number;
}

static int64_t hear(void) {
  return hear_with(NULL);
}

static int keeps_node;  // the child uses the parent's open file

static pid_t start(void (*child)(void)) {
  int sockets[2];
  require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0, "no pair of sockets");
  const pid_t process = fork();
  pipe_here = sockets[process == 0];
  close(sockets[process != 0]);
  if (process != 0) return process;
  alarm(80);
  if (!keeps_node) device = open_device();
  child();
  _exit(0);
}

static void finish(pid_t process) {
  close(pipe_here);
  int status = -1;
  waitpid(process, &status, 0);
  expect("child", WIFEXITED(status) ? WEXITSTATUS(status) : 99, 0);
}

// ---- objects
static int export_object(const struct object* object) {
  struct drm_prime_handle request = {.handle = object->handle, .flags = DRM_CLOEXEC | DRM_RDWR, .fd = -1};
  require(call(DRM_IOCTL_PRIME_HANDLE_TO_FD, &request) == 0, "an object cannot be exported");
  return request.fd;
}

static int64_t busy_word(uint32_t handle) {
  struct drm_i915_gem_busy request = {.handle = handle};
  const int result = call(DRM_IOCTL_I915_GEM_BUSY, &request);
  return result < 0 ? result : (int64_t)request.busy;
}

static int64_t polled(int file, short events, int milliseconds) {
  struct pollfd look = {.fd = file, .events = events};
  const int result = poll(&look, 1, milliseconds);
  return result < 0 ? -errno : look.revents;
}

static int64_t status_of(int file) {
  struct sync_file_info info = {0};
  const int result = call_on(file, SYNC_IOC_FILE_INFO, &info);
  return result < 0 ? result : info.status;
}

// Reports what a child sees of an object: BUSY, WAIT and its fences.
static void look_at(const struct object* object, int file) {
  tell(busy_word(object->handle));
  tell(wait_on(device, object->handle, 0));
  tell(wait_on(device, object->handle, short_time));
  tell(polled(file, POLLIN, 0));
  tell(polled(file, POLLOUT, 0));
  for (uint32_t flags = DMA_BUF_SYNC_READ; flags <= DMA_BUF_SYNC_WRITE; ++flags) {
    struct dma_buf_export_sync_file fence = {.flags = flags, .fd = -1};
    const int result = call_on(file, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &fence);
    tell(result < 0 ? result : status_of(fence.fd));
    if (result == 0) close(fence.fd);
  }
}

static void expect_looks(const char* when, int written, int read) {
  observe_number(key("%s: busy", when), (uint64_t)hear());
  expect(key("%s: no wait", when), hear(), written || read ? -ETIME : 0);
  expect(key("%s: a wait", when), hear(), written || read ? -ETIME : 0);
  expect(key("%s: poll for reading", when), hear(), written ? 0 : POLLIN);
  expect(key("%s: poll for writing", when), hear(), written || read ? 0 : POLLOUT);
  expect(key("%s: fence of writers", when), hear(), written ? 0 : 1);
  expect(key("%s: fence of all", when), hear(), written || read ? 0 : 1);
}

static struct object import_here(int file) {
  struct object object = create(4096);
  struct drm_prime_handle request = {.fd = file};
  const int result = call(DRM_IOCTL_PRIME_FD_TO_HANDLE, &request);
  tell(result);
  object.handle = request.handle;
  return object;
}

static void watch_writer(void) {
  int file = -1;
  hear_with(&file);
  const struct object object = import_here(file);
  look_at(&object, file);
  tell(store(I915_EXEC_RENDER, 0, &object, 0, 0xc411d));
  tell(busy_word(object.handle) != 0);
  tell(wait_on(device, object.handle, short_time));
  hear();
  tell(wait_on(device, object.handle, long_time));
  tell(polled(file, POLLIN | POLLOUT, 20000));
  struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW};
  tell(call_on(file, DMA_BUF_IOCTL_SYNC, &sync));
  look_at(&object, file);
  tell(word_at(&object, 0));
}

// The parent's endless batch writes the object; the child's store executes after it.
static void writer(void) {
  const pid_t process = start(watch_writer);
  const struct object object = create(4096);
  const int file = export_object(&object);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, &object);
  tell_with(0, file);
  expect("import", hear(), 0);
  expect_looks("held", 1, 1);
  expect("store", hear(), 0);
  expect("busy with both", hear(), 1);
  expect("still a wait", hear(), -ETIME);
  end_spinner(&spinner);
  tell(0);
  expect("then idle", hear(), 0);
  expect("poll", hear(), POLLIN | POLLOUT);
  expect("sync", hear(), 0);
  expect_looks("after", 0, 0);
  expect_number("the child's word is the last one", (uint64_t)hear(), 0xc411d);
  expect("idle here", wait_for(&object), 0);
  expect_number("and here", word_at(&object, 0), 0xc411d);
  finish(process);
  close(file);
}

static void watch_reader(void) {
  int file = -1;
  hear_with(&file);
  const struct object object = import_here(file);
  look_at(&object, file);
  hear();
  tell(wait_on(device, object.handle, long_time));
  look_at(&object, file);
}

// The parent's batch reads an object (the batch itself) that was busy before it was shared.
static void reader(void) {
  const pid_t process = start(watch_reader);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, NULL);
  const int file = export_object(&spinner.batch.object);
  tell_with(0, file);
  expect("import", hear(), 0);
  expect_looks("held", 0, 1);
  end_spinner(&spinner);
  tell(0);
  expect("then idle", hear(), 0);
  expect_looks("after", 0, 0);
  finish(process);
  close(file);
}

static void go_past(void) {
  int file = -1;
  hear_with(&file);
  const struct object object = import_here(file);
  struct batch batch;
  start_batch(&batch);
  add_store(&batch, &object, 8, 0x33);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_BLT, create_context());
  batch.objects[0].flags |= EXEC_OBJECT_ASYNC;
  tell(submit_as_is(&batch));
  tell(wait_on(device, batch.object.handle, long_time));
  tell(wait_on(device, object.handle, 0));
  hear();
  tell(wait_on(device, object.handle, long_time));
  tell(word_at(&object, 8));
}

static void asynchronous(void) {
  if (!has_engine(1)) skip("one engine only");
  if (chip.generation < 8) skip("needs addresses in batches");
  const pid_t process = start(go_past);
  const struct object object = create(4096);
  const int file = export_object(&object);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, &object);
  tell_with(0, file);
  expect("import", hear(), 0);
  expect("execute", hear(), 0);
  expect("does not wait", hear(), 0);
  expect("the object is busy", hear(), -ETIME);
  end_spinner(&spinner);
  tell(0);
  expect("then idle", hear(), 0);
  expect_number("word", (uint64_t)hear(), 0x33);
  finish(process);
  close(file);
}

// ---- two objects in turn: the work of each process waits for the other's, without a deadlock
enum { rounds = 8 };

static void take_turns(void) {
  int files[2];
  struct object objects[2];
  for (unsigned i = 0; i < 2; ++i) {
    hear_with(&files[i]);
    objects[i] = import_here(files[i]);
  }
  int result = 0;
  for (unsigned i = 0; i < rounds && result == 0; ++i) {
    struct batch batch;
    start_batch(&batch);
    for (unsigned j = 2; j-- > 0;) add_store(&batch, &objects[j], 64 + 4 * i, 0x100 + i);
    result = submit(&batch, I915_EXEC_RENDER, 0);
  }
  tell(result);
  tell(wait_on(device, objects[0].handle, long_time));
  tell(wait_on(device, objects[1].handle, long_time));
  hear();
}

static void in_turn(void) {
  const pid_t process = start(take_turns);
  const struct object objects[2] = {create(4096), create(4096)};
  for (unsigned i = 0; i < 2; ++i) {
    const int file = export_object(&objects[i]);
    tell_with(0, file);
    expect(key("import %u", i), hear(), 0);
    close(file);
  }
  for (unsigned i = 0; i < rounds; ++i) {
    struct batch batch;
    start_batch(&batch);
    for (unsigned j = 0; j < 2; ++j) add_store(&batch, &objects[j], 4 * i, 0x200 + i);
    expect("execute", submit(&batch, I915_EXEC_RENDER, 0), 0);
  }
  expect("execute there", hear(), 0);
  expect("wait there", hear(), 0);
  expect("wait for the other there", hear(), 0);
  for (unsigned j = 0; j < 2; ++j) {
    expect(key("wait %u", j), wait_for(&objects[j]), 0);
    expect_number(key("last word here %u", j), word_at(&objects[j], 4 * (rounds - 1)), 0x200 + rounds - 1);
    expect_number(key("last word there %u", j), word_at(&objects[j], 64 + 4 * (rounds - 1)), 0x100 + rounds - 1);
  }
  tell(0);
  finish(process);
}

// ---- sync files
static uint32_t make_syncobj(uint32_t flags) {
  struct drm_syncobj_create request = {.flags = flags};
  require(call(DRM_IOCTL_SYNCOBJ_CREATE, &request) == 0, "a syncobj cannot be made");
  return request.handle;
}

static int wait_syncobj(uint32_t handle, uint64_t point, uint32_t flags, int64_t until) {
  struct drm_syncobj_timeline_wait request = {.handles = (uintptr_t)&handle,
                                              .points = (uintptr_t)&point,
                                              .count_handles = 1,
                                              .flags = flags,
                                              .timeout_nsec = until};
  return call(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &request);
}

static void use_sync_file(void) {
  int file = -1;
  hear_with(&file);
  struct sync_fence_info fence = {.status = 77};
  struct sync_file_info info = {.num_fences = 1, .sync_fence_info = (uintptr_t)&fence};
  tell(polled(file, POLLIN, 0));
  tell(call_on(file, SYNC_IOC_FILE_INFO, &info));
  tell(info.status);
  tell(info.num_fences);
  tell(fence.status);
  struct sync_merge_data merge = {.name = "same", .fd2 = file};
  tell(call_on(file, SYNC_IOC_MERGE, &merge));
  tell(polled(merge.fence, POLLIN, 0));
  const uint32_t object = make_syncobj(0);
  struct drm_syncobj_handle import = {
      .handle = object, .flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE, .fd = file};
  tell(call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import));
  tell(wait_syncobj(object, 0, 0, 0));
  struct object target = create(4096);
  struct batch batch;
  start_batch(&batch);
  add_store(&batch, &target, 0, 0x44);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER | I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT, 0);
  batch.execute.rsvd2 = (uint32_t)file;
  tell(submit_as_is(&batch));
  const int out = (int)(batch.execute.rsvd2 >> 32);
  tell(polled(out, POLLIN, 0));
  tell(wait_on(device, target.handle, short_time));
  hear();
  tell(polled(file, POLLIN, 20000));
  tell(polled(merge.fence, POLLIN, 20000));
  tell(polled(out, POLLIN, 20000));
  tell(status_of(file));
  tell(wait_syncobj(object, 0, 0, INT64_MAX));
  tell(word_at(&target, 0));
}

static void sync_files(void) {
  const pid_t process = start(use_sync_file);
  struct spinner spinner;
  prepare_spinner(&spinner, NULL);
  finish_batch(&spinner.batch, I915_EXEC_RENDER | I915_EXEC_FENCE_OUT, 0);
  require(submit_as_is(&spinner.batch) == 0, "an endless batch cannot be started");
  const int file = (int)(spinner.batch.execute.rsvd2 >> 32);
  tell_with(0, file);
  expect("poll", hear(), 0);
  expect("information", hear(), 0);
  expect("status", hear(), 0);
  expect("fences", hear(), 1);
  expect("status of the fence", hear(), 0);
  expect("merge", hear(), 0);
  expect("poll of both", hear(), 0);
  expect("into a syncobj", hear(), 0);
  expect("wait for that", hear(), -ETIME);
  expect("execute behind it", hear(), 0);
  expect("poll of its fence", hear(), 0);
  expect("wait for its target", hear(), -ETIME);
  end_spinner(&spinner);
  tell(0);
  expect("poll after", hear(), POLLIN);
  expect("poll of both after", hear(), POLLIN);
  expect("poll of its fence after", hear(), POLLIN);
  expect("status after", hear(), 1);
  expect("wait after", hear(), 0);
  expect_number("word", (uint64_t)hear(), 0x44);
  finish(process);
  close(file);
}

// A child on its parent's open file: an in-fence and an out-fence in one call.
static void share_node(void) {
  int in = -1;
  hear_with(&in);
  const struct object target = create(4096);
  struct batch batch;
  start_batch(&batch);
  add_store(&batch, &target, 0, 0x66);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER | I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT, 0);
  batch.execute.rsvd2 = (uint32_t)in;
  tell(submit_as_is(&batch));
  tell((int)(batch.execute.rsvd2 & 0xffffffff) == in);
  const int out = (int)(batch.execute.rsvd2 >> 32);
  tell(polled(out, POLLIN, 0));
  tell(status_of(out));
  tell(wait_on(device, target.handle, short_time));
  hear();
  tell(polled(out, POLLIN, 20000));
  tell(status_of(out));
  tell(word_at(&target, 0));
}

static void same_node(void) {
  struct spinner spinner;
  prepare_spinner(&spinner, NULL);
  finish_batch(&spinner.batch, I915_EXEC_RENDER | I915_EXEC_FENCE_OUT, 0);
  require(submit_as_is(&spinner.batch) == 0, "an endless batch cannot be started");
  const int file = (int)(spinner.batch.execute.rsvd2 >> 32);
  keeps_node = 1;
  const pid_t process = start(share_node);
  keeps_node = 0;
  tell_with(0, file);
  expect("execute", hear(), 0);
  expect("the one that was given", hear(), 1);
  expect("poll", hear(), 0);
  expect("status", hear(), 0);
  expect("wait", hear(), -ETIME);
  end_spinner(&spinner);
  tell(0);
  expect("poll after", hear(), POLLIN);
  expect("status after", hear(), 1);
  expect_number("word", (uint64_t)hear(), 0x66);
  finish(process);
  close(file);
}

// ---- syncobjs
static int64_t value_of(uint32_t handle) {
  uint64_t point = 0;
  struct drm_syncobj_timeline_array request = {
      .handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .count_handles = 1};
  const int result = call(DRM_IOCTL_SYNCOBJ_QUERY, &request);
  return result < 0 ? result : (int64_t)point;
}

static int signal_point(uint32_t handle, uint64_t point) {
  struct drm_syncobj_timeline_array request = {
      .handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .count_handles = 1};
  return call(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &request);
}

static int change(unsigned long number, uint32_t handle) {
  struct drm_syncobj_array request = {.handles = (uintptr_t)&handle, .count_handles = 1};
  return call(number, &request);
}

static uint32_t import_syncobj(int file) {
  struct drm_syncobj_handle request = {.fd = file};
  tell(call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &request));
  return request.handle;
}

static int export_syncobj(uint32_t handle) {
  struct drm_syncobj_handle request = {.handle = handle, .fd = -1};
  require(call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &request) == 0, "a syncobj cannot be exported");
  return request.fd;
}

static void use_syncobj(void) {
  const uint32_t submitted = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
  int file = -1;
  hear_with(&file);
  const uint32_t object = import_syncobj(file);
  tell(wait_syncobj(object, 0, 0, 0));
  tell(wait_syncobj(object, 0, submitted, 0));
  tell(wait_syncobj(object, 0, submitted, INT64_MAX));  // until the parent signals
  tell(change(DRM_IOCTL_SYNCOBJ_RESET, object));
  hear();
  tell(wait_syncobj(object, 0, 0, 0));  // the parent's batch
  struct drm_syncobj_handle sync = {
      .handle = object, .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, .fd = -1};
  tell(call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &sync));
  tell(polled(sync.fd, POLLIN, 0));
  struct object target = create(4096);
  struct batch batch;
  struct drm_i915_gem_exec_fence fence = {.handle = object, .flags = I915_EXEC_FENCE_WAIT};
  start_batch(&batch);
  add_store(&batch, &target, 0, 0x55);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER | I915_EXEC_FENCE_ARRAY, 0);
  batch.execute.cliprects_ptr = (uintptr_t)&fence;
  batch.execute.num_cliprects = 1;
  tell(submit_as_is(&batch));
  tell(wait_on(device, target.handle, short_time));
  hear();
  tell(wait_syncobj(object, 0, 0, INT64_MAX));
  tell(polled(sync.fd, POLLIN, 20000));
  tell(wait_on(device, target.handle, long_time));
  tell(word_at(&target, 0));
}

static void syncobjs(void) {
  const pid_t process = start(use_syncobj);
  const uint32_t object = make_syncobj(0);
  tell_with(0, export_syncobj(object));
  expect("import", hear(), 0);
  expect("wait for nothing", hear(), -EINVAL);
  expect("wait until it is promised", hear(), -ETIME);
  expect("signal", change(DRM_IOCTL_SYNCOBJ_SIGNAL, object), 0);
  expect("then it is", hear(), 0);
  expect("reset there", hear(), 0);
  expect("nothing here", wait_syncobj(object, 0, 0, 0), -EINVAL);
  struct spinner spinner;
  struct drm_i915_gem_exec_fence fence = {.handle = object, .flags = I915_EXEC_FENCE_SIGNAL};
  prepare_spinner(&spinner, NULL);
  finish_batch(&spinner.batch, I915_EXEC_RENDER | I915_EXEC_FENCE_ARRAY, 0);
  spinner.batch.execute.cliprects_ptr = (uintptr_t)&fence;
  spinner.batch.execute.num_cliprects = 1;
  expect("a batch that fills it", submit_as_is(&spinner.batch), 0);
  tell(0);
  expect("open there", hear(), -ETIME);
  expect("as a sync file", hear(), 0);
  expect("which is open", hear(), 0);
  expect("execute behind it", hear(), 0);
  expect("which waits", hear(), -ETIME);
  end_spinner(&spinner);
  tell(0);
  expect("done there", hear(), 0);
  expect("the sync file too", hear(), POLLIN);
  expect("the batch too", hear(), 0);
  expect_number("word", (uint64_t)hear(), 0x55);
  finish(process);
}

static void use_timeline(void) {
  const uint32_t submitted = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
  int file = -1;
  hear_with(&file);
  const uint32_t object = import_syncobj(file);
  tell(value_of(object));
  tell(wait_syncobj(object, 5, 0, 0));
  tell(wait_syncobj(object, 6, 0, 0));
  tell(signal_point(object, 10));
  hear();
  tell(wait_syncobj(object, 20, submitted, INT64_MAX));  // until the parent signals
  tell(value_of(object));
  hear();
  // The parent's batch is point 30 and ends later.
  tell(wait_syncobj(object, 30, 0, 0));
  tell(wait_syncobj(object, 30, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE, 0));
  tell(value_of(object));
  tell(signal_point(object, 40));
  tell(value_of(object));
  hear();
  tell(wait_syncobj(object, 40, 0, INT64_MAX));
  tell(value_of(object));
}

static void timelines(void) {
  const pid_t process = start(use_timeline);
  const uint32_t object = make_syncobj(0);
  expect("signal 5", signal_point(object, 5), 0);
  tell_with(0, export_syncobj(object));
  expect("import", hear(), 0);
  expect("value there", hear(), 5);
  expect("wait for 5", hear(), 0);
  expect("wait for 6", hear(), -EINVAL);
  expect("signal 10 there", hear(), 0);
  expect("value here", value_of(object), 10);
  tell(0);
  expect("signal 20", signal_point(object, 20), 0);
  expect("wait for 20", hear(), 0);
  expect("value there", hear(), 20);
  struct spinner spinner;
  struct drm_i915_gem_exec_fence fence = {.handle = object, .flags = I915_EXEC_FENCE_SIGNAL};
  uint64_t point = 30;
  struct drm_i915_gem_execbuffer_ext_timeline_fences list = {
      .base = {.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES},
      .fence_count = 1,
      .handles_ptr = (uintptr_t)&fence,
      .values_ptr = (uintptr_t)&point};
  prepare_spinner(&spinner, NULL);
  finish_batch(&spinner.batch, I915_EXEC_RENDER | I915_EXEC_USE_EXTENSIONS, 0);
  spinner.batch.execute.cliprects_ptr = (uintptr_t)&list;
  expect("a batch for 30", submit_as_is(&spinner.batch), 0);
  tell(0);
  expect("wait for 30", hear(), -ETIME);
  expect("30 is promised", hear(), 0);
  expect("value with it open", hear(), 20);
  expect("signal 40 there", hear(), 0);
  expect("value with 40", hear(), 20);
  expect("wait for 40 here", wait_syncobj(object, 40, 0, 0), -ETIME);
  end_spinner(&spinner);
  tell(0);
  expect("wait for 40", hear(), 0);
  expect("value at last", hear(), 40);
  expect("value here at last", value_of(object), 40);
  finish(process);
}

const struct test process_tests[] = {{"processes.writer", writer, 0},
                                     {"processes.reader", reader, 0},
                                     {"processes.asynchronous", asynchronous, 0},
                                     {"processes.in-turn", in_turn, 0},
                                     {"processes.sync-files", sync_files, 0},
                                     {"processes.same-node", same_node, 0},
                                     {"processes.syncobjs", syncobjs, 0},
                                     {"processes.timelines", timelines, 0},
                                     {0}};
