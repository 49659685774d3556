// The common start of GL programs without a window: a display, a context, shaders. A function that fails prints the
// reason and ends the program.
#pragma once
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

// api: EGL_OPENGL_API (the only one with blits on the first chips) or EGL_OPENGL_ES_API.
void open_display(EGLenum api);
// Creates a context without a surface and makes it current; attributes of eglCreateContext or NULL. 0: not available.
int make_context(const EGLint* attributes);
// Opens a display and creates a context with the driver's default desktop GL.
void open_offscreen(void);
void close_display(void);

int gl_version(void);  // 21, 33, ...
int has_extension(const char* name);

_Noreturn void fail(const char* what, const char* more);
// Ends the program if GL reports an error.
void check_errors(const char* scene);

GLuint make_shader(GLenum kind, const char* head, const char* text);
// Links the attached shaders and uses the program.
void link_program(GLuint program);
// Binds attributes from 0 on to names of one letter.
GLuint use_program(const char* vertex, const char* fragment, const char* attributes);
GLuint used_program(void);
GLint uniform_place(const char* name);
