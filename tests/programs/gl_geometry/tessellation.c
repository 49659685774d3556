// Tessellation: domains and spacings, drawn and captured.
#include <stdio.h>
#include <string.h>

#include "stages.h"

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

// `vertices`: size of the output patch; one invocation makes each vertex and another reads it after a barrier.
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

static void tessellate(int is_fed) {
  const struct Tessellation* const one = scene()->with;
  static const int kVertices[] = {4, 9, 32};
  tessellation_shaders(one, kVertices[(one - kTessellations) % 3], is_fed);
  struct Stages stages = {kCorners, control_text, evaluation_text, NULL, kFlat, {NULL}, GL_INTERLEAVED_ATTRIBS};
  if (is_fed) {
    stages.fed[0] = "fed";
    stages.fragment = NULL;
  }
  frame();
  use(&stages);
  glPatchParameteri(GL_PATCH_VERTICES, 4);
}
static void drawn(void) {
  tessellate(0);
  glDrawArrays(GL_PATCHES, 0, 4);
  take(kSize, kSize);
}
static void fed(void) {
  tessellate(1);
  const struct Tessellation* const one = scene()->with;
  const int points = strstr(one->layout, "point_mode") != NULL;
  const int lines = strstr(one->layout, "isolines") != NULL;
  feed(points ? GL_POINTS : lines ? GL_LINES : GL_TRIANGLES, GL_PATCHES, 8, 1, 900000);
}

// Triangles are drawn, and all primitives are captured.
size_t tessellation_scenes(struct Scene* rows, size_t most) {
  static char names[kTessellationCount * 2][32];
  size_t count = 0;
  for (int i = 0; i < kTessellationCount; ++i) {
    const struct Tessellation* const one = &kTessellations[i];
    const int flat = strstr(one->name, "point") == NULL && strncmp(one->name, "line", 4) != 0;
    for (int is_fed = !flat; is_fed < 2; ++is_fed) {
      if (count == most) fail("too many scenes", "");
      snprintf(names[count], sizeof names[count], "%s_%s", is_fed ? "fed" : "tess", one->name);
      rows[count] = (struct Scene){names[count], is_fed ? fed : drawn, one, 40, NULL};
      ++count;
    }
  }
  return count;
}
