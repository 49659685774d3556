// GL programs without a window for the stages between vertices and pixels: geometry shaders of several topologies,
// transform feedback read back, tessellation. Scenes leave 64 x 64 pixels RGBA8, or the bytes that were fed back and
// what queries counted. Colours are flat and places lie on whole pixels, so that every right answer is the same one.
// usage: gl_geometry [-o FOLDER] [scene...]   without scenes: all that the context's version has; -o: their bytes, as
// FOLDER/SCENE.rgba. Exit 0: nothing failed and nothing hung.
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSize = 64, kBytes = 1 << 20 };
static unsigned char result[kBytes];
static size_t result_bytes;
static int version;  // 32, 40, ...

#define GL_PRIMITIVES_GENERATED_ANY 0x8C87
static void (*draw_feedback)(GLenum, GLuint);
static void (*draw_feedback_stream)(GLenum, GLuint, GLuint);
static void (*begin_query)(GLenum, GLuint, GLuint);
static void (*end_query)(GLenum, GLuint);

static GLuint shader(GLenum kind, const char* text) {
  if (text == NULL) return 0;
  char head[64];
  snprintf(head, sizeof head, "#version %d\n", version >= 40 ? 400 : 150);
  const char* const parts[] = {head, text};
  const GLuint made = glCreateShader(kind);
  glShaderSource(made, 2, parts, NULL);
  glCompileShader(made);
  GLint good = 0;
  glGetShaderiv(made, GL_COMPILE_STATUS, &good);
  if (!good) {
    char log[2048];
    glGetShaderInfoLog(made, sizeof log, NULL, log);
    fprintf(stderr, "a shader does not compile: %s\n", log);
    exit(1);
  }
  return made;
}

struct Stages {
  const char *vertex, *control, *evaluation, *geometry, *fragment;
  const char* fed[8];  // varyings that are fed back
  GLenum mode;
};

static GLuint use(const struct Stages* stages) {
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
  glLinkProgram(program);
  GLint good = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &good);
  if (!good) {
    char log[2048];
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    fprintf(stderr, "a program does not link: %s\n", log);
    exit(1);
  }
  glUseProgram(program);
  return program;
}

static void frame(void) {
  GLuint made = 0;
  GLuint buffer = 0;
  glGenFramebuffers(1, &made);
  glBindFramebuffer(GL_FRAMEBUFFER, made);
  glGenRenderbuffers(1, &buffer);
  glBindRenderbuffer(GL_RENDERBUFFER, buffer);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, kSize, kSize);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, buffer);
  glViewport(0, 0, kSize, kSize);
  glClearColor(0.25f, 0.5f, 0.75f, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

static void picture(void) {
  result_bytes = kSize * kSize * 4;
  glReadPixels(0, 0, kSize, kSize, GL_RGBA, GL_UNSIGNED_BYTE, result);
}

static GLuint feedback_buffer(unsigned index, size_t bytes) {
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

static void read_back(GLuint buffer, size_t bytes) {
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffer);
  const void* const from = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, (GLsizeiptr)bytes, GL_MAP_READ_BIT);
  if (from != NULL && result_bytes + bytes <= kBytes) memcpy(result + result_bytes, from, bytes);
  result_bytes += bytes;
  glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
}

static void add_number(unsigned number) {
  memcpy(result + result_bytes, &number, sizeof number);
  result_bytes += sizeof number;
}

// Feeds one draw back into one buffer and notes the two queries.
static void feed(GLenum primitive, GLenum topology, int vertices, int instances, size_t bytes) {
  GLuint queries[2];
  result_bytes = 0;
  const GLuint buffer = feedback_buffer(0, bytes);
  glGenQueries(2, queries);
  glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, queries[0]);
  glBeginQuery(GL_PRIMITIVES_GENERATED_ANY, queries[1]);
  glBeginTransformFeedback(primitive);
  glDrawArraysInstanced(topology, 0, vertices, instances);
  glEndTransformFeedback();
  glEndQuery(GL_PRIMITIVES_GENERATED_ANY);
  glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
  for (int i = 0; i < 2; ++i) {
    GLuint counted = 0;
    glGetQueryObjectuiv(queries[i], GL_QUERY_RESULT, &counted);
    add_number(counted);
  }
  read_back(buffer, bytes);
}

