// Frames per second of small GL scenes: one triangle, many large ones, many small ones, a textured scene with blending
// and depth, and a picture that is cleared, drawn to and then shown as a texture. The frames are drawn into a texture, and the program waits for them at the end; programs are compiled
// before the clock starts. usage: gl_frames SCENE SIZE FRAMES [FOLDER]   prints elapsed seconds and CPU seconds;
// with a folder, writes the last picture as SCENE.rgba
#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gl/frames.h"
#include "gl/scenes.h"

enum { kMaxTriangles = 20000, kTexture = 128 };

typedef struct {
  GLfloat place[3];
  GLfloat colour[4];
  GLfloat at[2];
} Corner;

static Corner corners[kMaxTriangles * 3];

static const char kVertex[] =
    "attribute vec4 p; attribute vec4 c; attribute vec2 t; varying vec4 colour; varying vec2 at;"
    "void main() { gl_Position = p; colour = c; at = t; }";
static const char kSmooth[] = "varying vec4 colour; varying vec2 at; void main() { gl_FragColor = colour; }";
static const char kTextured[] =
    "varying vec4 colour; varying vec2 at; uniform sampler2D image;"
    "void main() { gl_FragColor = colour * texture2D(image, at); }";

static uint32_t seed = 1;
static float random_part(void) {  // 0 to 1
  seed = seed * 1664525u + 1013904223u;
  return (float)(seed >> 8) / (float)(1u << 24);
}

// Triangles around random centres; `reach` is the distance to the corners. Reach 0: one triangle that covers most of
// the picture.
static void scatter(int triangles, float reach) {
  static const GLfloat one[3][2] = {{-0.9f, -0.9f}, {0.9f, -0.9f}, {0, 0.9f}};
  for (int i = 0; i < triangles; ++i) {
    const float x = random_part() * 2 - 1, y = random_part() * 2 - 1, z = random_part() * 2 - 1;
    for (int k = 0; k < 3; ++k) {
      Corner* const corner = &corners[i * 3 + k];
      corner->place[0] = reach == 0 ? one[k][0] : x + (random_part() * 2 - 1) * reach;
      corner->place[1] = reach == 0 ? one[k][1] : y + (random_part() * 2 - 1) * reach;
      corner->place[2] = z;
      for (int c = 0; c < 4; ++c) corner->colour[c] = random_part();
      corner->at[0] = random_part() * 4;
      corner->at[1] = random_part() * 4;
    }
  }
}

static void upload_texture(void) {
  static unsigned char texels[kTexture * kTexture * 4];
  for (unsigned i = 0; i < sizeof texels; ++i) texels[i] = (unsigned char)(i * 7 + i / 256);
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, kTexture, kTexture, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
  glGenerateMipmap(GL_TEXTURE_2D);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
}

static void use_corners(int triangles) {
  GLuint buffer = 0;
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)triangles * 3 * sizeof(Corner)), corners, GL_STATIC_DRAW);
  static const size_t offsets[] = {offsetof(Corner, place), offsetof(Corner, colour), offsetof(Corner, at)};
  static const GLint counts[] = {3, 4, 2};
  for (GLuint i = 0; i < 3; ++i) {
    glVertexAttribPointer(i, counts[i], GL_FLOAT, GL_FALSE, sizeof(Corner), (const void*)offsets[i]);
    glEnableVertexAttribArray(i);
  }
}

static void draw_frame(int triangles) {
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  glDrawArrays(GL_TRIANGLES, 0, triangles * 3);
}

typedef struct {
  GLuint picture, image;  // a frame buffer and its texture
  GLuint target;
  GLuint plain;  // a texture of one texel, for the triangle
} Rendered;

// Creates a picture of the size of the target, which stays bound.
static Rendered make_rendered(int size) {
  Rendered made = {0};
  GLint bound = 0;
  glGetIntegerv(GL_FRAMEBUFFER_BINDING, &bound);
  made.target = (GLuint)bound;
  made.picture = make_picture(GL_RGBA, size, size);
  glGetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
  made.image = (GLuint)bound;
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  static const unsigned char white[4] = {255, 255, 255, 255};
  made.plain = make_texture(GL_TEXTURE_2D);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, white);
  return made;
}

// Puts two triangles that cover the target after the first one.
static void add_cover(void) {
  static const GLfloat places[6][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, -1}, {1, 1}, {-1, 1}};
  for (int i = 0; i < 6; ++i) {
    Corner* const corner = &corners[3 + i];
    for (int k = 0; k < 2; ++k) {
      corner->place[k] = places[i][k];
      corner->at[k] = places[i][k] * 0.5f + 0.5f;
    }
    for (int c = 0; c < 4; ++c) corner->colour[c] = 1;
  }
}

// Clears the picture, draws one triangle to it, and draws it over the whole target.
static void draw_rendered(const Rendered* at) {
  glBindFramebuffer(GL_FRAMEBUFFER, at->picture);
  glBindTexture(GL_TEXTURE_2D, at->plain);
  glClearColor(0.25f, 0.5f, 0.75f, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glBindFramebuffer(GL_FRAMEBUFFER, at->target);
  glBindTexture(GL_TEXTURE_2D, at->image);
  glDrawArrays(GL_TRIANGLES, 3, 6);
}

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int count, char** words) {
  if (count < 4) return fprintf(stderr, "usage: gl_frames one|large|small|textured|rendered SIZE FRAMES [FOLDER]\n"), 2;
  const char* const name = words[1];
  const int size = atoi(words[2]), frames = atoi(words[3]);
  open_offscreen();
  const int textured = strcmp(name, "textured") == 0, large = strcmp(name, "large") == 0;
  const int rendered = strcmp(name, "rendered") == 0;
  const int triangles = textured ? 100 : large ? 200 : strcmp(name, "small") == 0 ? kMaxTriangles : 1;
  scatter(triangles, textured || large ? 0.6f : triangles > 1 ? 0.02f : 0);
  make_target(size);
  use_program(kVertex, textured || rendered ? kTextured : kSmooth, "pct");
  if (rendered) add_cover();
  use_corners(rendered ? 3 : triangles);
  const Rendered with = rendered ? make_rendered(size) : (Rendered){0};
  if (textured) {
    upload_texture();
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  }
  if (rendered) {
    draw_rendered(&with);
  } else {
    draw_frame(triangles);
  }
  glFinish();
  const double start = now(CLOCK_MONOTONIC), spent = now(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < frames; ++i) {
    if (rendered) {
      draw_rendered(&with);
    } else {
      draw_frame(triangles);
    }
  }
  glFinish();
  printf("%.6f %.6f\n", now(CLOCK_MONOTONIC) - start, now(CLOCK_PROCESS_CPUTIME_ID) - spent);
  if (count > 4) {
    const size_t bytes = (size_t)size * (size_t)size * 4;
    void* const pixels = malloc(bytes);
    glReadPixels(0, 0, size, size, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    save_bytes(words[4], name, pixels, bytes);
    free(pixels);
  }
  check_errors(name);
  close_display();
  return 0;
}
