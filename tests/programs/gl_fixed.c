// Scenes of the fixed functions of OpenGL 1 and 2: kinds of primitives, shading, clipping, patterns, tests; 64 x 64
// pixels, RGBA8. tests/doors/fixed.py checks the pictures. Exit status 0: no error.
// usage: gl_fixed [-o FOLDER] [scene...]   default: all scenes; -o: writes their pixels as FOLDER/SCENE.rgba
#include "gl/frames.h"
#include "gl/scenes.h"

enum { kSize = 64 };

// Corners with colours, the same in each scene.
static int next;
static void corner(float x, float y) {
  static const GLubyte kColours[6][3] = {{255, 64, 32}, {32, 255, 64}, {64, 32, 255},
                                         {255, 255, 0}, {0, 255, 255}, {255, 0, 255}};
  glColor3ubv(kColours[next++ % 6]);
  glVertex2f(x, y);
}

static void draw(GLenum kind, const float* places, int count) {
  glBegin(kind);
  for (int i = 0; i < count; ++i) corner(places[i * 2], places[i * 2 + 1]);
  glEnd();
}
#define DRAW(kind, places) draw(kind, places, (int)(sizeof(places) / sizeof(float) / 2))

// Points whose window coordinates are next to pixel centres and edges.
static const float kPoints[] = {-0.71f, -0.69f, -0.3f,  0.11f, 0.27f, -0.43f,
                                0.61f,  0.57f,  -0.55f, 0.67f, 0.83f, -0.77f};
static const float kStar[] = {-0.83f, -0.81f, 0.77f, 0.73f,  -0.79f, 0.31f, 0.81f, -0.27f,
                              -0.21f, 0.85f,  0.33f, -0.87f, -0.9f,  0.07f, 0.9f,  0.11f};
static const float kThree[] = {-0.83f, -0.71f, 0.79f, -0.63f, 0.07f, 0.81f};
static const float kStrip[] = {-0.91f, -0.53f, -0.87f, 0.61f, -0.37f, -0.71f, -0.29f, 0.43f,
                               0.21f,  -0.57f, 0.31f,  0.79f, 0.87f,  -0.47f, 0.83f,  0.51f};
static const float kAround[] = {0.03f,  0.01f, 0.83f,  -0.11f, 0.43f,  0.77f,
                                -0.41f, 0.81f, -0.87f, 0.13f,  -0.31f, -0.79f};
static const float kQuads[] = {-0.83f, -0.79f, -0.11f, -0.87f, -0.07f, 0.71f, -0.77f, 0.63f,
                               0.13f,  -0.61f, 0.81f,  -0.83f, 0.87f,  0.79f, 0.17f,  0.57f};
static const float kFive[] = {-0.61f, -0.83f, 0.57f, -0.77f, 0.87f, 0.21f, 0.03f, 0.87f, -0.83f, 0.13f};