// Shaders ------------------------------------------------------------------------------------------------------------

// A grid of 4 x 4 places, in steps of a half; a number each.
#define GRID \
  "vec2 place(int i) { return vec2(float(i % 4), float(i / 4)) * 0.5 - 1.0; }\n" \
  "vec3 paint(int i) { return vec3(float(i % 5), float(i % 3), float(i % 7)) * 0.125; }\n"
static const char kGrid[] = GRID
    "out vec3 c; out vec4 q; void main() { gl_Position = vec4(place(gl_VertexID), 0.0, 1.0); c = paint(gl_VertexID);"
    " q = vec4(float(gl_VertexID), float(gl_InstanceID), 7.0, 0.5); }";
static const char kFlat[] = "flat in vec3 f; out vec4 o; void main() { o = vec4(f, 1.0); }";

static const char kQuads[] =
    "layout(points) in; layout(triangle_strip, max_vertices = 4) out; in vec3 c[]; flat out vec3 f;"
    "void main() { for (int i = 0; i < 4; ++i) { f = c[0] + float(gl_PrimitiveIDIn) * 0.015625;"
    " gl_Position = gl_in[0].gl_Position + vec4(float(i & 1) * 0.375, float(i >> 1) * 0.375, 0.0, 0.0); EmitVertex(); } }";
static const char kStrips[] =  // cuts, and a number of vertices that is not known before
    "layout(points) in; layout(triangle_strip, max_vertices = 24) out; in vec3 c[]; in vec4 q[]; flat out vec3 f;"
    "void main() { int n = int(q[0].x) % 4; for (int k = 0; k < n; ++k) { for (int i = 0; i < 4; ++i) {"
    " f = c[0] + float(k) * 0.0625; gl_Position = gl_in[0].gl_Position + vec4(float(i & 1) * 0.125 + float(k) * 0.125,"
    " float(i >> 1) * 0.125 + float(k) * 0.125, 0.0, 0.0); EmitVertex(); } EndPrimitive(); } }";
static const char kInstances[] =
    "layout(points, invocations = 5) in; layout(triangle_strip, max_vertices = 3) out; in vec3 c[]; flat out vec3 f;"
    "void main() { float k = float(gl_InvocationID); for (int i = 0; i < 3; ++i) { f = c[0] + k * 0.0625;"
    " gl_Position = gl_in[0].gl_Position + vec4(float(i & 1) * 0.25 + k * 0.0625, float(i >> 1) * 0.25, 0.0, 0.0);"
    " EmitVertex(); } }";
static const char kTriangles[] =  // the order of a strip's triangles shows in the colours
    "layout(triangles) in; layout(triangle_strip, max_vertices = 3) out; in vec3 c[]; flat out vec3 f;"
    "void main() { for (int i = 0; i < 3; ++i) { f = c[0] * 0.5 + c[1] * 0.25 + c[2] * 0.125;"
    " gl_Position = gl_in[i].gl_Position * vec4(0.5, 0.5, 1.0, 1.0); EmitVertex(); } }";
static const char kAdjacent[] =
    "layout(triangles_adjacency) in; layout(triangle_strip, max_vertices = 6) out; in vec3 c[]; flat out vec3 f;"
    "void main() { for (int i = 0; i < 6; ++i) { f = c[1] * 0.5 + c[3] * 0.25 + c[5] * 0.125;"
    " gl_Position = gl_in[i].gl_Position; EmitVertex(); if (i == 2) EndPrimitive(); } }";
static const char kLines[] =
    "layout(lines) in; layout(triangle_strip, max_vertices = 4) out; in vec3 c[]; flat out vec3 f;"
    "void main() { for (int i = 0; i < 4; ++i) { f = c[i >> 1];"
    " gl_Position = gl_in[i >> 1].gl_Position + vec4(0.0, float(i & 1) * 0.25, 0.0, 0.0); EmitVertex(); } }";
