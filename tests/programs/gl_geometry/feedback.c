// Transform feedback of vertices, of geometry shaders and of four streams; and draws from the feedback buffer.
#include "stages.h"

static const char kAmplify[] =
    "layout(triangles) in; layout(triangle_strip, max_vertices = 8) out; in vec4 q[]; out vec4 fed; out float more;"
    "void main() { for (int i = 0; i < 8; ++i) { fed = q[i % 3] + float(i); more = float(gl_PrimitiveIDIn);"
    " gl_Position = vec4(0.0); EmitVertex(); if (i == 4) EndPrimitive(); } }";
static const char kTwice[] =  // strips of one triangle
    "layout(triangles) in; layout(triangle_strip, max_vertices = 6) out; in vec4 q[]; out vec4 fed; out float more;"
    "void main() { for (int i = 0; i < 6; ++i) { fed = q[i % 3] + float(i); more = float(gl_PrimitiveIDIn);"
    " gl_Position = vec4(0.0); EmitVertex(); if (i == 2) EndPrimitive(); } }";
static const char kFour[] =
    "layout(points) in; layout(points, max_vertices = 8) out; in vec4 q[]; layout(stream = 0) out vec4 a;"
    "layout(stream = 1) out vec2 b; layout(stream = 2) out float d; layout(stream = 3) out vec3 e;"
    "void main() { int n = int(q[0].x); a = q[0]; b = q[0].xz; d = q[0].x * 2.0; e = q[0].xyz + 1.0; gl_Position = "
    "q[0];"
    " if (n % 2 == 0) EmitStreamVertex(0); a = q[0] * 3.0; b = q[0].xz; EmitStreamVertex(1); d = q[0].x * 2.0;"
    " if (n % 3 == 0) EmitStreamVertex(2); e = q[0].xyz + 1.0; EmitStreamVertex(3); }";

struct Feed {
  const char* geometry;
  GLenum primitive, topology;
  int vertices, instances;
  size_t bytes;
};
static void fed(void) {
  const struct Feed* const it = scene()->with;
  struct Stages stages = {kGrid, NULL, NULL, it->geometry, NULL, {"gl_Position", "c", "q"}, GL_INTERLEAVED_ATTRIBS};
  if (it->geometry != NULL) {
    stages.fed[0] = "fed";
    stages.fed[1] = "more";
    stages.fed[2] = NULL;
  }
  frame();
  use(&stages);
  feed(it->primitive, it->topology, it->vertices, it->instances, it->bytes);
}

static void draw_back(int stream) {
  struct Stages stages = {kGrid, NULL, NULL, NULL, NULL, {"gl_Position", "c"}, GL_INTERLEAVED_ATTRIBS};
  frame();
  use(&stages);
  GLuint object = 0;
  glGenTransformFeedbacks(1, &object);
  glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, object);
  const GLuint buffer = feedback_buffer(0, 4096);
  glEnable(GL_RASTERIZER_DISCARD);
  glBeginTransformFeedback(GL_TRIANGLES);
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 5);
  glPauseTransformFeedback();
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 5);  // is not captured
  glResumeTransformFeedback();
  glDrawArrays(GL_TRIANGLES, 5, 6);
  glEndTransformFeedback();
  glDisable(GL_RASTERIZER_DISCARD);
  const struct Stages again = {"in vec4 p; in vec3 c; flat out vec3 f; void main() { gl_Position = p; f = c; }",
                               NULL,
                               NULL,
                               NULL,
                               kFlat,
                               {NULL},
                               0};
  const GLuint program = use(&again);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  const GLuint p = (GLuint)glGetAttribLocation(program, "p");
  const GLuint c = (GLuint)glGetAttribLocation(program, "c");
  glVertexAttribPointer(p, 4, GL_FLOAT, GL_FALSE, 28, (void*)0);
  glVertexAttribPointer(c, 3, GL_FLOAT, GL_FALSE, 28, (void*)16);
  glEnableVertexAttribArray(p);
  glEnableVertexAttribArray(c);
  if (stream) {
    glDrawTransformFeedbackStream(GL_TRIANGLES, object, 0);
  } else {
    glDrawTransformFeedback(GL_TRIANGLES, object);
  }
  take(kSize, kSize);
  glDisableVertexAttribArray(p);
  glDisableVertexAttribArray(c);
  glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0);
}

static void back(void) {
  draw_back(0);
}
static void back_stream(void) {
  draw_back(1);
}

static void four_streams(void) {
  const struct Stages stages = {kGrid,
                                NULL,
                                NULL,
                                kFour,
                                NULL,
                                {"a", "gl_NextBuffer", "b", "gl_NextBuffer", "d", "gl_NextBuffer", "e", NULL},
                                GL_INTERLEAVED_ATTRIBS};
  frame();
  use(&stages);
  GLuint buffers[4];
  GLuint queries[8];
  for (unsigned i = 0; i < 4; ++i) buffers[i] = feedback_buffer(i, i == 3 ? 100 : 1024);
  glGenQueries(8, queries);
  glEnable(GL_RASTERIZER_DISCARD);
  for (unsigned i = 0; i < 4; ++i) {
    glBeginQueryIndexed(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, i, queries[i]);
    glBeginQueryIndexed(GL_PRIMITIVES_GENERATED, i, queries[i + 4]);
  }
  glBeginTransformFeedback(GL_POINTS);
  glDrawArrays(GL_POINTS, 0, 16);
  glEndTransformFeedback();
  for (unsigned i = 0; i < 4; ++i) {
    glEndQueryIndexed(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, i);
    glEndQueryIndexed(GL_PRIMITIVES_GENERATED, i);
  }
  glDisable(GL_RASTERIZER_DISCARD);
  take_counts(queries, 8);
  for (unsigned i = 0; i < 4; ++i) read_back(buffers[i], i == 3 ? 100 : 1024);
}

const struct Scene kFeedbackScenes[] = {
    {"xfb_points", fed, &(const struct Feed){NULL, GL_POINTS, GL_POINTS, 11, 3, 4096}, 0, NULL},
    {"xfb_lines", fed, &(const struct Feed){NULL, GL_LINES, GL_LINE_LOOP, 7, 2, 4096}, 0, NULL},
    {"xfb_strip", fed, &(const struct Feed){NULL, GL_TRIANGLES, GL_TRIANGLE_STRIP, 9, 2, 4096}, 0, NULL},
    {"xfb_short", fed, &(const struct Feed){NULL, GL_TRIANGLES, GL_TRIANGLES, 15, 2, 700}, 0, NULL},
    {"xfb_geometry", fed, &(const struct Feed){kAmplify, GL_TRIANGLES, GL_TRIANGLE_STRIP, 7, 2, 4096}, 0, NULL},
    {"xfb_triangles", fed, &(const struct Feed){kTwice, GL_TRIANGLES, GL_TRIANGLES, 9, 2, 4096}, 0, NULL},
    {"xfb_four", four_streams, NULL, 40, NULL},
    {"back", back, NULL, 40, NULL},
    {"back_stream", back_stream, NULL, 40, NULL},
};
const size_t kFeedbackCount = sizeof kFeedbackScenes / sizeof kFeedbackScenes[0];
