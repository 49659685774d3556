// A GLES 2 program without a window: prints the renderer, draws a triangle, waits for it and reads it back. The
// program does not check the picture. Exit status 0: no error and no hang.
#include <stdio.h>

#include "gl/offscreen.h"

int main(void) {
  EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  if (!eglInitialize(display, NULL, NULL)) return fprintf(stderr, "no display\n"), 1;
  eglBindAPI(EGL_OPENGL_ES_API);
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_NONE};
  EGLConfig config = NULL;
  EGLint count = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0) return fprintf(stderr, "no config\n"), 1;
  const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  const EGLint size[] = {EGL_WIDTH, 64, EGL_HEIGHT, 64, EGL_NONE};
  EGLSurface surface = eglCreatePbufferSurface(display, config, size);
  if (!eglMakeCurrent(display, surface, surface, context)) return fprintf(stderr, "no context\n"), 1;
  printf("%s\n", (const char*)glGetString(GL_RENDERER));
  use_program("attribute vec4 p; void main() { gl_Position = p; }",
              "void main() { gl_FragColor = vec4(0.25, 0.5, 0.75, 1.0); }", "p");
  static const GLfloat corners[] = {-0.5f, -0.5f, 0.5f, -0.5f, 0.0f, 0.5f};
  glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
  glEnableVertexAttribArray(0);
  glClearColor(1, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glFinish();
  static unsigned char pixels[64 * 64 * 4];
  glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
  check_errors("triangle");
  eglTerminate(display);
  return 0;
}
