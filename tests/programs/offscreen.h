// What GL programs without a window begin and end with.
#pragma once
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <stdio.h>

// A context of desktop GL without a surface, current; attributes of eglCreateContext or NULL. The display, or NULL.
static EGLDisplay open_offscreen(const EGLint* attributes) {
  EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  if (!eglInitialize(display, NULL, NULL)) return fprintf(stderr, "no display\n"), NULL;
  eglBindAPI(EGL_OPENGL_API);  // the first chips have blits only there
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = NULL;
  EGLint found = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &found) || found == 0) return fprintf(stderr, "no config\n"), NULL;
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
  if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) return fprintf(stderr, "no context\n"), NULL;
  return display;
}

static GLuint make_shader(GLenum kind, const char* text) {
  const GLuint made = glCreateShader(kind);
  glShaderSource(made, 1, &text, NULL);
  glCompileShader(made);
  GLint good = 0;
  glGetShaderiv(made, GL_COMPILE_STATUS, &good);
  if (!good) fprintf(stderr, "a shader does not compile\n");
  return made;
}

// FOLDER/NAME.rgba
static void save_pixels(const char* folder, const char* name, const void* pixels, size_t bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.rgba", folder, name);
  FILE* const file = fopen(path, "wb");
  if (file == NULL || fwrite(pixels, 1, bytes, file) != bytes) fprintf(stderr, "%s cannot be written\n", path);
  if (file != NULL) fclose(file);
}
