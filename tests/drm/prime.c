// Objects as descriptors: between open files and between processes.
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

static int export_object(uint32_t handle, uint32_t flags, int* file) {
  struct drm_prime_handle request = {.handle = handle, .flags = flags, .fd = -1};
  const int result = call(DRM_IOCTL_PRIME_HANDLE_TO_FD, &request);
  *file = request.fd;
  return result;
}

static int import_file(int to, int file, uint32_t* handle) {
  struct drm_prime_handle request = {.fd = file};
  const int result = call_on(to, DRM_IOCTL_PRIME_FD_TO_HANDLE, &request);
  *handle = request.handle;
  return result;
}

static void exports(void) {
  const struct object object = create(8192);
  int file = -1;
  expect("plain", export_object(object.handle, 0, &file), 0);
  expect_true("stays on exec", (fcntl(file, F_GETFD) & FD_CLOEXEC) == 0);
  close(file);
  for (unsigned bit = 0; bit < 4; ++bit) observe(key("flag %u", bit), export_object(object.handle, 1u << bit, &file));
  expect("cloexec", export_object(object.handle, DRM_CLOEXEC | DRM_RDWR, &file), 0);
  expect_true("closes on exec", (fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
  observe_number("access mode", (uint64_t)(fcntl(file, F_GETFL) & O_ACCMODE));
  expect("size", lseek(file, 0, SEEK_END), 8192);
  expect("start", lseek(file, 0, SEEK_SET), 0);
  expect("place", lseek(file, 4, SEEK_SET) < 0 ? -errno : 0, -EINVAL);
  observe("current", lseek(file, 0, SEEK_CUR) < 0 ? -errno : 0);
  expect("from the end", lseek(file, -4, SEEK_END) < 0 ? -errno : 0, -EINVAL);
  uint32_t handle = 0;
  expect("import into the same file", import_file(device, file, &handle), 0);
  expect_number("the same handle", handle, object.handle);
  close_object(&object);
  expect("import after the close", import_file(device, file, &handle), 0);
  close(file);
  const int null = open("/dev/null", O_RDWR);
  expect("import of another kind", import_file(device, null, &handle), -EINVAL);
  close(null);
  expect("import of a closed file", import_file(device, 999, &handle), -EBADF);
  observe("import of the node", import_file(device, device, &handle));
}

static void two_files(void) {
  const struct object object = create(8192);
  put(&object, 100, "shared", 7);
  int file = -1;
  expect("export", export_object(object.handle, DRM_CLOEXEC | DRM_RDWR, &file), 0);
  const int other = open_device();
  struct object twin = {.bytes = 8192};
  expect("import", import_file(other, file, &twin.handle), 0);
  char text[8] = "";
  expect("read", get_on(other, &twin, 100, text, 7), 0);
  expect_true("text", strcmp(text, "shared") == 0);
  expect("write", put_on(other, &twin, 4100, "back", 5), 0);
  get(&object, 4100, text, 5);
  expect_true("seen back", strcmp(text, "back") == 0);
  close_object(&object);
  close(file);
  expect("read after the first is gone", get_on(other, &twin, 4100, text, 5), 0);
  expect_true("still there", strcmp(text, "back") == 0);
  // A wait in one file covers work of the other.
  uint32_t again = 0;
  struct drm_prime_handle request = {.handle = twin.handle, .flags = DRM_RDWR};
  expect("export again", call_on(other, DRM_IOCTL_PRIME_HANDLE_TO_FD, &request), 0);
  expect("import again", import_file(device, request.fd, &again), 0);
  struct object here = create(4096);
  close_object(&here);
  here = (struct object){.handle = again, .bytes = 8192, .address = here.address};
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, &here);
  expect("busy there", wait_on(other, twin.handle, 1000000), -ETIME);
  struct pollfd look = {.fd = request.fd, .events = POLLIN | POLLOUT};
  expect("poll", poll(&look, 1, 0), 0);
  fd_set in, out;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_SET(request.fd, &in);
  FD_SET(request.fd, &out);
  struct timeval no_time = {0};
  expect("select", select(request.fd + 1, &in, &out, NULL, &no_time), 0);
  expect_true("select empties its sets", !FD_ISSET(request.fd, &in) && !FD_ISSET(request.fd, &out));
  FD_SET(request.fd, &in);
  const struct timespec short_time = {.tv_nsec = 1000000};
  expect("pselect", pselect(request.fd + 1, &in, NULL, NULL, &short_time, NULL), 0);
  end_spinner(&spinner);
  expect("then idle there", wait_on(other, twin.handle, 20000000000ll), 0);
  look.revents = 0;
  expect("poll after", poll(&look, 1, 20000), 1);
  FD_SET(request.fd, &in);
  FD_SET(request.fd, &out);
  struct timeval time = {.tv_sec = 20};
  expect("select after", select(request.fd + 1, &in, &out, NULL, &time), 2);
  expect_true("select's sets", FD_ISSET(request.fd, &in) && FD_ISSET(request.fd, &out));
  expect_true("time is left", time.tv_sec >= 1);
  observe_number("events", (uint64_t)(look.revents & (POLLIN | POLLOUT)));
  close(request.fd);
  close(other);
}

static void memory(void) {
  const struct object object = create(8192);
  put(&object, 0, "text", 5);
  int file = -1;
  export_object(object.handle, DRM_CLOEXEC, &file);
  void* refused = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  expect("write to a read-only file", refused == MAP_FAILED ? -errno : 0, -EACCES);
  close(file);
  export_object(object.handle, DRM_CLOEXEC | DRM_RDWR, &file);
  char* bytes = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  observe("map", bytes == MAP_FAILED ? -errno : 0);
  void* longer = mmap(NULL, 12288, PROT_READ, MAP_SHARED, file, 0);
  observe("map too much", longer == MAP_FAILED ? -errno : 0);
  void* behind = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 8192);
  observe("map behind", behind == MAP_FAILED ? -errno : 0);
  for (uint64_t flags = 0; flags < 10; ++flags) {
    struct dma_buf_sync sync = {.flags = flags};
    observe(key("sync %u", (unsigned)flags), call_on(file, DMA_BUF_IOCTL_SYNC, &sync));
  }
  struct dma_buf_export_sync_file fence = {.flags = DMA_BUF_SYNC_RW, .fd = -1};
  observe("export fences", call_on(file, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &fence));
  observe_text("a file", fence.fd > 2 ? "yes" : "no");
  struct dma_buf_import_sync_file into = {.flags = DMA_BUF_SYNC_WRITE, .fd = fence.fd};
  observe("import fences", call_on(file, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &into));
  fence.flags = 0;
  observe("export no fences", call_on(file, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &fence));
  observe("name", call_on(file, DMA_BUF_SET_NAME, "a name"));
  observe("other call", call_on(file, _IO('b', 77), NULL));
  if (bytes == MAP_FAILED) return;
  expect_true("text", strcmp(bytes, "text") == 0);
  struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW};
  call_on(file, DMA_BUF_IOCTL_SYNC, &sync);
  strcpy(bytes + 4096, "more");
  sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW;
  call_on(file, DMA_BUF_IOCTL_SYNC, &sync);
  char text[5] = "";
  get(&object, 4096, text, 5);
  expect_true("written", strcmp(text, "more") == 0);
  munmap(bytes, 8192);
  close(file);
}

