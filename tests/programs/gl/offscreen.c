#include "offscreen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static EGLDisplay display;
static EGLConfig config;

_Noreturn void fail(const char* what, const char* more) {
  fprintf(stderr, "%s%s\n", what, more);
  exit(1);
}

void check_errors(const char* scene) {
  const GLenum error = glGetError();
  if (error == GL_NO_ERROR) return;
  fprintf(stderr, "%s: GL error %x\n", scene, error);
  exit(1);
}

void open_display(EGLenum api) {
  display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  if (!eglInitialize(display, NULL, NULL)) fail("no display", "");
  eglBindAPI(api);
  const EGLint kind = api == EGL_OPENGL_API ? EGL_OPENGL_BIT : EGL_OPENGL_ES3_BIT;
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, kind, EGL_NONE};
  EGLint found = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &found) || found == 0) fail("no config", "");
}

int make_context(const EGLint* attributes) {
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
  return context != EGL_NO_CONTEXT && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
}

void open_offscreen(void) {
  open_display(EGL_OPENGL_API);
  if (!make_context(NULL)) fail("no context", "");
}

void close_display(void) {
  eglTerminate(display);
}

int gl_version(void) {
  const char* text = (const char*)glGetString(GL_VERSION);
  int major = 0, minor = 0;
  sscanf(text + strcspn(text, "0123456789"), "%d.%d", &major, &minor);  // "OpenGL ES 3.2 ..."
  return major * 10 + minor;
}

int has_extension(const char* name) {
  if (gl_version() < 30) return strstr((const char*)glGetString(GL_EXTENSIONS), name) != NULL;
  GLint count = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLint i = 0; i < count; ++i) {
    if (strcmp((const char*)glGetStringi(GL_EXTENSIONS, (GLuint)i), name) == 0) return 1;
  }
  return 0;
}

GLuint make_shader(GLenum kind, const char* head, const char* text) {
  const char* const parts[] = {head, text};
  const GLuint made = glCreateShader(kind);
  glShaderSource(made, 2, parts, NULL);
  glCompileShader(made);
  GLint good = 0;
  glGetShaderiv(made, GL_COMPILE_STATUS, &good);
  char log[2048];
  if (!good) {
    glGetShaderInfoLog(made, sizeof log, NULL, log);
    fprintf(stderr, "%s%s\n", head, text);
    fail("a shader does not compile: ", log);
  }
  return made;
}

void link_program(GLuint program) {
  glLinkProgram(program);
  GLint good = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &good);
  char log[2048];
  if (!good) {
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    fail("a program does not link: ", log);
  }
  glUseProgram(program);
}

GLuint use_program(const char* vertex, const char* fragment, const char* attributes) {
  const GLuint program = glCreateProgram();
  glAttachShader(program, make_shader(GL_VERTEX_SHADER, "", vertex));
  glAttachShader(program, make_shader(GL_FRAGMENT_SHADER, "", fragment));
  for (GLuint i = 0; attributes[i] != 0; ++i) {
    const char name[] = {attributes[i], 0};
    glBindAttribLocation(program, i, name);
  }
  link_program(program);
  return program;
}

GLuint used_program(void) {
  GLint program = 0;
  glGetIntegerv(GL_CURRENT_PROGRAM, &program);
  return (GLuint)program;
}

GLint uniform_place(const char* name) {
  return glGetUniformLocation(used_program(), name);
}