static void points(void) {
  DRAW(GL_POINTS, kPoints);
}
static void wide_points(void) {
  glPointSize(7);
  DRAW(GL_POINTS, kPoints);
}
static void sprites(void) {
  static const GLubyte kTexels[] = {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 0, 255};
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 2, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, kTexels);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexEnvi(GL_POINT_SPRITE, GL_COORD_REPLACE, GL_TRUE);
  glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
  glEnable(GL_POINT_SPRITE);
  glEnable(GL_TEXTURE_2D);
  glPointSize(12);
  DRAW(GL_POINTS, kPoints);
}
static void lines(void) {
  DRAW(GL_LINES, kStar);
}
static void line_strip(void) {
  DRAW(GL_LINE_STRIP, kStar);
}
static void line_loop(void) {
  DRAW(GL_LINE_LOOP, kFive);
}
static void flat_lines(void) {
  glShadeModel(GL_FLAT);
  DRAW(GL_LINE_LOOP, kFive);
}
static void wide_lines(void) {
  glLineWidth(5);
  DRAW(GL_LINES, kStar);
}
static void line_stipple(void) {
  glLineStipple(2, 0x5f35);
  glEnable(GL_LINE_STIPPLE);
  DRAW(GL_LINES, kStar);
}
static void strip_stipple(void) {
  glLineStipple(3, 0x5f35);
  glEnable(GL_LINE_STIPPLE);
  DRAW(GL_LINE_STRIP, kStar);
}
static void smooth(float width) {
  glEnable(GL_LINE_SMOOTH);
  glEnable(GL_BLEND);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  glLineWidth(width);
  DRAW(GL_LINES, kStar);
}
static void smooth_lines(void) {
  smooth(3);
}
static void thin_smooth_lines(void) {
  smooth(1);
}
static void triangle(void) {
  DRAW(GL_TRIANGLES, kThree);
}
static void strip(void) {
  DRAW(GL_TRIANGLE_STRIP, kStrip);
}
static void fan(void) {
  DRAW(GL_TRIANGLE_FAN, kAround);
}
static void quads(void) {
  DRAW(GL_QUADS, kQuads);
}
static void quad_strip(void) {
  DRAW(GL_QUAD_STRIP, kStrip);
}
static void polygon(void) {
  DRAW(GL_POLYGON, kFive);
}
static void flat(void (*scene)(void)) {
  glShadeModel(GL_FLAT);
  scene();
}
static void flat_triangle(void) {
  flat(triangle);
}
static void flat_strip(void) {
  flat(strip);
}
static void flat_fan(void) {
  flat(fan);
}
static void flat_quads(void) {
  flat(quads);
}
static void flat_quad_strip(void) {
  flat(quad_strip);
}
static void flat_polygon(void) {
  flat(polygon);
}
static void outlines(void) {
  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  DRAW(GL_TRIANGLES, kThree);
  DRAW(GL_QUADS, kQuads);
}
static void outline_polygon(void) {
  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  DRAW(GL_POLYGON, kFive);
}
// Some edges of each polygon have a false edge flag.
static void edge_flags(void) {
  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  glBegin(GL_QUADS);
  for (int i = 0; i < 8; ++i) {
    glEdgeFlag(i % 3 != 1);
    corner(kQuads[i * 2], kQuads[i * 2 + 1]);
  }
  glEnd();
  glBegin(GL_TRIANGLES);
  for (int i = 0; i < 3; ++i) {
    glEdgeFlag(i != 2);
    corner(kThree[i * 2], kThree[i * 2 + 1]);
  }
  glEnd();
  glBegin(GL_POLYGON);
  for (int i = 0; i < 5; ++i) {
    glEdgeFlag(i != 3);
    corner(kFive[i * 2], kFive[i * 2 + 1]);
  }
  glEnd();
  glEdgeFlag(GL_TRUE);
}
static void corners(void) {
  glPolygonMode(GL_FRONT_AND_BACK, GL_POINT);
  glPointSize(3);
  DRAW(GL_TRIANGLES, kThree);
  DRAW(GL_QUADS, kQuads);
}
static void one_side_filled(void) {
  glPolygonMode(GL_BACK, GL_LINE);
  DRAW(GL_TRIANGLE_FAN, kAround);
  static const float kBack[] = {-0.8f, 0.8f, 0.8f, 0.8f, 0, -0.8f};
  DRAW(GL_TRIANGLES, kBack);
}
static void two_sides(void) {
  static const char* const kVertex =
      "void main() { gl_Position = gl_Vertex; gl_FrontColor = gl_Color; gl_BackColor = vec4(1.0) - gl_Color; }";
  const GLuint program = glCreateProgram();
  glAttachShader(program, make_shader(GL_VERTEX_SHADER, "", kVertex));
  link_program(program);
  glEnable(GL_VERTEX_PROGRAM_TWO_SIDE);
  DRAW(GL_TRIANGLES, kThree);
  static const float kBack[] = {-0.8f, 0.83f, -0.07f, 0.77f, -0.77f, -0.61f};
  DRAW(GL_TRIANGLES, kBack);
  glUseProgram(0);
}
static void culled(void) {
  glEnable(GL_CULL_FACE);
  DRAW(GL_TRIANGLES, kThree);
  static const float kBack[] = {-0.8f, 0.83f, -0.07f, 0.77f, -0.77f, -0.61f};
  DRAW(GL_TRIANGLES, kBack);
}
static void clip_planes(void) {
  static const GLdouble kFirst[] = {1, 0.5, 0, 0.3};
  static const GLdouble kSecond[] = {-0.3, -1, 0, 0.4};
  glClipPlane(GL_CLIP_PLANE0, kFirst);
  glClipPlane(GL_CLIP_PLANE1, kSecond);
  glEnable(GL_CLIP_PLANE0);
  glEnable(GL_CLIP_PLANE1);
  DRAW(GL_TRIANGLES, kThree);
}
static void clipped_lines(void) {
  static const GLdouble kFirst[] = {1, 0.5, 0, 0.3};
  glClipPlane(GL_CLIP_PLANE0, kFirst);
  glEnable(GL_CLIP_PLANE0);
  DRAW(GL_LINES, kStar);
}
// A floor that extends behind the eye.
static void floor_(void) {
  glMatrixMode(GL_PROJECTION);
  glFrustum(-1, 1, -1, 1, 1, 10);
  glMatrixMode(GL_MODELVIEW);
  glBegin(GL_TRIANGLES);
  glColor3f(1, 0.2f, 0.1f);
  glVertex3f(-3, -1, 4);
  glColor3f(0.1f, 1, 0.2f);
  glVertex3f(3, -1, 4);
  glColor3f(0.2f, 0.1f, 1);
  glVertex3f(0.3f, 1, -12);
  glEnd();
}
static void flat_floor(void) {
  flat(floor_);
}
static void far_out(void) {
  static const float kFar[] = {-300.0f, -250.0f, 400.0f, -200.0f, 0.1f, 500.0f};
  DRAW(GL_TRIANGLES, kFar);
}
static void polygon_stipple(void) {
  GLubyte pattern[128];
  for (int i = 0; i < 128; ++i) pattern[i] = (GLubyte)(i * 37 + i / 4 * 11);
  glPolygonStipple(pattern);
  glEnable(GL_POLYGON_STIPPLE);
  DRAW(GL_TRIANGLES, kThree);
}
static void scissor(void) {
  glScissor(11, 17, 29, 31);
  glEnable(GL_SCISSOR_TEST);
  DRAW(GL_TRIANGLES, kThree);
}
static void at_depth(const float* places, float z) {
  glBegin(GL_TRIANGLES);
  for (int i = 0; i < 3; ++i) {
    glColor3f(0.3f + 0.3f * (float)i, z, 1 - z);
    glVertex3f(places[i * 2], places[i * 2 + 1], z);
  }
  glEnd();
}
static void offset(void) {
  glEnable(GL_DEPTH_TEST);
  at_depth(kThree, 0.5f);
  glEnable(GL_POLYGON_OFFSET_FILL);
  glPolygonOffset(0, -4);
  glDepthFunc(GL_LESS);
  static const float kOther[] = {-0.83f, 0.71f, 0.79f, 0.63f, 0.07f, -0.81f};
  at_depth(kOther, 0.5f);
}
static void stencil(void) {
  glEnable(GL_STENCIL_TEST);
  glStencilFunc(GL_ALWAYS, 5, 0xff);
  glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
  at_depth(kThree, 0.2f);
  glStencilFunc(GL_NOTEQUAL, 5, 0xff);
  glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
  static const float kOther[] = {-0.83f, 0.71f, 0.79f, 0.63f, 0.07f, -0.81f};
  at_depth(kOther, 0.7f);
}
static void alpha_test(void) {
  glEnable(GL_ALPHA_TEST);
  glAlphaFunc(GL_GREATER, 0.5f);
  glBegin(GL_TRIANGLES);
  for (int i = 0; i < 3; ++i) {
    glColor4f(1, 0.5f, 0, (float)i * 0.51f);
    glVertex2f(kThree[i * 2], kThree[i * 2 + 1]);
  }
  glEnd();
}
static void blend(void) {
  glEnable(GL_BLEND);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  for (int pass = 0; pass < 2; ++pass) {
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 3; ++i) {
      glColor4f((float)pass, 0.5f, 1, 0.3f + 0.2f * (float)i);
      glVertex2f(kThree[i * 2] * (pass ? -1.0f : 1.0f), kThree[i * 2 + 1]);
    }
    glEnd();
  }
}
static void logic(void) {
  glEnable(GL_COLOR_LOGIC_OP);
  glLogicOp(GL_XOR);
  DRAW(GL_TRIANGLES, kThree);
}
static void fog(void) {
  static const GLfloat kColour[] = {0.9f, 0.8f, 0.1f, 1};
  glEnable(GL_FOG);
  glFogi(GL_FOG_MODE, GL_LINEAR);
  glFogf(GL_FOG_START, 1);
  glFogf(GL_FOG_END, 9);
  glFogfv(GL_FOG_COLOR, kColour);
  floor_();
}