static const char kLinesAdjacent[] =
    "layout(lines_adjacency) in; layout(triangle_strip, max_vertices = 4) out; in vec3 c[]; flat out vec3 f;"
    "void main() { for (int i = 0; i < 4; ++i) { f = c[3 - i];"
    " gl_Position = gl_in[i].gl_Position + vec4(0.0, float(i & 1) * 0.25, 0.0, 0.0); EmitVertex(); } }";
static const char kMany[] =  // more inputs than registers
    GRID "out B { vec4 v[12]; } b; void main() { gl_Position = vec4(place(gl_VertexID), 0.0, 1.0);"
         " for (int i = 0; i < 12; ++i) b.v[i] = vec4(paint(gl_VertexID + i), float(i)); }";
static const char kManyIn[] =
    "layout(triangles_adjacency) in; layout(triangle_strip, max_vertices = 3) out; in B { vec4 v[12]; } b[]; flat out vec3 f;"
    "void main() { for (int i = 0; i < 3; ++i) { f = vec3(0.0); for (int k = 0; k < 12; ++k) for (int n = 0; n < 6; ++n)"
    " f += b[n].v[k].xyz * 0.0078125; gl_Position = gl_in[i * 2].gl_Position; EmitVertex(); } }";
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
    "void main() { int n = int(q[0].x); a = q[0]; b = q[0].xz; d = q[0].x * 2.0; e = q[0].xyz + 1.0; gl_Position = q[0];"
    " if (n % 2 == 0) EmitStreamVertex(0); a = q[0] * 3.0; b = q[0].xz; EmitStreamVertex(1); d = q[0].x * 2.0;"
    " if (n % 3 == 0) EmitStreamVertex(2); e = q[0].xyz + 1.0; EmitStreamVertex(3); }";

static const char kCorners[] =
    "out vec2 k; void main() { int i = gl_VertexID % 4; k = vec2(float(i & 1), float(i >> 1)) * 1.5 - 0.75;"
    " gl_Position = vec4(k, 0.0, 1.0); }";

struct Tessellation {
  const char* name;
  const char* layout;
  const char* levels;
};
static const struct Tessellation kTessellations[] = {
    {"tri_equal", "triangles, equal_spacing, ccw", "3.0, 4.0, 5.0, 1.0|6.0, 1.0"},
    {"tri_ones", "triangles, equal_spacing, cw", "1.0, 1.0, 1.0, 1.0|1.0, 1.0"},
    {"tri_inner", "triangles, equal_spacing, cw", "2.0, 1.0, 1.0, 1.0|1.0, 1.0"},
    {"tri_odd", "triangles, fractional_odd_spacing, ccw", "3.3, 4.7, 5.1, 1.0|6.6, 1.0"},
    {"tri_odd_one", "triangles, fractional_odd_spacing, ccw", "1.0, 3.5, 1.0, 1.0|1.0, 1.0"},
    {"tri_even", "triangles, fractional_even_spacing, cw", "3.3, 14.7, 5.1, 1.0|9.4, 1.0"},
    {"tri_most", "triangles, fractional_odd_spacing, cw", "100.0, 9.0, 63.0, 1.0|64.0, 1.0"},
    {"tri_points", "triangles, equal_spacing, ccw, point_mode", "3.0, 4.0, 5.0, 1.0|6.0, 1.0"},
    {"tri_none", "triangles, equal_spacing, ccw", "3.0, 0.0, 5.0, 1.0|6.0, 1.0"},
    {"quad_equal", "quads, equal_spacing, ccw", "3.0, 4.0, 5.0, 6.0|7.0, 4.0"},
    {"quad_even_in", "quads, equal_spacing, ccw", "3.0, 4.0, 5.0, 6.0|8.0, 4.0"},
    {"quad_odd_in", "quads, equal_spacing, cw", "1.0, 8.0, 2.0, 9.0|3.0, 7.0"},
    {"quad_wide", "quads, equal_spacing, cw", "1.0, 8.0, 2.0, 9.0|9.0, 5.0"},
    {"quad_ones", "quads, equal_spacing, cw", "1.0, 1.0, 1.0, 1.0|1.0, 1.0"},
    {"quad_one_in", "quads, equal_spacing, cw", "4.0, 1.0, 1.0, 3.0|1.0, 5.0"},
    {"quad_odd", "quads, fractional_odd_spacing, ccw", "3.2, 4.9, 5.5, 6.1|7.7, 4.4"},
    {"quad_even", "quads, fractional_even_spacing, cw", "1.2, 14.9, 5.5, 6.1|7.7, 12.4"},
    {"quad_most", "quads, fractional_even_spacing, cw", "64.0, 64.0, 64.0, 64.0|64.0, 64.0"},
    {"quad_points", "quads, fractional_even_spacing, point_mode", "1.2, 4.9, 5.5, 6.1|7.7, 12.4"},
    {"line_equal", "isolines, equal_spacing", "4.0, 7.0, 1.0, 1.0|1.0, 1.0"},
    {"line_odd", "isolines, fractional_odd_spacing", "3.4, 6.3, 1.0, 1.0|1.0, 1.0"},
    {"line_even", "isolines, fractional_even_spacing", "1.0, 5.2, 1.0, 1.0|1.0, 1.0"},
};
enum { kTessellationCount = sizeof kTessellations / sizeof kTessellations[0] };

