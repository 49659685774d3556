// Scenes of popular test programs, without a window, 256 x 256 pixels: three gears (es2gears), a lit cube (kmscube), a
// sphere lit pixel by pixel and a textured cube with mip maps (glmark2). They are drawn into a texture with depth. The
// program does not check the pictures. usage: gl_shows [-o FOLDER] [scene...]   default: all scenes; -o: writes their
// pixels as FOLDER/SCENE.rgba
#include <math.h>
#include <string.h>

#include "gl/frames.h"
#include "gl/scenes.h"

enum { kSize = 256, kMaxCorners = 20000, kTexels = 64 };
static const float kPi = 3.14159265f;

typedef struct {
  float place[3];
  float normal[3];
  float at[2];
} Corner;
typedef struct {
  float m[16];  // columns
} Matrix;

static Corner corners[kMaxCorners];
static int count;

static Matrix multiply(Matrix a, Matrix b) {
  Matrix product;
  for (int column = 0; column < 4; ++column) {
    for (int row = 0; row < 4; ++row) {
      float sum = 0;
      for (int k = 0; k < 4; ++k) sum += a.m[k * 4 + row] * b.m[column * 4 + k];
      product.m[column * 4 + row] = sum;
    }
  }
  return product;
}

static Matrix moved(float x, float y, float z) {
  const Matrix matrix = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1}};
  return matrix;
}

static Matrix turned(int axis, float degrees) {
  Matrix matrix = moved(0, 0, 0);
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;
  const float angle = degrees * kPi / 180;
  matrix.m[a * 4 + a] = matrix.m[b * 4 + b] = cosf(angle);
  matrix.m[a * 4 + b] = sinf(angle);
  matrix.m[b * 4 + a] = -sinf(angle);
  return matrix;
}

static Matrix lens(float width, float from, float to) {
  const float focus = from / width;
  const Matrix matrix = {
      {focus, 0, 0, 0, 0, focus, 0, 0, 0, 0, -(to + from) / (to - from), -1, 0, 0, -2 * to * from / (to - from), 0}};
  return matrix;
}

static void add_corner(const float place[3], const float normal[3], float u, float v) {
  if (count == kMaxCorners) return;
  Corner* const corner = &corners[count++];
  memcpy(corner->place, place, sizeof corner->place);
  memcpy(corner->normal, normal, sizeof corner->normal);
  corner->at[0] = u;
  corner->at[1] = v;
}