static int send_file(int socket, int file) {
  char byte = 'f', control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &file, sizeof(int));
  return sendmsg(socket, &message, 0) == 1 ? 0 : -errno;
}

static int receive_file(int socket) {
  char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  if (recvmsg(socket, &message, 0) != 1 || CMSG_FIRSTHDR(&message) == NULL) return -1;
  int file = -1;
  memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
  return file;
}

// The child opens the node itself and writes into the object that it receives.
static int child(int socket) {
  const int file = receive_file(socket);
  const int other = open_device();
  if (file < 0 || other < 0) return 2;
  struct object object = {.bytes = 4096};
  char text[8] = "";
  if (import_file(other, file, &object.handle) != 0) return 3;
  if (get_on(other, &object, 0, text, 7) != 0 || strcmp(text, "parent") != 0) return 4;
  if (put_on(other, &object, 64, "child", 6) != 0) return 5;
  device = other;
  object.address = 0x3000000;
  if (store(I915_EXEC_RENDER, 0, &object, 128, 0xc411d) != 0 || wait_for(&object) != 0) return 6;
  return 0;
}

static void two_processes(void) {
  int sockets[2];
  require(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "no pair of sockets");
  const pid_t process = fork();
  if (process == 0) _exit(child(sockets[1]));
  const struct object object = create(4096);
  put(&object, 0, "parent", 7);
  int file = -1;
  expect("export", export_object(object.handle, DRM_CLOEXEC | DRM_RDWR, &file), 0);
  expect("send", send_file(sockets[0], file), 0);
  int status = -1;
  waitpid(process, &status, 0);
  expect("child", WIFEXITED(status) ? WEXITSTATUS(status) : 99, 0);
  char text[8] = "";
  get(&object, 64, text, 6);
  expect_true("written by the child", strcmp(text, "child") == 0);
  expect_number("stored by the child's batch", word_at(&object, 128), 0xc411d);
  close(file);
  close(sockets[0]);
  close(sockets[1]);
}

const struct test prime_tests[] = {{"prime.exports", exports, 0},
                                   {"prime.two-files", two_files, 0},
                                   {"prime.memory", memory, 0},
                                   {"prime.two-processes", two_processes, 0},
                                   {0}};
