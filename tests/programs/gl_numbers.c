// Measures how a depth compares with an equal clear value in buffers of 16, 24 and 32 bits, between which levels of a
// texture the sampler filters, and how many primitives queries count. tests/doors/numbers.py checks the results.
// usage: gl_numbers [-o FOLDER] [scene...]   writes FOLDER/SCENE.rgba. Depths: for each value the float and which of the
// eight functions pass, one bit each from GL_NEVER on. Levels: for each width of a pixel in texels the float and the
// colour, from 0 at level 0 to 255 at level 1. Counts: generated and written primitives of each draw.
#include <stdint.h>
#include <string.h>

#include "gl/frames.h"
#include "gl/scenes.h"

enum { kSize = 64, kValues = 48, kWidths = 33, kVertices = 12, kRoom = 4096, kLittle = 96 };

static const char* head(GLenum kind) {
  const int vertex = kind == GL_VERTEX_SHADER;
  if (gl_version() < 32) {
    return vertex ? "#version 120\n#define VARIES varying\n#define in attribute\n"
                  : "#version 120\n#define VARIES varying\n";
  }
  if (vertex) return "#version 150\n#define VARIES out\n";
  if (kind == GL_GEOMETRY_SHADER) return "#version 150\n";
  return "#version 150\nout vec4 colour;\n#define VARIES in\n#define gl_FragColor colour\n#define texture2D texture\n";
}

static void make_program(const char* vertex, const char* fragment) {
  const GLuint program = glCreateProgram();
  glAttachShader(program, make_shader(GL_VERTEX_SHADER, head(GL_VERTEX_SHADER), vertex));
  glAttachShader(program, make_shader(GL_FRAGMENT_SHADER, head(GL_FRAGMENT_SHADER), fragment));
  glBindAttribLocation(program, 0, "at");
  link_program(program);
}

// geometry may be NULL; streamed: its positions are captured.
static void use(const char* geometry, int streamed) {
  static const char* const kPlace = "gl_Position";
  const GLuint program = glCreateProgram();
  glAttachShader(program, make_shader(GL_VERTEX_SHADER, head(GL_VERTEX_SHADER),
                                      "in vec2 at;\nvoid main() { gl_Position = vec4(at, 0.0, 1.0); }\n"));
  if (geometry != NULL) glAttachShader(program, make_shader(GL_GEOMETRY_SHADER, head(GL_GEOMETRY_SHADER), geometry));
  glAttachShader(program, make_shader(GL_FRAGMENT_SHADER, head(GL_FRAGMENT_SHADER),
                                      "void main() { gl_FragColor = vec4(1.0); }\n"));
  glBindAttribLocation(program, 0, "at");
  if (streamed) glTransformFeedbackVaryings(program, 1, &kPlace, GL_INTERLEAVED_ATTRIBS);
  link_program(program);
}

static void corners(const GLfloat* at, size_t bytes) {
  GLuint buffer = 0;
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)bytes, at, GL_STATIC_DRAW);
  glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
  glEnableVertexAttribArray(0);
}

static int passes(GLenum function, float value) {
  unsigned char pixel[4];
  glDepthMask(GL_TRUE);
  glClearDepth(value);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  glDepthMask(GL_FALSE);
  glDepthFunc(function);
  glDepthRange(value, value);  // independent of z
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glReadPixels(kSize / 2, kSize / 2, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
  return pixel[0] != 0;
}

static void depths(void) {
  static const GLfloat kAll[] = {-1, -1, 3, -1, -1, 3};
  use(NULL, 0);
  corners(kAll, sizeof kAll);
  make_picture(GL_RGBA8, kSize, kSize);
  attach_buffer(GL_DEPTH_ATTACHMENT, *(const GLenum*)scene()->with, 0, kSize, kSize);
  glClearColor(0, 0, 0, 0);
  glEnable(GL_DEPTH_TEST);
  uint32_t random = 1;
  for (int i = 0; i < kValues; ++i) {
    random = random * 1664525u + 1013904223u;
    const float value = i < 9 ? (float)i / 8 : (float)(random >> 8) / (1 << 24);
    uint32_t passed = 0;
    for (int f = 0; f < 8; ++f) passed |= (uint32_t)passes(GL_NEVER + (GLenum)f, value) << f;
    memcpy(room(sizeof value), &value, sizeof value);
    memcpy(room(sizeof passed), &passed, sizeof passed);
  }
  glDisable(GL_DEPTH_TEST);
}

// Pixels have the given width in texels and half of it as height.
static void levels(void) {
  static const GLfloat kAll[] = {-1, -1, 3, -1, -1, 3};
  static unsigned char texels[kSize * kSize];
  make_program(
      "in vec2 at;\nVARIES vec2 v;\nuniform vec2 scale;\n"
      "void main() { gl_Position = vec4(at, 0.0, 1.0); v = (at * 0.5 + 0.5) * scale; }\n",
      "VARIES vec2 v;\nuniform sampler2D image;\nvoid main() { gl_FragColor = vec4(texture2D(image, v).x); }\n");
  corners(kAll, sizeof kAll);
  make_picture(GL_RGBA8, kSize, kSize);
  make_texture(GL_TEXTURE_2D);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_REPEAT);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  for (int level = 0; kSize >> level != 0; ++level) {
    memset(texels, level == 0 ? 0 : 255, sizeof texels);
    glTexImage2D(GL_TEXTURE_2D, level, gl_version() < 30 ? GL_LUMINANCE8 : GL_R8, kSize >> level, kSize >> level, 0,
                 gl_version() < 30 ? GL_LUMINANCE : GL_RED, GL_UNSIGNED_BYTE, texels);
  }
  for (int i = 0; i < kWidths; ++i) {
    const float width = 1 + (float)i / (kWidths - 1);
    unsigned char pixel[4];
    glUniform2f(uniform_place("scale"), width, width / 2);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glReadPixels(kSize / 2, kSize / 2, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    memcpy(room(sizeof width), &width, sizeof width);
    memcpy(room(sizeof pixel), pixel, sizeof pixel);
  }
}

// mode: primitive mode of the feedback; 0: no feedback.
static void count(GLenum topology, GLenum mode, int bytes) {
  static const GLenum kCounted[] = {GL_PRIMITIVES_GENERATED, GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN};
  GLuint queries[2], buffer = 0;
  glGenQueries(2, queries);
  glGenBuffers(1, &buffer);
  glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
  glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, bytes, NULL, GL_STREAM_READ);
  for (int i = 0; i < 2; ++i) glBeginQuery(kCounted[i], queries[i]);
  if (mode != 0) glBeginTransformFeedback(mode - 1);
  glDrawArrays(topology, 0, kVertices);
  if (mode != 0) glEndTransformFeedback();
  for (int i = 0; i < 2; ++i) {
    glEndQuery(kCounted[i]);
    glGetQueryObjectuiv(queries[i], GL_QUERY_RESULT, room(sizeof(GLuint)));
  }
}