static char control_text[2048];
static char evaluation_text[2048];

// `vertices`: of the output patch; each is made by an invocation of its own and read by another behind a barrier.
static void tessellation_shaders(const struct Tessellation* one, int vertices, int fed) {
  float o[4] = {0};
  float i[2] = {0};
  sscanf(one->levels, "%f, %f, %f, %f|%f, %f", &o[0], &o[1], &o[2], &o[3], &i[0], &i[1]);
  const int lines = strstr(one->layout, "isolines") != NULL;
  const int triangles = strstr(one->layout, "triangles") != NULL;
  char levels[512];
  int at = snprintf(levels, sizeof levels, "gl_TessLevelOuter[0] = %f; gl_TessLevelOuter[1] = %f;", o[0], o[1]);
  if (!lines) {
    at += snprintf(levels + at, sizeof levels - (size_t)at, "gl_TessLevelOuter[2] = %f; gl_TessLevelInner[0] = %f;",
                   o[2], i[0]);
  }
  if (!lines && !triangles) {
    snprintf(levels + at, sizeof levels - (size_t)at, "gl_TessLevelOuter[3] = %f; gl_TessLevelInner[1] = %f;", o[3],
             i[1]);
  }
  snprintf(control_text, sizeof control_text,
           "layout(vertices = %d) out; in vec2 k[]; out vec2 s[]; out vec2 n[]; patch out float whole;"
           "void main() { s[gl_InvocationID] = k[gl_InvocationID %% 4]; barrier();"
           " n[gl_InvocationID] = s[(gl_InvocationID + 1) %% %d]; whole = float(gl_PrimitiveID); %s }",
           vertices, vertices, levels);
  snprintf(evaluation_text, sizeof evaluation_text,
           "layout(%s) in; in vec2 s[]; in vec2 n[]; patch in float whole; %s vec3 f; out vec4 fed; void main() {"
           " vec3 t = gl_TessCoord; fed = vec4(t, whole + float(gl_PrimitiveID));"
           " vec2 p = mix(mix(s[0], s[1], t.x), mix(s[2], s[3], t.x), t.y); f = vec3(t.xy, n[0].x);"
           " gl_Position = vec4(p, 0.0, 1.0); }",
           one->layout, fed ? "out" : "flat out");
}

// Scenes -------------------------------------------------------------------------------------------------------------

static void geometry_scene(const char* vertex, const char* geometry, GLenum topology, int vertices) {
  const struct Stages stages = {vertex, NULL, NULL, geometry, kFlat, {NULL}, 0};
  frame();
  use(&stages);
  glDrawArrays(topology, 0, vertices);
  picture();
}