// Adds two triangles with the same normal.
static void add_square(const float square[4][3], const float normal[3]) {
  static const int order[6] = {0, 1, 2, 0, 2, 3};
  static const float at[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (int i = 0; i < 6; ++i) add_corner(square[order[i]], normal, at[order[i]][0], at[order[i]][1]);
}

static void make_cube(void) {
  for (int face = 0; face < 6; ++face) {
    const int axis = face / 2, a = (axis + 1) % 3, b = (axis + 2) % 3;
    const float side = face % 2 == 0 ? -1.0f : 1.0f;
    float square[4][3], normal[3] = {0, 0, 0};
    normal[axis] = side;
    for (int i = 0; i < 4; ++i) {
      square[i][axis] = side;
      square[i][a] = i == 1 || i == 2 ? 1 : -1;
      square[i][b] = (i >= 2 ? 1 : -1) * side;
    }
    add_square((const float(*)[3])square, normal);
  }
}

static void make_sphere(void) {
  enum { kRings = 24, kParts = 48 };
  for (int ring = 0; ring < kRings; ++ring) {
    for (int part = 0; part < kParts; ++part) {
      static const int order[6][2] = {{0, 0}, {1, 1}, {1, 0}, {0, 0}, {0, 1}, {1, 1}};
      for (int i = 0; i < 6; ++i) {
        const float u = (float)(part + order[i][1]) / kParts, v = (float)(ring + order[i][0]) / kRings;
        const float around = 2 * kPi * u, down = kPi * v;
        const float normal[3] = {sinf(down) * cosf(around), cosf(down), sinf(down) * sinf(around)};
        add_corner(normal, normal, u, v);
      }
    }
  }
}

// Adds a ring with teeth between two planes of constant z.
static void make_gear(float hole, float radius, float width, int teeth, float depth) {
  const float low = radius - depth / 2, high = radius + depth / 2, z = width / 2;
  for (int tooth = 0; tooth < teeth; ++tooth) {
    float edge[5][2];  // the outline of one tooth
    for (int i = 0; i < 5; ++i) {
      const float angle = 2 * kPi * ((float)tooth + (float)i / 4) / (float)teeth;
      const float far = i == 1 || i == 2 ? high : low;
      edge[i][0] = far * cosf(angle);
      edge[i][1] = far * sinf(angle);
    }
    for (int i = 0; i < 4; ++i) {
      float inner[2][2];
      for (int k = 0; k < 2; ++k) {
        const float angle = 2 * kPi * ((float)tooth + (float)(i + k) / 4) / (float)teeth;
        inner[k][0] = hole * cosf(angle);
        inner[k][1] = hole * sinf(angle);
      }
      const float front[4][3] = {{inner[0][0], inner[0][1], z},
                                 {edge[i][0], edge[i][1], z},
                                 {edge[i + 1][0], edge[i + 1][1], z},
                                 {inner[1][0], inner[1][1], z}};
      const float forward[3] = {0, 0, 1}, backward[3] = {0, 0, -1};
      add_square(front, forward);
      float back[4][3];
      for (int k = 0; k < 4; ++k) {
        memcpy(back[k], front[3 - k], sizeof back[k]);
        back[k][2] = -z;
      }
      add_square((const float(*)[3])back, backward);
      const float outside[4][3] = {{edge[i][0], edge[i][1], z},
                                   {edge[i][0], edge[i][1], -z},
                                   {edge[i + 1][0], edge[i + 1][1], -z},
                                   {edge[i + 1][0], edge[i + 1][1], z}};
      const float across = edge[i + 1][1] - edge[i][1], along = edge[i][0] - edge[i + 1][0];
      const float length = sqrtf(across * across + along * along);
      const float outward[3] = {across / length, along / length, 0};
      add_square(outside, outward);
      const float inside[4][3] = {{inner[1][0], inner[1][1], z},
                                  {inner[1][0], inner[1][1], -z},
                                  {inner[0][0], inner[0][1], -z},
                                  {inner[0][0], inner[0][1], z}};
      const float inward[3] = {-inner[0][0] / hole, -inner[0][1] / hole, 0};
      add_square(inside, inward);
    }
  }
}

static const char kVertex[] =
    "attribute vec3 p; attribute vec3 n; attribute vec2 t; uniform mat4 all; uniform mat4 turn; uniform vec3 tint;"
    "varying vec3 normal; varying vec2 at; varying vec3 colour;"
    "void main() { gl_Position = all * vec4(p, 1.0); normal = (turn * vec4(n, 0.0)).xyz; at = t;"
    "  colour = tint * (0.2 + 0.8 * max(dot(normal, normalize(vec3(0.4, 0.5, 0.75))), 0.0)); }";
static const char kLit[] = "varying vec3 colour; void main() { gl_FragColor = vec4(colour, 1.0); }";
static const char kShiny[] =
    "varying vec3 normal; varying vec2 at; uniform vec3 tint; void main() {"
    "  vec3 n = normalize(normal); vec3 light = normalize(vec3(0.4, 0.5, 0.75));"
    "  vec3 middle = normalize(light + vec3(0.0, 0.0, 1.0));"
    "  float lit = max(dot(n, light), 0.0); float shine = pow(max(dot(n, middle), 0.0), 32.0);"
    "  gl_FragColor = vec4(tint * (0.1 + 0.7 * lit) + vec3(0.6) * shine, 1.0); }";
static const char kTextured[] =
    "varying vec3 colour; varying vec2 at; uniform sampler2D image;"
    "void main() { gl_FragColor = vec4(colour * texture2D(image, at * 2.0).rgb, 1.0); }";

static void use(const char* fragment) {
  use_program(kVertex, fragment, "pnt");
}

static void draw_corners(Matrix view, Matrix turn, float red, float green, float blue) {
  const Matrix all = multiply(view, turn);
  glUniformMatrix4fv(uniform_place("all"), 1, GL_FALSE, all.m);
  glUniformMatrix4fv(uniform_place("turn"), 1, GL_FALSE, turn.m);
  glUniform3f(uniform_place("tint"), red, green, blue);
  GLuint buffer = 0;
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)count * sizeof(Corner)), corners, GL_STATIC_DRAW);
  const char* const start = NULL;
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, sizeof(Corner), start);
  glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, sizeof(Corner), start + 3 * sizeof(float));
  glVertexAttribPointer(2, 2, GL_FLOAT, GL_FALSE, sizeof(Corner), start + 6 * sizeof(float));
  for (GLuint i = 0; i < 3; ++i) glEnableVertexAttribArray(i);
  glDrawArrays(GL_TRIANGLES, 0, count);
  count = 0;
}

