// Draws one triangle whose shader practically never ends, says so, and waits for it. With the argument "exit" it exits
// instead, with the draw at work.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl/frames.h"

int main(int count, char** words) {
  open_offscreen();
  use_program("#version 120\nattribute vec4 p; void main() { gl_Position = p; }",
              "#version 120\nuniform int turns; void main() { float sum = gl_FragCoord.x;"
              "for (int i = 0; i < turns; ++i) sum = fract(sum * 1.25 + 0.5);"
              "gl_FragColor = vec4(sum, 0.5, 0.75, 1.0); }",
              "p");
  make_target(512);
  glUniform1i(uniform_place("turns"), 2000000000);
  static const GLfloat corners[] = {-1, -1, 3, -1, -1, 3};
  GLuint buffer = 0;
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
  glEnableVertexAttribArray(0);
  glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glFlush();
  printf("at work\n");
  fflush(stdout);
  if (count > 1 && strcmp(words[1], "exit") == 0) exit(0);
  glFinish();
  printf("done\n");
  return 0;
}
