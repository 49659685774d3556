// Does what eglinfo does, on one display without a window system: versions, extensions, all configurations, then a GL and a
// GLES context with their names and extensions. Exit status 0: all of them exist.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <stdio.h>

typedef const unsigned char* GetString(unsigned name);

static int show(EGLDisplay display, EGLConfig config, EGLenum api, EGLint version) {
  const EGLint attributes[] = {EGL_CONTEXT_CLIENT_VERSION, version, EGL_NONE};
  if (!eglBindAPI(api)) return 0;
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
  if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) return 0;
  GetString* const get = (GetString*)eglGetProcAddress("glGetString");
  for (unsigned name = 0x1f00; name <= 0x1f03; ++name) printf("  %s\n", (const char*)get(name));
  eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  return eglDestroyContext(display, context);
}

int main(void) {
  EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  if (!eglInitialize(display, NULL, NULL)) return fprintf(stderr, "no display\n"), 1;
  for (EGLint name = EGL_VENDOR; name <= EGL_EXTENSIONS; ++name) printf("%s\n", eglQueryString(display, name));
  printf("%s\n", eglQueryString(display, EGL_CLIENT_APIS));
  static EGLConfig configs[1024];
  EGLint count = 0;
  if (!eglGetConfigs(display, configs, 1024, &count) || count == 0) return fprintf(stderr, "no configs\n"), 1;
  for (EGLint i = 0; i < count; ++i) {
    static const EGLint asked[] = {EGL_CONFIG_ID,  EGL_BUFFER_SIZE, EGL_RED_SIZE,     EGL_GREEN_SIZE, EGL_BLUE_SIZE,
                                   EGL_ALPHA_SIZE, EGL_DEPTH_SIZE,  EGL_STENCIL_SIZE, EGL_SAMPLES};
    for (unsigned k = 0; k < sizeof asked / sizeof *asked; ++k) {
      EGLint value = 0;
      eglGetConfigAttrib(display, configs[i], asked[k], &value);
      printf("%3d ", value);
    }
    printf("\n");
  }
  if (!show(display, configs[0], EGL_OPENGL_API, 1) || !show(display, configs[0], EGL_OPENGL_ES_API, 2)) {
    return fprintf(stderr, "no context\n"), 1;
  }
  eglTerminate(display);
  return 0;
}
