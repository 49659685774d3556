// Geometry shaders of several topologies.
#include "stages.h"

static const char kQuads[] =
    "layout(points) in; layout(triangle_strip, max_vertices = 4) out; in vec3 c[]; flat out vec3 f;"
    "void main() { for (int i = 0; i < 4; ++i) { f = c[0] + float(gl_PrimitiveIDIn) * 0.015625;"
    " gl_Position = gl_in[0].gl_Position + vec4(float(i & 1) * 0.375, float(i >> 1) * 0.375, 0.0, 0.0); EmitVertex(); "
    "} }";
static const char kStrips[] =  // cuts, and a number of vertices that is not known in advance
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
    GRID
    "out B { vec4 v[12]; } b; void main() { gl_Position = vec4(place(gl_VertexID), 0.0, 1.0);"
    " for (int i = 0; i < 12; ++i) b.v[i] = vec4(paint(gl_VertexID + i), float(i)); }";
static const char kManyIn[] =
    "layout(triangles_adjacency) in; layout(triangle_strip, max_vertices = 3) out; in B { vec4 v[12]; } b[]; flat out "
    "vec3 f;"
    "void main() { for (int i = 0; i < 3; ++i) { f = vec3(0.0); for (int k = 0; k < 12; ++k) for (int n = 0; n < 6; "
    "++n)"
    " f += b[n].v[k].xyz * 0.0078125; gl_Position = gl_in[i * 2].gl_Position; EmitVertex(); } }";

struct Draw {
  const char *vertex, *geometry;
  GLenum topology;
  int vertices;
};
static void draw(void) {
  const struct Draw* const it = scene()->with;
  const struct Stages stages = {it->vertex, NULL, NULL, it->geometry, kFlat, {NULL}, 0};
  frame();
  use(&stages);
  glDrawArrays(it->topology, 0, it->vertices);
  take(kSize, kSize);
}

// The strip as a list in which every second triangle keeps its first vertex and exchanges the others.
static void leading(void) {
  enum { kTriangleCount = 14 };
  const struct Stages stages = {kGrid, NULL, NULL, kTriangles, kFlat, {NULL}, 0};
  unsigned short order[kTriangleCount * 3];
  for (int i = 0; i < kTriangleCount; ++i) {
    order[i * 3] = (unsigned short)i;
    order[i * 3 + 1] = (unsigned short)(i + 1 + i % 2);
    order[i * 3 + 2] = (unsigned short)(i + 2 - i % 2);
  }
  GLuint buffer = 0;
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffer);
  glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order, GL_STATIC_DRAW);
  frame();
  use(&stages);
  glDrawElements(GL_TRIANGLES, kTriangleCount * 3, GL_UNSIGNED_SHORT, NULL);
  take(kSize, kSize);
}

const struct Scene kGeometryScenes[] = {
    {"gs_points", draw, &(const struct Draw){kGrid, kQuads, GL_POINTS, 16}, 0, NULL},
    {"gs_cuts", draw, &(const struct Draw){kGrid, kStrips, GL_POINTS, 16}, 0, NULL},
    {"gs_strip", draw, &(const struct Draw){kGrid, kTriangles, GL_TRIANGLE_STRIP, 16}, 0, NULL},
    {"gs_fan", draw, &(const struct Draw){kGrid, kTriangles, GL_TRIANGLE_FAN, 13}, 0, NULL},
    {"gs_lines", draw, &(const struct Draw){kGrid, kLines, GL_LINE_STRIP, 14}, 0, NULL},
    {"gs_loop", draw, &(const struct Draw){kGrid, kLines, GL_LINE_LOOP, 11}, 0, NULL},
    {"gs_adjacent", draw, &(const struct Draw){kGrid, kAdjacent, GL_TRIANGLES_ADJACENCY, 12}, 0, NULL},
    {"gs_lines_adjacent", draw, &(const struct Draw){kGrid, kLinesAdjacent, GL_LINE_STRIP_ADJACENCY, 12}, 0, NULL},
    {"gs_many", draw, &(const struct Draw){kMany, kManyIn, GL_TRIANGLES_ADJACENCY, 12}, 0, NULL},
    {"gs_leading", leading, NULL, 0, NULL},
    {"gs_strip_adjacent", draw, &(const struct Draw){kGrid, kAdjacent, GL_TRIANGLE_STRIP_ADJACENCY, 16}, 40, NULL},
    {"gs_instances", draw, &(const struct Draw){kGrid, kInstances, GL_POINTS, 16}, 40, NULL},
};
const size_t kGeometryCount = sizeof kGeometryScenes / sizeof kGeometryScenes[0];