static const struct Scene kScenes[] = {
    {"points", points, NULL, 0, NULL},
    {"wide_points", wide_points, NULL, 0, NULL},
    {"sprites", sprites, NULL, 0, NULL},
    {"lines", lines, NULL, 0, NULL},
    {"line_strip", line_strip, NULL, 0, NULL},
    {"line_loop", line_loop, NULL, 0, NULL},
    {"flat_lines", flat_lines, NULL, 0, NULL},
    {"wide_lines", wide_lines, NULL, 0, NULL},
    {"line_stipple", line_stipple, NULL, 0, NULL},
    {"strip_stipple", strip_stipple, NULL, 0, NULL},
    {"smooth_lines", smooth_lines, NULL, 0, NULL},
    {"thin_smooth_lines", thin_smooth_lines, NULL, 0, NULL},
    {"triangle", triangle, NULL, 0, NULL},
    {"strip", strip, NULL, 0, NULL},
    {"fan", fan, NULL, 0, NULL},
    {"quads", quads, NULL, 0, NULL},
    {"quad_strip", quad_strip, NULL, 0, NULL},
    {"polygon", polygon, NULL, 0, NULL},
    {"flat_triangle", flat_triangle, NULL, 0, NULL},
    {"flat_strip", flat_strip, NULL, 0, NULL},
    {"flat_fan", flat_fan, NULL, 0, NULL},
    {"flat_quads", flat_quads, NULL, 0, NULL},
    {"flat_quad_strip", flat_quad_strip, NULL, 0, NULL},
    {"flat_polygon", flat_polygon, NULL, 0, NULL},
    {"outlines", outlines, NULL, 0, NULL},
    {"outline_polygon", outline_polygon, NULL, 0, NULL},
    {"edge_flags", edge_flags, NULL, 0, NULL},
    {"corners", corners, NULL, 0, NULL},
    {"one_side_filled", one_side_filled, NULL, 0, NULL},
    {"two_sides", two_sides, NULL, 0, NULL},
    {"culled", culled, NULL, 0, NULL},
    {"clip_planes", clip_planes, NULL, 0, NULL},
    {"clipped_lines", clipped_lines, NULL, 0, NULL},
    {"floor", floor_, NULL, 0, NULL},
    {"flat_floor", flat_floor, NULL, 0, NULL},
    {"far_out", far_out, NULL, 0, NULL},
    {"polygon_stipple", polygon_stipple, NULL, 0, NULL},
    {"scissor", scissor, NULL, 0, NULL},
    {"offset", offset, NULL, 0, NULL},
    {"stencil", stencil, NULL, 0, NULL},
    {"alpha_test", alpha_test, NULL, 0, NULL},
    {"blend", blend, NULL, 0, NULL},
    {"logic", logic, NULL, 0, NULL},
    {"fog", fog, NULL, 0, NULL},
};

static void begin(void) {
  next = 0;
  glPushAttrib(GL_ALL_ATTRIB_BITS);
  glMatrixMode(GL_PROJECTION);
  glLoadIdentity();
  glMatrixMode(GL_MODELVIEW);
  glLoadIdentity();
  clear_frame(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
}

static void end(void) {
  glPopAttrib();
  take(kSize, kSize);
}

int main(int count, char** words) {
  open_offscreen();
  make_frame();
  attach_buffer(GL_COLOR_ATTACHMENT0, GL_RGBA8, 0, kSize, kSize);
  attach_buffer(GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, 0, kSize, kSize);
  if (!frame_complete()) return 1;
  glViewport(0, 0, kSize, kSize);
  return run_scenes(count, words, kScenes, sizeof kScenes / sizeof kScenes[0], begin, end);
}