// What a strip becomes when its second triangles keep their first vertex and the others change places.
static void leading_scene(int triangles) {
  const struct Stages stages = {kGrid, NULL, NULL, kTriangles, kFlat, {NULL}, 0};
  unsigned short order[64 * 3];
  for (int i = 0; i < triangles; ++i) {
    order[i * 3] = (unsigned short)i;
    order[i * 3 + 1] = (unsigned short)(i + 1 + i % 2);
    order[i * 3 + 2] = (unsigned short)(i + 2 - i % 2);
  }
  GLuint buffer = 0;
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffer);
  glBufferData(GL_ELEMENT_ARRAY_BUFFER, triangles * 3 * 2, order, GL_STATIC_DRAW);
  frame();
  use(&stages);
  glDrawElements(GL_TRIANGLES, triangles * 3, GL_UNSIGNED_SHORT, NULL);
  picture();
}

static int tessellation_scene(const char* name) {
  const int fed = strncmp(name, "fed_", 4) == 0;
  for (int i = 0; i < kTessellationCount; ++i) {
    const struct Tessellation* const one = &kTessellations[i];
    if (strcmp(one->name, name + (fed ? 4 : 5)) != 0) continue;
    const int points = strstr(one->layout, "point_mode") != NULL;
    const int lines = strstr(one->layout, "isolines") != NULL;
    const int vertices = i % 3 == 0 ? 4 : i % 3 == 1 ? 9 : 32;
    tessellation_shaders(one, vertices, fed);
    struct Stages stages = {kCorners, control_text, evaluation_text, NULL, kFlat, {NULL}, GL_INTERLEAVED_ATTRIBS};
    if (fed) {
      stages.fed[0] = "fed";
      stages.fragment = NULL;
    }
    frame();
    use(&stages);
    glPatchParameteri(GL_PATCH_VERTICES, 4);
    if (!fed) {
      glDrawArrays(GL_PATCHES, 0, 4);
      picture();
      return 1;
    }
    glEnable(GL_RASTERIZER_DISCARD);
    feed(points ? GL_POINTS : lines ? GL_LINES : GL_TRIANGLES, GL_PATCHES, 8, 1, 900000);
    glDisable(GL_RASTERIZER_DISCARD);
    return 1;
  }
  return 0;
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
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 5);  // goes nowhere
  glResumeTransformFeedback();
  glDrawArrays(GL_TRIANGLES, 5, 6);
  glEndTransformFeedback();
  glDisable(GL_RASTERIZER_DISCARD);
  const struct Stages again = {
      "in vec4 p; in vec3 c; flat out vec3 f; void main() { gl_Position = p; f = c; }", NULL, NULL, NULL, kFlat, {NULL}, 0};
  const GLuint program = use(&again);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  const GLuint p = (GLuint)glGetAttribLocation(program, "p");
  const GLuint c = (GLuint)glGetAttribLocation(program, "c");
  glVertexAttribPointer(p, 4, GL_FLOAT, GL_FALSE, 28, (void*)0);
  glVertexAttribPointer(c, 3, GL_FLOAT, GL_FALSE, 28, (void*)16);
  glEnableVertexAttribArray(p);
  glEnableVertexAttribArray(c);
  if (stream) {
    draw_feedback_stream(GL_TRIANGLES, object, 0);
  } else {
    draw_feedback(GL_TRIANGLES, object);
  }
  picture();
  glDisableVertexAttribArray(p);
  glDisableVertexAttribArray(c);
  glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0);
}

static void four_streams(void) {
  const struct Stages stages = {kGrid,
                                NULL,
                                NULL,
                                kFour,
                                NULL,
                                {"a", "gl_NextBuffer", "b", "gl_NextBuffer", "d", "gl_NextBuffer", "e", NULL},
                                GL_INTERLEAVED_ATTRIBS};
  use(&stages);
  GLuint buffers[4];
  GLuint queries[8];
  result_bytes = 0;
  for (unsigned i = 0; i < 4; ++i) buffers[i] = feedback_buffer(i, i == 3 ? 100 : 1024);
  glGenQueries(8, queries);
  glEnable(GL_RASTERIZER_DISCARD);
  for (unsigned i = 0; i < 4; ++i) {
    begin_query(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, i, queries[i]);
    begin_query(GL_PRIMITIVES_GENERATED_ANY, i, queries[i + 4]);
  }
  glBeginTransformFeedback(GL_POINTS);
  glDrawArrays(GL_POINTS, 0, 16);
  glEndTransformFeedback();
  for (unsigned i = 0; i < 4; ++i) {
    end_query(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, i);
    end_query(GL_PRIMITIVES_GENERATED_ANY, i);
  }
  glDisable(GL_RASTERIZER_DISCARD);
  for (unsigned i = 0; i < 8; ++i) {
    GLuint counted = 0;
    glGetQueryObjectuiv(queries[i], GL_QUERY_RESULT, &counted);
    add_number(counted);
  }
  for (unsigned i = 0; i < 4; ++i) read_back(buffers[i], i == 3 ? 100 : 1024);
}