static void prepare(void) {
  GLfloat at[2 * kVertices];
  for (int i = 0; i < 2 * kVertices; ++i) at[i] = (float)(i * 37 % 64) / 32 - 1;
  corners(at, sizeof at);
  make_picture(GL_RGBA8, kSize, kSize);
}

// Every topology, drawn or discarded: without feedback, with enough space, with too little.
static void counts(void) {
  static const GLenum kTopologies[][2] = {{GL_POINTS, GL_POINTS},         {GL_LINES, GL_LINES},
                                          {GL_LINE_STRIP, GL_LINES},      {GL_LINE_LOOP, GL_LINES},
                                          {GL_TRIANGLES, GL_TRIANGLES},   {GL_TRIANGLE_STRIP, GL_TRIANGLES},
                                          {GL_TRIANGLE_FAN, GL_TRIANGLES}};
  prepare();
  for (int discard = 0; discard < 2; ++discard) {
    if (discard) glEnable(GL_RASTERIZER_DISCARD);
    for (int i = 0; i < 7; ++i) {
      use(NULL, 0);
      count(kTopologies[i][0], 0, kRoom);
      use(NULL, 1);
      count(kTopologies[i][0], kTopologies[i][1] + 1, kRoom);
      count(kTopologies[i][0], kTopologies[i][1] + 1, kLittle);
    }
  }
  glDisable(GL_RASTERIZER_DISCARD);
}

// Geometry shaders that emit more triangles than they get, or fewer.
static void counts_geometry(void) {
  static const struct {
    GLenum kind;
    const char* text;
  } kShaders[] = {
      {GL_POINTS,
       "layout(triangles) in;\nlayout(points, max_vertices = 3) out;\nvoid main() {\n"
       "  for (int i = 0; i < 3; ++i) { gl_Position = gl_in[i].gl_Position; EmitVertex(); }\n}\n"},
      {GL_TRIANGLES,
       "layout(triangles) in;\nlayout(triangle_strip, max_vertices = 3) out;\nvoid main() {\n"
       "  if (gl_in[0].gl_Position.x > 0.0)\n"
       "    for (int i = 0; i < 3; ++i) { gl_Position = gl_in[i].gl_Position; EmitVertex(); }\n}\n"},
      {GL_TRIANGLES,
       "layout(triangles) in;\nlayout(triangle_strip, max_vertices = 5) out;\nvoid main() {\n"
       "  for (int i = 0; i < 5; ++i) { gl_Position = gl_in[i % 3].gl_Position; EmitVertex(); }\n}\n"},
  };
  prepare();
  for (int discard = 0; discard < 2; ++discard) {
    if (discard) glEnable(GL_RASTERIZER_DISCARD);
    for (int i = 0; i < 3; ++i) {
      use(kShaders[i].text, 0);
      count(GL_TRIANGLES, 0, kRoom);
      use(kShaders[i].text, 1);
      count(GL_TRIANGLES, kShaders[i].kind + 1, kRoom);
    }
  }
  glDisable(GL_RASTERIZER_DISCARD);
}

int main(int words, char** text) {
  static const GLenum kFormats[] = {GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT32F};
  static const struct Scene kScenes[] = {
      {"depth_16", depths, &kFormats[0], 0, NULL},  {"depth_24", depths, &kFormats[1], 0, NULL},
      {"depth_32", depths, &kFormats[2], 30, NULL}, {"levels", levels, NULL, 0, NULL},
      {"counts", counts, NULL, 30, NULL},           {"counts_geometry", counts_geometry, NULL, 32, NULL},
  };
  static const EGLint kCore[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 2, EGL_NONE};
  open_display(EGL_OPENGL_API);
  if (!make_context(kCore) && !make_context(NULL)) fail("no context", "");
  if (gl_version() >= 30) {
    GLuint array = 0;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
  }
  return run_scenes(words, text, kScenes, sizeof kScenes / sizeof kScenes[0], NULL, NULL);
}
