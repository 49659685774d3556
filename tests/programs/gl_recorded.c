// The scenes of the recorded streams (tests/doors/captures.py), for another driver to draw: colours, corners and
// texels are those that the streams hold. 64 x 64 pixels, RGBA8; of copytex the copy, 32 x 32.
// usage: gl_recorded FOLDER   their pixels as FOLDER/SCENE.rgba
#include <string.h>

#include "offscreen.h"

enum { kSize = 64, kCopy = 32, kTexels = 16 };

static GLuint use(const char* fragment) {
  const GLuint program = glCreateProgram();
  static const char kVertex[] =
      "attribute vec4 p; attribute vec2 t; varying vec2 u; void main() { gl_Position = p; u = t; }";
  glAttachShader(program, make_shader(GL_VERTEX_SHADER, kVertex));
  glAttachShader(program, make_shader(GL_FRAGMENT_SHADER, fragment));
  glBindAttribLocation(program, 0, "p");
  glBindAttribLocation(program, 1, "t");
  glLinkProgram(program);
  glUseProgram(program);
  return program;
}

static GLuint texture(int size, const void* pixels, GLint filter) {
  GLuint made = 0;
  glGenTextures(1, &made);
  glBindTexture(GL_TEXTURE_2D, made);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
  return made;
}

static void frame(int size, GLuint colour, int depth) {
  GLuint made = 0;
  glGenFramebuffers(1, &made);
  glBindFramebuffer(GL_FRAMEBUFFER, made);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, colour, 0);
  if (depth) {
    GLuint buffer = 0;
    glGenRenderbuffers(1, &buffer);
    glBindRenderbuffer(GL_RENDERBUFFER, buffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, size, size);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, buffer);
  }
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) fprintf(stderr, "no frame buffer\n");
  glViewport(0, 0, size, size);
}

static void triangle(const GLfloat* corners) {
  static const GLfloat kPlaces[] = {0, 0, 1, 0, 0.5f, 1};
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners);
  glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 0, kPlaces);
  glEnableVertexAttribArray(0);
  glEnableVertexAttribArray(1);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

static int draw(const char* scene) {
  static const GLfloat kFirst[] = {-0.8f, -0.8f, 0.2f, 0.8f, -0.8f, 0.2f, 0, 0.8f, 0.2f};
  static const GLfloat kSecond[] = {-0.8f, 0.6f, 0.5f, 0.8f, 0.6f, 0.5f, 0, -0.9f, 0.1f};
  static const char kUniform[] = "uniform vec4 c; void main() { gl_FragColor = c; }";
  static const char kTextured[] =
      "varying vec2 u; uniform sampler2D image; void main() { gl_FragColor = texture2D(image, u); }";
  const int depth = strcmp(scene, "depth") == 0;
  frame(kSize, texture(kSize, NULL, GL_NEAREST), depth);
  glClearColor(0.2f, 0.4f, 0.6f, 1);
  glClear(GL_COLOR_BUFFER_BIT | (depth ? GL_DEPTH_BUFFER_BIT : 0));
  if (strcmp(scene, "copytex") == 0) {
    const GLuint copy = texture(kCopy, NULL, GL_NEAREST);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, kCopy, kCopy);
    frame(kCopy, copy, 0);
    return kCopy;
  }
  if (strcmp(scene, "tri") == 0 || depth) {
    const GLuint program = use(kUniform);
    const GLint colour = glGetUniformLocation(program, "c");
    if (depth) glEnable(GL_DEPTH_TEST);
    glUniform4f(colour, 1, 0.5f, 0.25f, 1);
    triangle(kFirst);
    if (depth) {
      glUniform4f(colour, 0, 1, 0, 1);
      triangle(kSecond);
      glDisable(GL_DEPTH_TEST);
    }
  } else if (strcmp(scene, "textri") == 0) {
    static unsigned char texels[kTexels * kTexels * 4];
    for (int i = 0; i < kTexels * kTexels; ++i) {
      const int white = (i / kTexels + i) & 1;
      const unsigned value = white ? ~0u : (unsigned)i * 0x10203u | 0xff000000u;
      for (int c = 0; c < 4; ++c) texels[i * 4 + c] = (unsigned char)(value >> 8 * c);
    }
    use(kTextured);
    texture(kTexels, texels, GL_LINEAR);
    triangle(kFirst);
  }
  return kSize;
}

int main(int count, char** names) {
  if (count != 2) return fprintf(stderr, "usage: gl_recorded FOLDER\n"), 2;
  EGLDisplay display = open_offscreen(NULL);
  if (display == NULL) return 1;
  static const char* const kScenes[] = {"clear", "tri", "textri", "depth", "copytex", "blit"};
  for (int i = 0; i < 6; ++i) {
    const int size = draw(kScenes[i]);
    static unsigned char pixels[kSize * kSize * 4];
    glReadPixels(0, 0, size, size, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    if (glGetError() != GL_NO_ERROR) return fprintf(stderr, "%s: GL error\n", kScenes[i]), 1;
    save_pixels(names[1], kScenes[i], pixels, (size_t)(size * size) * 4);
  }
  eglTerminate(display);
  return 0;
}
