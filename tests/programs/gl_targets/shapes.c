// Shapes and programs that the scenes of targets share.
#include "targets.h"

void use(const char* vertex, const char* fragment) {
  use_program(vertex, fragment, "pt");
}

void set1(const char* name, float value) {
  glUniform1f(uniform_place(name), value);
}
void set4(const char* name, float r, float g, float b, float a) {
  glUniform4f(uniform_place(name), r, g, b, a);
}

void triangles(const float* places, int size, int count) {
  glVertexAttribPointer(0, size, GL_FLOAT, GL_FALSE, 0, places);
  glEnableVertexAttribArray(0);
  glDrawArrays(GL_TRIANGLES, 0, count);
}
void square(float x0, float y0, float x1, float y1, float z) {
  const float places[] = {x0, y0, z, x1, y0, z, x1, y1, z, x0, y0, z, x1, y1, z, x0, y1, z};
  triangles(places, 3, 6);
}
void everything(void) {
  square(-1, -1, 1, 1, 0);
}
void slants(void) {
  static const float kPlaces[] = {-0.83f, -0.71f, 0.79f, -0.63f, 0.07f,  0.81f,
                                  -0.93f, 0.9f,   0.1f,  0.93f,  -0.87f, -0.2f};
  triangles(kPlaces, 2, 6);
}
void leaning(void) {
  static const float kPlaces[] = {-0.9f, -0.8f, -0.9f, 0.9f, -0.7f, 0.9f, -0.1f, 0.9f, 0.1f};
  triangles(kPlaces, 3, 3);
}

GLuint picture(GLenum format, int width, int height) {
  const GLuint made = make_picture(format, width, height);
  clear_frame(0);
  return made;
}

void fill_texels(unsigned char* texels, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) texels[i] = (unsigned char)((i * 37 + i / 64 * 11 + seed * 59) & 255);
}
