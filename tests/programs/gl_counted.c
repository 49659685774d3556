// Draws eight triangles that cover the whole target, of which the pixels are known: all 32768 are rasterised each time.
// 3 plain draws, 2 with blending, 1 whose shader discards the left half, 1 that fails its depth test, 1 with one texture
// sample for each pixel. Nothing is cleared, uploaded or read back: drivers draw for that.
// usage: gl_counted [killed|forked]   killed: ends by SIGKILL when the work is done; forked: a child draws the same
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gl/frames.h"

enum { kWidth = 256, kHeight = 128 };

static const char kVertex[] = "#version 120\nattribute vec4 p; void main() { gl_Position = p; }";

static void draw(void) {
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glFinish();
}

static void draw_all(void) {
  open_offscreen();
  make_picture(GL_RGBA8, kWidth, kHeight);
  attach_buffer(GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT16, 0, kWidth, kHeight);
  static const GLfloat corners[] = {-1, -1, 3, -1, -1, 3};
  GLuint buffer = 0;
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
  glEnableVertexAttribArray(0);
  glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);

  use_program(kVertex, "#version 120\nvoid main() { gl_FragColor = vec4(0.25, 0.5, 0.75, 0.5); }", "p");
  for (int i = 0; i < 3; ++i) draw();
  glEnable(GL_BLEND);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  for (int i = 0; i < 2; ++i) draw();
  glDisable(GL_BLEND);
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_NEVER);
  draw();
  glDisable(GL_DEPTH_TEST);
  use_program(kVertex,
              "#version 120\nvoid main() { if (gl_FragCoord.x < 128.0) discard;"
              "gl_FragColor = vec4(1.0, 0.5, 0.0, 1.0); }",
              "p");
  draw();
  use_program(kVertex,
              "#version 120\nuniform sampler2D t;"
              "void main() { gl_FragColor = texture2D(t, gl_FragCoord.xy / vec2(64.0, 64.0)); }",
              "p");
  const GLuint texture = make_texture(GL_TEXTURE_2D);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  draw();
  check_errors("counted");
}

int main(int count, char** words) {
  const char* const way = count > 1 ? words[1] : "";
  const int forks = strcmp(way, "forked") == 0;
  const pid_t child = forks ? fork() : -1;
  draw_all();
  printf("drawn\n");
  fflush(stdout);
  if (strcmp(way, "killed") == 0) raise(SIGKILL);
  if (child <= 0) return 0;
  int status = 1;
  waitpid(child, &status, 0);
  return status != 0;
}
