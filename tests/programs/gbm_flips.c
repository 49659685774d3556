// A GL program on the screen, like kmscube: buffers of a GBM surface are drawn, made frame buffers and flipped.
// Frame number n has the colour (x + 40 n, y + 70 n, 100 n) at (x, y) from the top left, each modulo 256, and a quad of
// depth in front of it: white where |x - 320| + |y - 240| < 100. Prints a number for each frame that was shown.
#include <fcntl.h>
#include <gbm.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include "gl/offscreen.h"

enum { kFrames = 4 };

static const char* const kVertex = "attribute vec3 p; void main() { gl_Position = vec4(p, 1.0); }";
static const char* const kBehind =
    "precision highp float; uniform float n;\n"
    "void main() { vec2 at = vec2(gl_FragCoord.x - 0.5, 479.5 - gl_FragCoord.y);\n"
    "  gl_FragColor = vec4(mod(vec3(at, 0.0) + vec3(40.0, 70.0, 100.0) * n, 256.0) / 255.0, 1.0); }";
static const char* const kWhite = "void main() { gl_FragColor = vec4(1.0); }";

static void draw(const float* corners, GLuint with, int number) {
  glUseProgram(with);
  glUniform1f(glGetUniformLocation(with, "n"), (float)number);
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners);
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static void flipped(int node, unsigned sequence, unsigned seconds, unsigned microseconds, void* waits) {
  (void)node, (void)sequence, (void)seconds, (void)microseconds;
  *(int*)waits = 0;
}

int main(void) {
  const int node = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
  drmModeRes* const all = node < 0 ? NULL : drmModeGetResources(node);
  if (all == NULL) fail("gbm_flips: ", "no card");
  drmModeConnector* connector = NULL;
  for (int i = 0; i < all->count_connectors && (connector == NULL || connector->connection != DRM_MODE_CONNECTED);
       ++i) {
    connector = drmModeGetConnector(node, all->connectors[i]);
  }
  drmModeModeInfo mode = {0};
  for (int i = 0; connector != NULL && i < connector->count_modes; ++i) {
    if (connector->modes[i].hdisplay == 640 && connector->modes[i].vdisplay == 480) mode = connector->modes[i];
  }
  if (mode.hdisplay == 0) fail("gbm_flips: ", "no mode of 640 x 480");

  struct gbm_device* const device = gbm_create_device(node);
  struct gbm_surface* const surface =
      gbm_surface_create(device, 640, 480, GBM_FORMAT_XRGB8888, GBM_BO_USE_SCANOUT | GBM_BO_USE_RENDERING);
  EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_GBM_KHR, device, NULL);
  if (surface == NULL || !eglInitialize(display, NULL, NULL)) fail("gbm_flips: ", "no display");
  eglBindAPI(EGL_OPENGL_ES_API);
  const EGLint wanted[] = {EGL_SURFACE_TYPE,    EGL_WINDOW_BIT,     EGL_RED_SIZE, 8, EGL_DEPTH_SIZE, 24,
                           EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_NONE};
  EGLConfig configs[64], config = NULL;
  EGLint found = 0, format = 0;
  eglChooseConfig(display, wanted, configs, 64, &found);
  for (int i = 0; i < found && config == NULL; ++i) {
    if (eglGetConfigAttrib(display, configs[i], EGL_NATIVE_VISUAL_ID, &format) && format == GBM_FORMAT_XRGB8888) {
      config = configs[i];
    }
  }
  const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  EGLSurface window = eglCreateWindowSurface(display, config, (EGLNativeWindowType)surface, NULL);
  if (!eglMakeCurrent(display, window, window, context)) fail("gbm_flips: ", "no context");

  const GLuint behind = use_program(kVertex, kBehind, "p"), white = use_program(kVertex, kWhite, "p");
  static const float kWhole[] = {-1, -1, 0.5f, 1, -1, 0.5f, -1, 1, 0.5f, 1, 1, 0.5f};
  // A square on its corner, crossed by strips.
  static const float kSquare[] = {0, -100 / 240.0f, 0, 100 / 320.0f, 0, 0, -100 / 320.0f, 0, 0, 0, 100 / 240.0f, 0};
  glEnableVertexAttribArray(0);
  glEnable(GL_DEPTH_TEST);
  struct gbm_bo* shown = NULL;
  for (int number = 0; number < kFrames; ++number) {
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    draw(kSquare, white, number);  // in front, so it hides what is drawn later
    draw(kWhole, behind, number);
    eglSwapBuffers(display, window);
    struct gbm_bo* const next = gbm_surface_lock_front_buffer(surface);
    if (next == NULL) fail("gbm_flips: ", "no buffer");
    const uint32_t handles[4] = {gbm_bo_get_handle(next).u32}, pitches[4] = {gbm_bo_get_stride(next)}, offsets[4] = {0};
    const uint64_t modifiers[4] = {gbm_bo_get_modifier(next)};
    uint32_t frame = 0;
    if (drmModeAddFB2WithModifiers(node, 640, 480, GBM_FORMAT_XRGB8888, handles, pitches, offsets, modifiers, &frame,
                                   DRM_MODE_FB_MODIFIERS) != 0 &&
        drmModeAddFB2(node, 640, 480, GBM_FORMAT_XRGB8888, handles, pitches, offsets, &frame, 0) != 0) {
      fail("gbm_flips: ", "no frame buffer");
    }
    if (number == 0) {
      if (drmModeSetCrtc(node, all->crtcs[0], frame, 0, 0, &connector->connector_id, 1, &mode) != 0) {
        fail("gbm_flips: ", "no mode");
      }
    } else {
      int waits = 1;
      if (drmModePageFlip(node, all->crtcs[0], frame, DRM_MODE_PAGE_FLIP_EVENT, &waits) != 0) {
        fail("gbm_flips: ", "no flip");
      }
      drmEventContext handlers = {.version = 2, .page_flip_handler = flipped};
      struct pollfd asked = {.fd = node, .events = POLLIN};
      while (waits) {
        if (poll(&asked, 1, 20000) != 1 || drmHandleEvent(node, &handlers) != 0) fail("gbm_flips: ", "no event");
      }
    }
    if (shown != NULL) gbm_surface_release_buffer(surface, shown);
    shown = next;
    printf("%d\n", number);
  }
  return 0;
}