static int draw(const char* scene) {
  const int discard = strncmp(scene, "xfb_", 4) == 0;
  if (strcmp(scene, "gs_points") == 0) return geometry_scene(kGrid, kQuads, GL_POINTS, 16), 1;
  if (strcmp(scene, "gs_cuts") == 0) return geometry_scene(kGrid, kStrips, GL_POINTS, 16), 1;
  if (strcmp(scene, "gs_strip") == 0) return geometry_scene(kGrid, kTriangles, GL_TRIANGLE_STRIP, 16), 1;
  if (strcmp(scene, "gs_leading") == 0) return leading_scene(14), 1;
  if (strcmp(scene, "gs_fan") == 0) return geometry_scene(kGrid, kTriangles, GL_TRIANGLE_FAN, 13), 1;
  if (strcmp(scene, "gs_lines") == 0) return geometry_scene(kGrid, kLines, GL_LINE_STRIP, 14), 1;
  if (strcmp(scene, "gs_loop") == 0) return geometry_scene(kGrid, kLines, GL_LINE_LOOP, 11), 1;
  if (strcmp(scene, "gs_adjacent") == 0) return geometry_scene(kGrid, kAdjacent, GL_TRIANGLES_ADJACENCY, 12), 1;
  if (strcmp(scene, "gs_strip_adjacent") == 0) {
    return geometry_scene(kGrid, kAdjacent, GL_TRIANGLE_STRIP_ADJACENCY, 16), 1;
  }
  if (strcmp(scene, "gs_lines_adjacent") == 0) {
    return geometry_scene(kGrid, kLinesAdjacent, GL_LINE_STRIP_ADJACENCY, 12), 1;
  }
  if (strcmp(scene, "gs_many") == 0) return geometry_scene(kMany, kManyIn, GL_TRIANGLES_ADJACENCY, 12), 1;
  if (strcmp(scene, "gs_instances") == 0) return geometry_scene(kGrid, kInstances, GL_POINTS, 16), 1;
  if (strcmp(scene, "back") == 0) return draw_back(0), 1;
  if (strcmp(scene, "back_stream") == 0) return draw_back(1), 1;
  if (discard) {
    struct Stages stages = {kGrid, NULL, NULL, NULL, NULL, {"gl_Position", "c", "q"}, GL_INTERLEAVED_ATTRIBS};
    frame();
    if (strcmp(scene, "xfb_four") == 0) return four_streams(), 1;
    if (strcmp(scene, "xfb_geometry") == 0 || strcmp(scene, "xfb_triangles") == 0) {
      stages.geometry = strcmp(scene, "xfb_geometry") == 0 ? kAmplify : kTwice;
      stages.fed[0] = "fed";
      stages.fed[1] = "more";
      stages.fed[2] = NULL;
    }
    use(&stages);
    glEnable(GL_RASTERIZER_DISCARD);
    if (strcmp(scene, "xfb_points") == 0) feed(GL_POINTS, GL_POINTS, 11, 3, 4096);
    if (strcmp(scene, "xfb_lines") == 0) feed(GL_LINES, GL_LINE_LOOP, 7, 2, 4096);
    if (strcmp(scene, "xfb_strip") == 0) feed(GL_TRIANGLES, GL_TRIANGLE_STRIP, 9, 2, 4096);
    if (strcmp(scene, "xfb_short") == 0) feed(GL_TRIANGLES, GL_TRIANGLES, 15, 2, 700);
    if (strcmp(scene, "xfb_triangles") == 0) feed(GL_TRIANGLES, GL_TRIANGLES, 9, 2, 4096);
    if (strcmp(scene, "xfb_geometry") == 0) feed(GL_TRIANGLES, GL_TRIANGLE_STRIP, 7, 2, 4096);
    glDisable(GL_RASTERIZER_DISCARD);
    return 1;
  }
  return tessellation_scene(scene);
}

