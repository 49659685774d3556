// The scenes of the recorded streams (tests/doors/captures.py), for another driver to draw: colours, corners and
// texels are those of the streams. 64 x 64 RGBA8 pixels; copytex writes its copy of 32 x 32.
// usage: gl_recorded -o FOLDER   writes the pixels as FOLDER/SCENE.rgba
#include "gl/frames.h"
#include "gl/scenes.h"

enum { kSize = 64, kCopy = 32, kTexels = 16 };

static GLuint use(const char* fragment) {
  static const char kVertex[] =
      "attribute vec4 p; attribute vec2 t; varying vec2 u; void main() { gl_Position = p; u = t; }";
  return use_program(kVertex, fragment, "pt");
}

static void begin(int size) {
  make_picture(GL_RGBA, size, size);
  frame_complete();
}

static void clear_all(GLbitfield more) {
  glClearColor(0.2f, 0.4f, 0.6f, 1);
  glClear(GL_COLOR_BUFFER_BIT | more);
}

static void triangle(const GLfloat* corners) {
  static const GLfloat kPlaces[] = {0, 0, 1, 0, 0.5f, 1};
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners);
  glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 0, kPlaces);
  glEnableVertexAttribArray(0);
  glEnableVertexAttribArray(1);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

static const GLfloat kFirst[] = {-0.8f, -0.8f, 0.2f, 0.8f, -0.8f, 0.2f, 0, 0.8f, 0.2f};
static const GLfloat kSecond[] = {-0.8f, 0.6f, 0.5f, 0.8f, 0.6f, 0.5f, 0, -0.9f, 0.1f};
static const char kUniform[] = "uniform vec4 c; void main() { gl_FragColor = c; }";
static const char kTextured[] =
    "varying vec2 u; uniform sampler2D image; void main() { gl_FragColor = texture2D(image, u); }";

// Also the picture of the blit, which has the same colours.
static void clear(void) {
  begin(kSize);
  clear_all(0);
}

static void tri(void) {
  clear();
  use(kUniform);
  glUniform4f(uniform_place("c"), 1, 0.5f, 0.25f, 1);
  triangle(kFirst);
}

static void textri(void) {
  clear();
  static unsigned char texels[kTexels * kTexels * 4];
  for (int i = 0; i < kTexels * kTexels; ++i) {
    const int white = (i / kTexels + i) & 1;
    const unsigned value = white ? ~0u : (unsigned)i * 0x10203u | 0xff000000u;
    for (int c = 0; c < 4; ++c) texels[i * 4 + c] = (unsigned char)(value >> 8 * c);
  }
  use(kTextured);
  GLuint texture = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER,
                  GL_LINEAR);  // the defaults: linear magnification, repeat
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, kTexels, kTexels, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
  triangle(kFirst);
}

static void depth(void) {
  begin(kSize);
  attach_buffer(GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT24, 0, kSize, kSize);
  clear_all(GL_DEPTH_BUFFER_BIT);
  use(kUniform);
  glEnable(GL_DEPTH_TEST);
  glUniform4f(uniform_place("c"), 1, 0.5f, 0.25f, 1);
  triangle(kFirst);
  glUniform4f(uniform_place("c"), 0, 1, 0, 1);
  triangle(kSecond);
  glDisable(GL_DEPTH_TEST);
}

static void copytex(void) {
  clear();
  const GLuint copy = make_texture(GL_TEXTURE_2D);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, kCopy, kCopy, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, kCopy, kCopy);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, copy, 0);
}

static const struct Scene kScenes[] = {{"clear", clear, NULL, 0, NULL},     {"tri", tri, NULL, 0, NULL},
                                       {"textri", textri, NULL, 0, NULL},   {"depth", depth, NULL, 0, NULL},
                                       {"copytex", copytex, NULL, 0, NULL}, {"blit", clear, NULL, 0, NULL}};

static void take_all(void) {
  const int size = scene()->draw == copytex ? kCopy : kSize;
  take(size, size);
}

int main(int count, char** words) {
  open_offscreen();
  return run_scenes(count, words, kScenes, sizeof kScenes / sizeof kScenes[0], NULL, take_all);
}
