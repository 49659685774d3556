// The common start of GL programs without a window: a display, a context, shaders. A function that fails prints the
// reason and ends the program.
#pragma once
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

// api: EGL_OPENGL_API (the first chips have blits only there) or EGL_OPENGL_ES_API.
void open_display(EGLenum api);
// Without a surface, current; attributes of eglCreateContext or NULL. 0: there is none with these.
int make_context(const EGLint* attributes);
// Both, with desktop GL as the driver gives it.
void open_offscreen(void);
void close_display(void);

int gl_version(void);  // 21, 33, ...
int has_extension(const char* name);

_Noreturn void fail(const char* what, const char* more);
// Ends the program if there was an error of GL.
void check_errors(const char* scene);

GLuint make_shader(GLenum kind, const char* head, const char* text);
// Links what is attached and uses it.
void link_program(GLuint program);
// Attributes from 0 on, whose names are these letters.
GLuint use_program(const char* vertex, const char* fragment, const char* attributes);
GLuint used_program(void);
GLint uniform_place(const char* name);