static void save(const char* folder, const char* scene) {
  char name[4096];
  snprintf(name, sizeof name, "%s/%s.rgba", folder, scene);
  FILE* const file = fopen(name, "wb");
  if (file == NULL || fwrite(result, 1, result_bytes, file) != result_bytes) {
    fprintf(stderr, "%s cannot be written\n", name);
  }
  if (file != NULL) fclose(file);
}

static int one(const char* folder, const char* scene) {
  if (!draw(scene)) return fprintf(stderr, "no scene has the name %s\n", scene), 1;
  glFinish();
  const GLenum error = glGetError();
  if (error != GL_NO_ERROR) return fprintf(stderr, "%s: GL error %x\n", scene, error), 1;
  if (folder != NULL) save(folder, scene);
  unsigned long sum = 0;
  for (size_t at = 0; at < result_bytes; ++at) sum = sum * 31 + result[at];
  printf("%s %016lx\n", scene, sum);
  fflush(stdout);
  return 0;
}

int main(int count, char** names) {
  const char* folder = NULL;
  if (count > 2 && strcmp(names[1], "-o") == 0) {
    folder = names[2];
    count -= 2;
    names += 2;
  }
  EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  if (!eglInitialize(display, NULL, NULL)) return fprintf(stderr, "no display\n"), 1;
  eglBindAPI(EGL_OPENGL_API);
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = NULL;
  EGLint found = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &found) || found == 0) return fprintf(stderr, "no config\n"), 1;
  EGLContext context = EGL_NO_CONTEXT;
  static const int versions[] = {45, 40, 32};
  for (int i = 0; i < 3 && context == EGL_NO_CONTEXT; ++i) {
    version = versions[i];
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, version / 10, EGL_CONTEXT_MINOR_VERSION, version % 10,
                                 EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
    context = eglCreateContext(display, config, EGL_NO_CONTEXT, attributes);
  }
  if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) return fprintf(stderr, "no context\n"), 1;
  *(void**)&draw_feedback = (void*)eglGetProcAddress("glDrawTransformFeedback");
  *(void**)&draw_feedback_stream = (void*)eglGetProcAddress("glDrawTransformFeedbackStream");
  *(void**)&begin_query = (void*)eglGetProcAddress("glBeginQueryIndexed");
  *(void**)&end_query = (void*)eglGetProcAddress("glEndQueryIndexed");
  GLuint array = 0;
  glGenVertexArrays(1, &array);
  glBindVertexArray(array);
  for (int i = 1; i < count; ++i) {
    if (one(folder, names[i]) != 0) return 1;
  }
  if (count > 1) return 0;
  static const char* const all[] = {"gs_points",  "gs_cuts",           "gs_strip",          "gs_fan",     "gs_lines",
                                    "gs_loop",    "gs_adjacent",       "gs_lines_adjacent", "gs_many",    "xfb_points",
                                    "xfb_lines",  "xfb_strip",         "xfb_short",         "xfb_geometry",
                                    "gs_leading", "xfb_triangles"};
  static const char* const later[] = {"gs_strip_adjacent", "gs_instances", "xfb_four", "back", "back_stream"};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    if (one(folder, all[i]) != 0) return 1;
  }
  for (size_t i = 0; version >= 40 && i < sizeof later / sizeof later[0]; ++i) {
    if (one(folder, later[i]) != 0) return 1;
  }
  for (int i = 0; version >= 40 && i < kTessellationCount; ++i) {
    char name[64];
    const int flat = strstr(kTessellations[i].name, "point") == NULL && strncmp(kTessellations[i].name, "line", 4) != 0;
    snprintf(name, sizeof name, "tess_%s", kTessellations[i].name);
    if (flat && one(folder, name) != 0) return 1;
    snprintf(name, sizeof name, "fed_%s", kTessellations[i].name);
    if (one(folder, name) != 0) return 1;
  }
  eglTerminate(display);
  return 0;
}