static void upload_texture(void) {
  static unsigned char texels[kTexels * kTexels * 4];
  for (int i = 0; i < kTexels * kTexels; ++i) {
    const int x = i % kTexels, y = i / kTexels, dark = (x / 8 + y / 8) % 2;
    texels[i * 4] = (unsigned char)(dark ? 60 : 255);
    texels[i * 4 + 1] = (unsigned char)(dark ? x * 4 : 230);
    texels[i * 4 + 2] = (unsigned char)(dark ? y * 4 : 200);
    texels[i * 4 + 3] = 255;
  }
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, kTexels, kTexels, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
  glGenerateMipmap(GL_TEXTURE_2D);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
}

static void begin(void) {
  make_target(kSize);
  glEnable(GL_DEPTH_TEST);
  glEnable(GL_CULL_FACE);
  glClearColor(0.1f, 0.1f, 0.15f, 1);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

static void gears(void) {
  use(kLit);
  const Matrix view = multiply(lens(1, 5, 60), moved(0, 0, -40));
  const Matrix tilt = multiply(turned(0, 20), turned(1, 30));
  make_gear(1, 4, 1, 20, 0.7f);
  draw_corners(view, multiply(tilt, multiply(moved(-3, -2, 0), turned(2, 40))), 0.8f, 0.1f, 0);
  make_gear(0.5f, 2, 2, 10, 0.7f);
  draw_corners(view, multiply(tilt, multiply(moved(3.1f, -2, 0), turned(2, -89))), 0, 0.8f, 0.2f);
  make_gear(1.3f, 2, 0.5f, 10, 0.7f);
  draw_corners(view, multiply(tilt, multiply(moved(-3.1f, 4.2f, 0), turned(2, -105))), 0.2f, 0.2f, 1);
}

// Draws one object in the centre.
static void draw_middle(float red, float green, float blue) {
  draw_corners(multiply(lens(2.1f, 6, 10), moved(0, 0, -8)),
               multiply(turned(0, 45), multiply(turned(1, 50), turned(2, 10))), red, green, blue);
}

static void cube(void) {
  use(kLit);
  make_cube();
  draw_middle(0.9f, 0.8f, 0.3f);
}

static void sphere(void) {
  use(kShiny);
  make_sphere();
  draw_middle(0.2f, 0.5f, 0.9f);
}

static void textured(void) {
  use(kTextured);
  upload_texture();
  make_cube();
  draw_middle(1, 1, 1);
}

static const struct Scene kScenes[] = {{"gears", gears, NULL, 0, NULL},
                                       {"cube", cube, NULL, 0, NULL},
                                       {"sphere", sphere, NULL, 0, NULL},
                                       {"textured", textured, NULL, 0, NULL}};

static void take_all(void) {
  take(kSize, kSize);
}

int main(int words, char** names) {
  open_offscreen();
  return run_scenes(words, names, kScenes, sizeof kScenes / sizeof kScenes[0], begin, take_all);
}
