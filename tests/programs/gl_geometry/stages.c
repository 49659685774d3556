#include "stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char kGrid[] = GRID
    "out vec3 c; out vec4 q; void main() { gl_Position = vec4(place(gl_VertexID), 0.0, 1.0); c = paint(gl_VertexID);"
    " q = vec4(float(gl_VertexID), float(gl_InstanceID), 7.0, 0.5); }";
const char kFlat[] = "flat in vec3 f; out vec4 o; void main() { o = vec4(f, 1.0); }";

static GLuint shader(GLenum kind, const char* text) {
  return text == NULL ? 0 : make_shader(kind, gl_version() >= 40 ? "#version 400\n" : "#version 150\n", text);
}

GLuint use(const struct Stages* stages) {
  const GLuint program = glCreateProgram();
  const GLuint all[] = {shader(GL_VERTEX_SHADER, stages->vertex), shader(GL_TESS_CONTROL_SHADER, stages->control),
                        shader(GL_TESS_EVALUATION_SHADER, stages->evaluation),
                        shader(GL_GEOMETRY_SHADER, stages->geometry), shader(GL_FRAGMENT_SHADER, stages->fragment)};
  for (int i = 0; i < 5; ++i) {
    if (all[i] != 0) glAttachShader(program, all[i]);
  }
  int fed = 0;
  while (fed < 8 && stages->fed[fed] != NULL) ++fed;
  if (fed != 0) glTransformFeedbackVaryings(program, fed, stages->fed, stages->mode);
  link_program(program);
  return program;
}

void frame(void) {
  make_frame();
  attach_buffer(GL_COLOR_ATTACHMENT0, GL_RGBA8, 0, kSize, kSize);
  glViewport(0, 0, kSize, kSize);
  clear_frame(0);
}

GLuint feedback_buffer(unsigned index, size_t bytes) {
  GLuint made = 0;
  glGenBuffers(1, &made);
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, made);
  void* const start = malloc(bytes);
  memset(start, 0xcd, bytes);
  glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, (GLsizeiptr)bytes, start, GL_STATIC_READ);
  free(start);
  glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, index, made);
  return made;
}

void read_back(GLuint buffer, size_t bytes) {
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffer);
  const void* const from = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, (GLsizeiptr)bytes, GL_MAP_READ_BIT);
  if (from == NULL) fail("no bytes: ", scene()->name);
  memcpy(room(bytes), from, bytes);
  glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
}

void take_counts(const GLuint* queries, int count) {
  for (int i = 0; i < count; ++i) {
    GLuint counted = 0;
    glGetQueryObjectuiv(queries[i], GL_QUERY_RESULT, &counted);
    memcpy(room(sizeof counted), &counted, sizeof counted);
  }
}

void feed(GLenum primitive, GLenum topology, int vertices, int instances, size_t bytes) {
  GLuint queries[2];
  glEnable(GL_RASTERIZER_DISCARD);
  const GLuint buffer = feedback_buffer(0, bytes);
  glGenQueries(2, queries);
  glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, queries[0]);
  glBeginQuery(GL_PRIMITIVES_GENERATED, queries[1]);
  glBeginTransformFeedback(primitive);
  glDrawArraysInstanced(topology, 0, vertices, instances);
  glEndTransformFeedback();
  glEndQuery(GL_PRIMITIVES_GENERATED);
  glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
  take_counts(queries, 2);
  read_back(buffer, bytes);
  glDisable(GL_RASTERIZER_DISCARD);
}
