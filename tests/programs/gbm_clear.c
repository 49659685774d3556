// Draws to a GBM buffer: opens the node, creates a GBM device on it, imports a buffer into EGL by its descriptor, and clears
// two halves of it in two colours with GL. Then it waits for the descriptor with epoll and reads the bytes through GBM.
// Exit status 0: every pixel is right.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <GLES2/gl2ext.h>
#include <fcntl.h>
#include <gbm.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { size = 64 };
static const uint32_t left = 0xffff0000, right = 0xff0000ff;  // as ARGB

static int fail(const char* what) {
  fprintf(stderr, "gbm_clear: %s\n", what);
  return 1;
}

static void clear(int x, float red, float blue) {
  glEnable(GL_SCISSOR_TEST);
  glScissor(x, 0, size / 2, size);
  glClearColor(red, 0, blue, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

int main(void) {
  const int node = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
  struct gbm_device* const device = node < 0 ? NULL : gbm_create_device(node);
  if (device == NULL) return fail("no device");
  EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_GBM_KHR, device, NULL);
  if (!eglInitialize(display, NULL, NULL)) return fail("no display");
  const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
  eglBindAPI(EGL_OPENGL_ES_API);
  EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
  if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) return fail("no context");
  struct gbm_bo* const bo =
      gbm_bo_create(device, size, size, GBM_FORMAT_ARGB8888, GBM_BO_USE_RENDERING | GBM_BO_USE_LINEAR);
  const int shared = bo == NULL ? -1 : gbm_bo_get_fd(bo);
  if (shared < 0) return fail("no buffer");
  const EGLint picture[] = {EGL_WIDTH,
                            size,
                            EGL_HEIGHT,
                            size,
                            EGL_LINUX_DRM_FOURCC_EXT,
                            GBM_FORMAT_ARGB8888,
                            EGL_DMA_BUF_PLANE0_FD_EXT,
                            shared,
                            EGL_DMA_BUF_PLANE0_OFFSET_EXT,
                            0,
                            EGL_DMA_BUF_PLANE0_PITCH_EXT,
                            (EGLint)gbm_bo_get_stride(bo),
                            EGL_NONE};
  PFNEGLCREATEIMAGEKHRPROC create = (PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress("eglCreateImageKHR");
  PFNGLEGLIMAGETARGETTEXTURE2DOESPROC use =
      (PFNGLEGLIMAGETARGETTEXTURE2DOESPROC)eglGetProcAddress("glEGLImageTargetTexture2DOES");
  EGLImageKHR image = create(display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, picture);
  if (image == EGL_NO_IMAGE_KHR) return fail("no image");
  GLuint texture = 0, target = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  use(GL_TEXTURE_2D, image);
  glGenFramebuffers(1, &target);
  glBindFramebuffer(GL_FRAMEBUFFER, target);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) return fail("it cannot be drawn on");
  clear(0, 1, 0);
  clear(size / 2, 0, 1);
  glFlush();
  const int set = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event asked = {.events = EPOLLIN, .data = {.u32 = 77}}, got = {0};
  if (epoll_ctl(set, EPOLL_CTL_ADD, shared, &asked) != 0) return fail("epoll does not take the buffer");
  if (epoll_wait(set, &got, 1, 20000) != 1 || got.data.u32 != 77 || got.events != EPOLLIN) return fail("epoll");
  uint32_t stride = 0;
  void* mapping = NULL;
  const char* const bytes = gbm_bo_map(bo, 0, 0, size, size, GBM_BO_TRANSFER_READ, &stride, &mapping);
  if (bytes == NULL) return fail("no bytes");
  unsigned wrong = 0;
  for (unsigned y = 0; y < size; ++y) {
    const uint32_t* const row = (const uint32_t*)(bytes + y * stride);
    for (unsigned x = 0; x < size; ++x) wrong += row[x] != (x < size / 2 ? left : right);
  }
  gbm_bo_unmap(bo, mapping);
  printf("%s: %u pixels wrong\n", gbm_device_get_backend_name(device), wrong);
  return wrong != 0;
}
