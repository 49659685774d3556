// Two contexts with different state: viewport, scissor, blending, colour mask, depth test, culling, program, vertex layout.
// They draw in turns into their own frame buffers, one triangle at a time, with a flush between, and set no state again.
// Then the same in two processes of one device. 256 x 256 RGBA8 pixels. tests/doors/shows.py checks the pictures.
// usage: gl_turns -o FOLDER    writes FOLDER/SCENE.rgba: first, second (contexts), parent, child (processes)
#include <fcntl.h>
#include <gbm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gl/frames.h"
#include "gl/scenes.h"

enum { kSize = 256, kTurns = 8, kFloats = 6 };

// A software driver has no device node: uses no device then.
static EGLDisplay open_node(int node) {
  EGLDisplay display = node < 0 ? eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL)
                                : eglGetPlatformDisplay(EGL_PLATFORM_GBM_KHR, gbm_create_device(node), NULL);
  if (!eglInitialize(display, NULL, NULL)) fail("gl_turns: ", "no display");
  eglBindAPI(EGL_OPENGL_API);
  return display;
}

static void make_current(EGLDisplay display, EGLContext context) {
  if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) fail("gl_turns: ", "no context");
}

// One triangle per turn: position and colour of each corner. Each has another position and depth, and every third one has
// the opposite winding.
static void make_corners(int kind) {
  static GLfloat corners[kTurns * 3 * kFloats];
  for (int turn = 0; turn < kTurns; ++turn) {
    const float x = (float)(turn % 4) * 0.25f - 0.5f, y = (float)(turn / 4) * 0.5f - 0.25f;
    const float z = (float)(turn * 5 % kTurns) / kTurns - 0.5f;
    for (int i = 0; i < 3; ++i) {
      const int corner = turn % 3 == 2 ? 2 - i : i;
      GLfloat* const at = &corners[(turn * 3 + i) * kFloats];
      at[0] = x + (corner == 0 ? -0.375f : corner == 1 ? 0.4375f : 0.0625f);
      at[1] = y + (corner == 2 ? 0.4375f : -0.3125f);
      at[2] = z;
      at[3] = (float)(20 + turn * 3) / 255;
      at[4] = kind == 0 ? (float)corner / 2 : 0.2f;
      at[5] = (float)(40 - turn * 4) / 255;
    }
  }
  GLuint buffer = 0;
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
}

// Sets all state of a context, once.
static void set_up(int kind) {
  const GLsizei stride = kFloats * sizeof(GLfloat);
  make_target(kSize);
  make_corners(kind);
  glEnableVertexAttribArray(0);
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, stride, NULL);
  if (kind == 0) {
    use_program("attribute vec4 p; attribute vec3 c; varying vec3 v; void main() { gl_Position = p; v = c; }",
                "varying vec3 v; void main() { gl_FragColor = vec4(v.yx, 1.0 - v.y, 1.0); }", "pc");
    glEnableVertexAttribArray(1);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, stride, (const void*)(3 * sizeof(GLfloat)));
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_GREATER);
    glClearDepthf(0.28f);
    glClearColor(0.2f, 0.4f, 0.6f, 1);
  } else {
    use_program("attribute vec4 p; uniform vec2 move; void main() { gl_Position = vec4(p.xy * 1.5 + move, 0.0, 1.0); }",
                "uniform vec4 tint; void main() { gl_FragColor = tint; }", "pc");
    glUniform2f(uniform_place("move"), 0.125f, -0.0625f);
    glUniform4f(uniform_place("tint"), 0.2f, 0.4f, 0.2f, 0);
    glViewport(32, 48, 192, 128);
    glScissor(40, 40, 150, 120);
    glEnable(GL_CULL_FACE);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    glClearColor(0, 0, 0.2f, 1);
  }
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  if (kind != 0) {
    glEnable(GL_SCISSOR_TEST);
    glColorMask(GL_TRUE, GL_FALSE, GL_TRUE, GL_FALSE);
  }
  glFlush();
}

static void draw(int turn) {
  glDrawArrays(GL_TRIANGLES, turn * 3, 3);
  glFlush();
}

static void save(const char* folder, const char* name) {
  static unsigned char pixels[kSize * kSize * 4];
  glReadPixels(0, 0, kSize, kSize, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
  check_errors(name);
  save_bytes(folder, name, pixels, sizeof pixels);
}

static void contexts(const char* folder, int node) {
  static const char* const names[] = {"first", "second"};
  EGLDisplay display = open_node(node);
  EGLContext made[2];
  for (int kind = 0; kind < 2; ++kind) {
    made[kind] = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, NULL);
    make_current(display, made[kind]);
    set_up(kind);
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int kind = 0; kind < 2; ++kind) {
      make_current(display, made[kind]);
      draw(turn);
    }
  }
  for (int kind = 0; kind < 2; ++kind) {
    make_current(display, made[kind]);
    save(folder, names[kind]);
  }
}

// Runs in each of two processes; each waits for a byte of the other before it continues.
static void process(const char* folder, int node, int kind, int hear, int say) {
  char byte = 0;
  EGLDisplay display = open_node(node);
  make_current(display, eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, NULL));
  if (kind != 0 && read(hear, &byte, 1) != 1) fail("gl_turns: ", "alone");
  set_up(kind);
  for (int turn = 0; turn < kTurns; ++turn) {
    if (write(say, &byte, 1) != 1 || read(hear, &byte, 1) != 1) fail("gl_turns: ", "alone");
    draw(turn);
  }
  // Neither process may exit before the other has all that it needs: the device is the parent's.
  save(folder, kind == 0 ? "parent" : "child");
  if (write(say, &byte, 1) != 1) fail("gl_turns: ", "alone");
  while (kind == 0 && read(hear, &byte, 1) == 1) {
  }
}

int main(int count, char** words) {
  if (count != 3 || strcmp(words[1], "-o") != 0) fail("gl_turns: ", "usage: gl_turns -o FOLDER");
  int nodes[2], down[2], up[2];
  for (int i = 0; i < 2; ++i) nodes[i] = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
  if (pipe(down) != 0 || pipe(up) != 0) fail("gl_turns: ", "no pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(down[1]);
    close(up[0]);
    process(words[2], nodes[1], 1, down[0], up[1]);
    _exit(0);
  }
  close(down[0]);
  close(up[1]);
  process(words[2], nodes[0], 0, up[0], down[1]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) fail("gl_turns: ", "the child has failed");
  contexts(words[2], nodes[1]);
  return 0;
}
