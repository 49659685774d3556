// Small GL programs without a window, like those of the recorded streams: a clear, a triangle, a textured triangle, one with
// depth, a copy of the frame buffer into a texture, a blit between frame buffers, quads; 64 x 64 RGBA8 pixels. The program
// checks no picture. Exit status 0: no error and no hang.
// usage: gl_scenes [-o FOLDER] [scene...]   default: all scenes; -o: writes their pixels as FOLDER/SCENE.rgba
#include "gl/frames.h"
#include "gl/scenes.h"

enum { kSize = 64 };

static GLuint texture(const void* pixels) {
  const GLuint made = make_texture(GL_TEXTURE_2D);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, kSize, kSize, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
  return made;
}

static GLuint frame(void) {
  const GLuint made = make_picture(GL_RGBA, kSize, kSize);
  frame_complete();
  clear_frame(0);
  return made;
}

static const char kPlain[] = "attribute vec4 p; void main() { gl_Position = p; }";
static const char kColour[] = "void main() { gl_FragColor = vec4(1.0, 0.5, 0.25, 1.0); }";
static const char kWithTexture[] =
    "attribute vec4 p; attribute vec2 t; varying vec2 u; void main() { gl_Position = p; u = t; }";
static const char kTextured[] =
    "varying vec2 u; uniform sampler2D image; void main() { gl_FragColor = texture2D(image, u); }";

static void triangle(float z) {
  const GLfloat corners[] = {-0.5f, -0.5f, z, 0.5f, -0.5f, z, 0.0f, 0.5f, z};
  static const GLfloat places[] = {0, 0, 1, 0, 0.5f, 1};
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners);
  glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 0, places);
  glEnableVertexAttribArray(0);
  glEnableVertexAttribArray(1);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

// Quads and a strip of quads, which geometry threads split on the first chips.
static void draw_quads(void) {
  static const GLfloat corners[] = {-0.75f, -0.75f, 0, -0.25f, -0.75f, 0, -0.25f, -0.25f, 0, -0.75f, -0.25f, 0,
                                    0.25f,  -0.75f, 0, 0.75f,  -0.75f, 0, 0.5f,   -0.25f, 0, 0.25f,  -0.25f, 0,
                                    -0.75f, 0.25f,  0, -0.75f, 0.75f,  0, -0.25f, 0.25f,  0, -0.25f, 0.75f,  0,
                                    0.5f,   0,      0, 0.75f,  0.5f,   0};
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners);
  glEnableVertexAttribArray(0);
  glDrawArrays(GL_QUADS, 0, 8);
  glDrawArrays(GL_QUAD_STRIP, 8, 6);
}

static const unsigned char* texels(void) {
  static unsigned char pixels[kSize * kSize * 4];
  for (unsigned i = 0; i < sizeof pixels; ++i) pixels[i] = (unsigned char)(i * 7 + i / 256);
  return pixels;
}

static void clear(void) {
  frame();
}

static GLuint coloured(void) {
  const GLuint made = frame();
  use_program(kPlain, kColour, "pt");
  triangle(0);
  return made;
}
static void tri(void) {
  coloured();
}

static void textri(void) {
  frame();
  use_program(kWithTexture, kTextured, "pt");
  texture(texels());
  triangle(0);
}

static void depth(void) {
  make_picture(GL_RGBA, kSize, kSize);
  attach_buffer(GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT16, 0, kSize, kSize);
  frame_complete();
  clear_frame(GL_DEPTH_BUFFER_BIT);
  use_program(kPlain, kColour, "pt");
  glEnable(GL_DEPTH_TEST);
  triangle(0.25f);
  triangle(0.5f);
  glDisable(GL_DEPTH_TEST);
}

static void copytex(void) {
  coloured();
  const GLuint copy = texture(texels());
  glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 8, 8, 0, 0, 32, 32);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, copy, 0);
}

static void blit(void) {
  const GLuint from = coloured(), to = frame();
  glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
  glBlitFramebuffer(0, 0, kSize, kSize, 16, 16, 48, 48, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, to);
}

static void quads(void) {
  frame();
  use_program(kPlain, kColour, "pt");
  draw_quads();
}

static const struct Scene kScenes[] = {{"clear", clear, NULL, 0, NULL},     {"tri", tri, NULL, 0, NULL},
                                       {"textri", textri, NULL, 0, NULL},   {"depth", depth, NULL, 0, NULL},
                                       {"copytex", copytex, NULL, 0, NULL}, {"blit", blit, NULL, 0, NULL},
                                       {"quads", quads, NULL, 0, NULL}};

static void take_all(void) {
  take(kSize, kSize);
}

int main(int count, char** words) {
  open_offscreen();
  return run_scenes(count, words, kScenes, sizeof kScenes / sizeof kScenes[0], NULL, take_all);
}
