// Draws one large triangle with a long shader while a thread makes other calls on its own open file. Prints how long the
// drawing and the longest call took. Exit status 1: a call was blocked for most of the time.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "gl/frames.h"

// DRM_IOCTL_I915_GEM_CREATE and DRM_IOCTL_GEM_CLOSE, with the values of <drm/i915_drm.h>.
struct create {
  unsigned long long size;
  unsigned handle, pad;
};
struct close {
  unsigned handle, pad;
};
#define CREATE _IOWR('d', 0x40 + 0x1b, struct create)
#define CLOSE _IOW('d', 0x09, struct close)

static atomic_int drawing = 1;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void* ask(void* longest) {
  int file = -1;
  while (drawing) {
    const double before = now();
    if (file < 0) file = open("/dev/dri/renderD128", O_RDWR);
    struct create create = {4096, 0, 0};
    if (ioctl(file, CREATE, &create) != 0) break;
    struct close close = {create.handle, 0};
    ioctl(file, CLOSE, &close);
    const double took = now() - before;
    if (took > *(double*)longest) *(double*)longest = took;
    usleep(1000);
  }
  return NULL;
}

int main(void) {
  enum { kSide = 512 };
  open_offscreen();
  use_program("#version 120\nattribute vec4 p; void main() { gl_Position = p; }",
              "#version 120\nuniform int turns; void main() { float sum = gl_FragCoord.x;"
              "for (int i = 0; i < turns; ++i) sum = fract(sum * 1.25 + 0.5);"
              "gl_FragColor = vec4(sum, 0.5, 0.75, 1.0); }",
              "p");
  make_target(kSide);
  glUniform1i(uniform_place("turns"), 200);
  static const GLfloat corners[] = {-1, -1, 3, -1, -1, 3};
  GLuint buffer = 0;
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
  glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
  glEnableVertexAttribArray(0);
  glFinish();
  double longest = 0;
  pthread_t other;
  pthread_create(&other, NULL, ask, &longest);
  const double before = now();
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glFlush();
  const double given = now() - before;
  glFinish();
  const double took = now() - before;
  drawing = 0;
  pthread_join(other, NULL);
  printf("drawing %.3f s, submitting it %.3f s, longest call of the other %.3f s\n", took, given, longest);
  return glGetError() != GL_NO_ERROR || longest == 0 || longest > took / 4 || given > took / 2;
}
