// Scenes of what GL programs draw to and read from besides one plain picture: masks, faces, layers, levels, samples,
// stretched blits, images, stencil and depth, pixel buffers, attributes without perspective. Each leaves RGBA8 pixels
// or bytes that were read back. What stands in them is not judged here (tests/doors/targets.py). usage: gl_targets [-o
// FOLDER] [scene...]   without scenes: all that the context has; -o: their bytes, as FOLDER/SCENE.rgba. Exit 0: nothing
// failed and nothing hung.
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSize = 64, kBytes = 1 << 20 };
static unsigned char result[kBytes];
static size_t result_bytes;
static int version;  // 21, 33, ...

static int has(const char* extension) {
  if (version < 30) {
    const char* const all = (const char*)glGetString(GL_EXTENSIONS);
    return strstr(all, extension) != NULL;
  }
  GLint count = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLint i = 0; i < count; ++i) {
    if (strcmp((const char*)glGetStringi(GL_EXTENSIONS, (GLuint)i), extension) == 0) return 1;
  }
  return 0;
}

static GLuint shader(GLenum kind, const char* text) {
  const GLuint made = glCreateShader(kind);
  glShaderSource(made, 1, &text, NULL);
  glCompileShader(made);
  GLint good = 0;
  glGetShaderiv(made, GL_COMPILE_STATUS, &good);
  if (!good) {
    char log[2048];
    glGetShaderInfoLog(made, sizeof log, NULL, log);
    fprintf(stderr, "a shader does not compile: %s\n%s\n", log, text);
    exit(1);
  }
  return made;
}

static GLuint use(const char* vertex, const char* fragment) {
  const GLuint program = glCreateProgram();
  glAttachShader(program, shader(GL_VERTEX_SHADER, vertex));
  glAttachShader(program, shader(GL_FRAGMENT_SHADER, fragment));
  glBindAttribLocation(program, 0, "p");
  glBindAttribLocation(program, 1, "t");
  glLinkProgram(program);
  glUseProgram(program);
  return program;
}

static void set1(const char* name, float value) {
  GLint program = 0;
  glGetIntegerv(GL_CURRENT_PROGRAM, &program);
  glUniform1f(glGetUniformLocation((GLuint)program, name), value);
}
static void set4(const char* name, float r, float g, float b, float a) {
  GLint program = 0;
  glGetIntegerv(GL_CURRENT_PROGRAM, &program);
  glUniform4f(glGetUniformLocation((GLuint)program, name), r, g, b, a);
}

#define PLAIN "#version 120\nattribute vec4 p; varying vec2 u; void main() { gl_Position = p; u = p.xy * 0.5 + 0.5; }\n"
#define COLOUR "#version 120\nuniform vec4 colour; void main() { gl_FragColor = colour; }\n"

static void triangles(const float* places, int size, int count) {
  glVertexAttribPointer(0, size, GL_FLOAT, GL_FALSE, 0, places);
  glEnableVertexAttribArray(0);
  glDrawArrays(GL_TRIANGLES, 0, count);
}
static void square(float x0, float y0, float x1, float y1, float z) {
  const float places[] = {x0, y0, z, x1, y0, z, x1, y1, z, x0, y0, z, x1, y1, z, x0, y1, z};
  triangles(places, 3, 6);
}
static void everything(void) {
  square(-1, -1, 1, 1, 0);
}
// Two triangles with slanted edges.
static void slants(void) {
  static const float kPlaces[] = {-0.83f, -0.71f, 0.79f, -0.63f, 0.07f,  0.81f,
                                  -0.93f, 0.9f,   0.1f,  0.93f,  -0.87f, -0.2f};
  triangles(kPlaces, 2, 6);
}

static GLuint make_texture(GLenum target) {
  GLuint made = 0;
  glGenTextures(1, &made);
  glBindTexture(target, made);
  glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(target, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(target, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return made;
}

static GLuint make_frame(void) {
  GLuint made = 0;
  glGenFramebuffers(1, &made);
  glBindFramebuffer(GL_FRAMEBUFFER, made);
  return made;
}
static int complete(void) {
  const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
  if (status != GL_FRAMEBUFFER_COMPLETE) fprintf(stderr, "frame buffer: %x\n", status);
  return status == GL_FRAMEBUFFER_COMPLETE;
}
// A picture to draw to, cleared.
static GLuint picture(GLenum format, int width, int height) {
  const GLuint made = make_frame();
  const GLuint texture = make_texture(GL_TEXTURE_2D);
  glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  glViewport(0, 0, width, height);
  glClearColor(0.25f, 0.5f, 0.75f, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  return made;
}
static GLuint render_buffer(GLenum attachment, GLenum format, int samples, int width, int height) {
  GLuint made = 0;
  glGenRenderbuffers(1, &made);
  glBindRenderbuffer(GL_RENDERBUFFER, made);
  glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, made);
  return made;
}

static void* room(size_t bytes) {
  if (result_bytes + bytes > kBytes) {
    fprintf(stderr, "too much\n");
    exit(1);
  }
  void* const at = result + result_bytes;
  result_bytes += bytes;
  return at;
}
static void take(int width, int height) {
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, room((size_t)(width * height * 4)));
}

static void fill_texels(unsigned char* texels, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) texels[i] = (unsigned char)((i * 37 + i / 64 * 11 + seed * 59) & 255);
}

// Colour masks -------------------------------------------------------------------------------------------------------

static void masks(void) {
  for (int mask = 0; mask < 16; ++mask) {
    glDisable(GL_BLEND);
    picture(GL_RGBA8, 16, 16);
    use(PLAIN, COLOUR);
    const GLboolean r = mask & 1, g = mask >> 1 & 1, b = mask >> 2 & 1, a = mask >> 3 & 1;
    glColorMask(r, g, b, a);
    set4("colour", 1, 0.2f, 0.4f, 0.6f);
    square(-1, -1, 0, 1, 0);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    set4("colour", 0.2f, 0.2f, 0.2f, 0.2f);
    square(-0.5f, -1, 0.5f, 0, 0);
    glEnable(GL_SCISSOR_TEST);
    glScissor(12, 4, 3, 9);
    glClearColor(0.8f, 0.6f, 0.2f, 0.4f);
    glClear(GL_COLOR_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
    glColorMask(1, 1, 1, 1);
    take(16, 16);
  }
  glDisable(GL_BLEND);
}
static void masked_clears(void) {
  for (int mask = 0; mask < 16; ++mask) {
    picture(GL_RGBA8, 16, 16);
    glColorMask(mask & 1, mask >> 1 & 1, mask >> 2 & 1, mask >> 3 & 1);
    glClearColor(0.8f, 0.6f, 0.2f, 0.4f);
    glClear(GL_COLOR_BUFFER_BIT);
    glColorMask(1, 1, 1, 1);
    take(16, 16);
  }
}
// Each target with a mask of its own.
static void masks_each(void) {
  make_frame();
  GLenum order[3];
  for (unsigned i = 0; i < 3; ++i) {
    const GLuint texture = make_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    order[i] = GL_COLOR_ATTACHMENT0 + i;
    glFramebufferTexture2D(GL_FRAMEBUFFER, order[i], GL_TEXTURE_2D, texture, 0);
  }
  glDrawBuffers(3, order);
  if (!complete()) return;
  glViewport(0, 0, 16, 16);
  glClearColor(0.1f, 0.3f, 0.5f, 0.7f);
  glClear(GL_COLOR_BUFFER_BIT);
  use(PLAIN,
      "#version 120\nvoid main() { gl_FragData[0] = vec4(1, 0.9, 0.8, 0.6); gl_FragData[1] = vec4(0, 1, 0, 1);"
      " gl_FragData[2] = vec4(0.2, 0, 1, 0.4); }");
  glColorMaski(0, 1, 0, 1, 0);
  glColorMaski(1, 0, 1, 1, 1);
  glColorMaski(2, 0, 0, 0, 1);
  square(-0.5f, -0.5f, 1, 0.75f, 0);
  glColorMask(1, 1, 1, 1);
  for (unsigned i = 0; i < 3; ++i) {
    glReadBuffer(order[i]);
    take(16, 16);
  }
}

// Cubes --------------------------------------------------------------------------------------------------------------

enum { kCube = 12 };
static GLuint cube(int edge, int levels) {
  const GLuint made = make_texture(GL_TEXTURE_CUBE_MAP);
  static unsigned char texels[64 * 64 * 4];
  for (int level = 0; level < levels; ++level) {
    const int side = edge >> level > 0 ? edge >> level : 1;
    for (unsigned face = 0; face < 6; ++face) {
      fill_texels(texels, (size_t)(side * side * 4), face + 7 * (unsigned)level);
      glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, level, GL_RGBA8, side, side, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                   texels);
    }
  }
  glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAX_LEVEL, levels - 1);
  return made;
}
// The directions of all faces, beside and over each other: two rows of three squares of 24 pixels.
#define CUBE_DIRECTION                                                                                                 \
  "vec3 direction() {\n"                                                                                               \
  "  vec2 at = gl_FragCoord.xy / 24.0; vec2 cell = floor(at); vec2 f = fract(at) * 2.0 - 1.0; float n = cell.x + 3.0 " \
  "* cell.y;\n"                                                                                                        \
  "  if (n < 0.5) return vec3(1.0, f.y, f.x);\n"                                                                       \
  "  if (n < 1.5) return vec3(-1.0, f.y, f.x);\n"                                                                      \
  "  if (n < 2.5) return vec3(f.x, 1.0, f.y);\n"                                                                       \
  "  if (n < 3.5) return vec3(f.x, -1.0, f.y);\n"                                                                      \
  "  if (n < 4.5) return vec3(f.x, f.y, 1.0);\n"                                                                       \
  "  return vec3(f.x, f.y, -1.0);\n"                                                                                   \
  "}\n"
static void show_cube(void) {
  picture(GL_RGBA8, 72, 48);
  use(PLAIN, "#version 120\nuniform samplerCube image;\n" CUBE_DIRECTION
             "void main() { gl_FragColor = textureCube(image, direction()); }");
  everything();
  take(72, 48);
}
static void cube_nearest(void) {
  cube(kCube, 1);
  show_cube();
}
static void cube_linear(void) {
  cube(8, 1);
  glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  show_cube();
}
static void cube_seamless(void) {
  glEnable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
  cube_linear();
  glDisable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
}
static void cube_levels(void) {
  cube(16, 5);
  glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
  for (int level = 0; level < 5; ++level) {
    picture(GL_RGBA8, 72, 48);
    use(PLAIN, "#version 130\nuniform samplerCube image; uniform float level;\n" CUBE_DIRECTION
               "void main() { gl_FragColor = textureLod(image, direction(), level); }");
    set1("level", (float)level);
    everything();
    take(72, 48);
  }
}
// Drawn to, face by face and level by level, then read and shown.
static void cube_faces(void) {
  const GLuint made = cube(16, 3);
  for (int level = 0; level < 3; ++level) {
    for (unsigned face = 0; face < 6; ++face) {
      make_frame();
      glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, made, level);
      if (!complete()) return;
      glViewport(0, 0, 16 >> level, 16 >> level);
      if (face % 2 == 0) {
        glClearColor((float)face / 6, (float)level / 3, 0.5f, 1);
        glClear(GL_COLOR_BUFFER_BIT);
      }
      use(PLAIN, COLOUR);
      set4("colour", 1 - (float)face / 6, 0.5f, (float)level / 3, 0.8f);
      slants();
      take(16 >> level, 16 >> level);
    }
  }
  glBindTexture(GL_TEXTURE_CUBE_MAP, made);
  show_cube();
}
static void cube_mipmaps(void) {
  cube(16, 1);
  glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAX_LEVEL, 4);
  glGenerateMipmap(GL_TEXTURE_CUBE_MAP);
  for (int level = 0; level < 5; ++level) {
    for (unsigned face = 0; face < 6; ++face) {
      const size_t side = 16u >> level;
      glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, level, GL_RGBA, GL_UNSIGNED_BYTE, room(side * side * 4));
    }
  }
}
// Of sizes that are no powers of two, from a buffer and back into one.
static void cube_buffers(void) {
  enum { kSide = 21, kFace = kSide * kSide * 4 };
  static unsigned char texels[kFace * 6 + 64];
  fill_texels(texels, sizeof texels, 3);
  GLuint buffers[2];
  glGenBuffers(2, buffers);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffers[0]);
  glBufferData(GL_PIXEL_UNPACK_BUFFER, sizeof texels, texels, GL_STATIC_DRAW);
  make_texture(GL_TEXTURE_CUBE_MAP);
  glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAX_LEVEL, 0);
  for (unsigned face = 0; face < 6; ++face) {
    glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA8, kSide, kSide, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 (const void*)(size_t)(face * kFace));
  }
  // A part of a face, with rows of another length.
  glPixelStorei(GL_UNPACK_ROW_LENGTH, kSide);
  glTexSubImage2D(GL_TEXTURE_CUBE_MAP_NEGATIVE_Y, 0, 3, 5, 9, 11, GL_RGBA, GL_UNSIGNED_BYTE, (const void*)(size_t)40);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  show_cube();
  glBindBuffer(GL_PIXEL_PACK_BUFFER, buffers[1]);
  glBufferData(GL_PIXEL_PACK_BUFFER, kFace * 6, NULL, GL_STREAM_READ);
  for (unsigned face = 0; face < 6; ++face) {
    glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA, GL_UNSIGNED_BYTE, (void*)(size_t)(face * kFace));
  }
  glGetBufferSubData(GL_PIXEL_PACK_BUFFER, 0, kFace * 6, room(kFace * 6));
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

// Arrays -------------------------------------------------------------------------------------------------------------

// Layers of lines: filled, drawn to one by one, and shown as rows.
static void arrays_1d(void) {
  static unsigned char texels[64 * 7 * 4];
  fill_texels(texels, sizeof texels, 5);
  const GLuint made = make_texture(GL_TEXTURE_1D_ARRAY);
  glTexImage2D(GL_TEXTURE_1D_ARRAY, 0, GL_RGBA8, 64, 7, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
  glTexImage2D(GL_TEXTURE_1D_ARRAY, 1, GL_RGBA8, 32, 7, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels + 64);
  glTexParameteri(GL_TEXTURE_1D_ARRAY, GL_TEXTURE_MAX_LEVEL, 1);
  for (int level = 0; level < 2; ++level) {
    for (int layer = 1; layer < 7; layer += 2) {
      make_frame();
      glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, made, level, layer);
      if (!complete()) return;
      glViewport(0, 0, 64 >> level, 1);
      if (layer == 3) {
        glClearColor(0.2f, 0.4f, 0.6f, 0.8f);
        glClear(GL_COLOR_BUFFER_BIT);
      }
      use(PLAIN, COLOUR);
      set4("colour", 1, (float)layer / 7, (float)level, 0.5f);
      square(-0.75f, -1, 0.25f, 1, 0);
      take(64 >> level, 1);
    }
  }
  picture(GL_RGBA8, kSize, kSize);
  use(PLAIN,
      "#version 130\nuniform sampler1DArray image; in vec2 u;\n"
      "void main() { gl_FragColor = textureLod(image, vec2(u.x, floor(u.y * 7.0)), u.y * 14.0 - 2.0 * floor(u.y * 7.0) "
      "< 1.0 ? 0.0 : 1.0); }");
  glBindTexture(GL_TEXTURE_1D_ARRAY, made);
  glTexParameteri(GL_TEXTURE_1D_ARRAY, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
  everything();
  take(kSize, kSize);
}
static void depth_1d_arrays(void) {
  const GLuint made = make_texture(GL_TEXTURE_1D_ARRAY);
  glTexImage2D(GL_TEXTURE_1D_ARRAY, 0, GL_DEPTH_COMPONENT24, 64, 5, 0, GL_DEPTH_COMPONENT, GL_FLOAT, NULL);
  glTexParameteri(GL_TEXTURE_1D_ARRAY, GL_TEXTURE_MAX_LEVEL, 0);
  glEnable(GL_DEPTH_TEST);
  for (int layer = 0; layer < 5; ++layer) {
    make_frame();
    glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, made, 0, layer);
    glDrawBuffer(GL_NONE);
    glReadBuffer(GL_NONE);
    if (!complete()) return;
    glViewport(0, 0, 64, 1);
    glClearDepth(0.9 - 0.125 * layer);
    glClear(GL_DEPTH_BUFFER_BIT);
    use(PLAIN, COLOUR);
    square(-0.5f, -1, 0.5f, 1, -0.5f + 0.25f * (float)layer);
    glReadPixels(0, 0, 64, 1, GL_DEPTH_COMPONENT, GL_UNSIGNED_BYTE, room(64));
  }
  glDisable(GL_DEPTH_TEST);
  glClearDepth(1);
  picture(GL_RGBA8, kSize, kSize);
  use(PLAIN,
      "#version 130\nuniform sampler1DArray image; in vec2 u;\n"
      "void main() { gl_FragColor = vec4(texture(image, vec2(u.x, floor(u.y * 5.0))).xxx, 1.0); }");
  glBindTexture(GL_TEXTURE_1D_ARRAY, made);
  everything();
  take(kSize, kSize);
}
// Clears of one layer each, of several formats, in two levels; the others stay.
static void layer_clears(void) {
  static const GLenum kFormats[] = {GL_RGBA8, GL_RGB565,  GL_RGBA16F,  GL_R8,
                                    GL_RG16,  GL_RGBA32F, GL_RGB10_A2, GL_SRGB8_ALPHA8};
  for (unsigned f = 0; f < sizeof kFormats / sizeof kFormats[0]; ++f) {
    const GLuint made = make_texture(GL_TEXTURE_2D_ARRAY);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAX_LEVEL, 1);
    glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, (GLint)kFormats[f], 20, 12, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTexImage3D(GL_TEXTURE_2D_ARRAY, 1, (GLint)kFormats[f], 10, 6, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    for (int turn = 0; turn < 2; ++turn) {
      for (int level = 0; level < 2; ++level) {
        for (int layer = turn; layer < 4; layer += 1 + turn) {
          make_frame();
          glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, made, level, layer);
          glClearColor((float)(layer + 1) / 4, (float)level * 0.5f, turn ? 0.75f : 0.25f, turn ? 0 : 1);
          glClear(GL_COLOR_BUFFER_BIT);
        }
      }
    }
    for (int level = 0; level < 2; ++level) {
      for (int layer = 0; layer < 4; ++layer) {
        make_frame();
        glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, made, level, layer);
        take(20 >> level, 12 >> level);
      }
    }
  }
}
static void volumes(void) {
  static unsigned char texels[18 * 10 * 9 * 4];
  fill_texels(texels, sizeof texels, 8);
  const GLuint made = make_texture(GL_TEXTURE_3D);
  glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_R, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAX_LEVEL, 2);
  static const int kDepths[] = {9, 4, 2};
  for (int level = 0; level < 3; ++level) {
    const int width = 18 >> level, height = 10 >> level;
    glTexImage3D(GL_TEXTURE_3D, level, GL_RGBA8, width, height, kDepths[level], 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    // One by one: for the first chips Mesa takes slices of smaller levels as equally far apart, and they are not.
    for (int layer = 0; layer < kDepths[level]; ++layer) {
      glTexSubImage3D(GL_TEXTURE_3D, level, 0, 0, layer, width, height, 1, GL_RGBA, GL_UNSIGNED_BYTE,
                      texels + (layer * 4 + level) * 99);
    }
  }
  for (int level = 0; level < 3; ++level) {
    for (int layer = 0; layer < kDepths[level]; ++layer) {
      make_frame();
      glFramebufferTexture3D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_3D, made, level, layer);
      if (!complete()) return;
      glViewport(0, 0, 18 >> level, 10 >> level);
      use(PLAIN, COLOUR);
      set4("colour", 1, (float)layer / 9, (float)level / 3, 0.5f);
      if (layer % 3 == 1) slants();
      take(18 >> level, 10 >> level);
    }
  }
}

// Samples ------------------------------------------------------------------------------------------------------------

static void resolved(int samples, int width, int height) {
  const GLuint many = make_frame();
  render_buffer(GL_COLOR_ATTACHMENT0, GL_RGBA8, samples, width, height);
  render_buffer(GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, samples, width, height);
  if (!complete()) return;
  glViewport(0, 0, width, height);
  glClearColor(0.25f, 0.5f, 0.75f, 1);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
  glEnable(GL_DEPTH_TEST);
  use(PLAIN, COLOUR);
  set4("colour", 1, 0.5f, 0.25f, 1);
  slants();
  set4("colour", 0, 1, 0.5f, 0.5f);
  static const float kLeaning[] = {-0.9f, -0.2f, -0.9f, 0.9f, 0.1f, 0.9f, -0.1f, 0.9f, 0.1f};
  triangles(kLeaning, 3, 3);
  glDisable(GL_DEPTH_TEST);
  const GLuint one = picture(GL_RGBA8, width, height);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, many);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, one);
  glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, one);
  take(width, height);
}
static void samples_4(void) {
  resolved(4, kSize, kSize);
  resolved(4, 37, 23);
}
// Samples drawn one by one: their mean is the same however many there are.
static void by_masks(int wanted) {
  GLint most = 0;
  glGetIntegerv(GL_MAX_SAMPLES, &most);
  const int samples = wanted < most ? wanted : most;
  const GLuint many = make_frame();
  render_buffer(GL_COLOR_ATTACHMENT0, GL_RGBA8, samples, 33, 16);
  if (!complete()) return;
  glViewport(0, 0, 33, 16);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  use(PLAIN, COLOUR);
  glEnable(GL_SAMPLE_MASK);
  for (int i = 0; i < samples; ++i) {
    const float at = ((float)i + 0.5f) / (float)samples;
    glSampleMaski(0, 1u << i);
    set4("colour", at, i < samples / 2 ? 1 : 0, i % 2 == 0 ? 0.5f : 0, 1);
    square(-1, -1, 1, 0.5f, 0);
  }
  glDisable(GL_SAMPLE_MASK);
  const GLuint one = picture(GL_RGBA8, 33, 16);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, many);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, one);
  glBlitFramebuffer(0, 0, 33, 16, 0, 0, 33, 16, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, one);
  take(33, 16);
}
static void sample_masks_4(void) {
  by_masks(4);
}
static void sample_masks_8(void) {
  by_masks(8);
}
static void sample_masks_16(void) {
  by_masks(16);
}
// A multisampled texture, each sample fetched.
static void sample_fetch(void) {
  GLuint made = 0;
  glGenTextures(1, &made);
  glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, made);
  glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 24, 24, GL_TRUE);
  make_frame();
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D_MULTISAMPLE, made, 0);
  if (!complete()) return;
  glViewport(0, 0, 24, 24);
  glClearColor(0.1f, 0.2f, 0.3f, 0.4f);
  glClear(GL_COLOR_BUFFER_BIT);
  use(PLAIN, COLOUR);
  set4("colour", 1, 0.5f, 0.25f, 1);
  slants();
  picture(GL_RGBA8, 48, 48);
  use(PLAIN,
      "#version 150\nuniform sampler2DMS image; out vec4 c;\n"
      "void main() { ivec2 at = ivec2(gl_FragCoord.xy); c = texelFetch(image, at / 2, at.x % 2 + 2 * (at.y % 2)); }");
  glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, made);
  everything();
  take(48, 48);
}
static void alpha_coverage(void) {
  const GLuint many = make_frame();
  render_buffer(GL_COLOR_ATTACHMENT0, GL_RGBA8, 4, 32, 32);
  glViewport(0, 0, 32, 32);
  glClearColor(0, 0, 0, 0);
  glClear(GL_COLOR_BUFFER_BIT);
  glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
  use(PLAIN, COLOUR);
  // Far from the steps of four samples.
  for (int i = 0; i < 5; ++i) {
    set4("colour", 1, 1, 1, i == 4 ? 1 : (float)i / 4 + 0.0001f);
    square(-1 + 0.4f * (float)i, -1, -0.6f + 0.4f * (float)i, 1, 0);
  }
  glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
  const GLuint one = picture(GL_RGBA8, 32, 32);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, many);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, one);
  glBlitFramebuffer(0, 0, 32, 32, 0, 0, 32, 32, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, one);
  take(32, 32);
}

// Images -------------------------------------------------------------------------------------------------------------

// Stored to one layer of one level; all of them are read back.
static void image_store(void) {
  const GLuint made = make_texture(GL_TEXTURE_2D_ARRAY);
  glTexStorage3D(GL_TEXTURE_2D_ARRAY, 3, GL_RGBA8, 24, 20, 4);
  for (int level = 0; level < 3; ++level) {
    for (int layer = 0; layer < 4; ++layer) {
      make_frame();
      glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, made, level, layer);
      glClearColor(0.2f, 0.4f, (float)layer / 4, (float)level / 2);
      glClear(GL_COLOR_BUFFER_BIT);
    }
  }
  static const int kPlaces[][2] = {{0, 1}, {1, 2}, {2, 3}, {1, 0}};
  for (unsigned i = 0; i < 4; ++i) {
    picture(GL_RGBA8, 24, 20);
    use(PLAIN,
        "#version 420\nlayout(rgba8) writeonly uniform image2D image; uniform vec4 colour; out vec4 c;\n"
        "void main() { ivec2 at = ivec2(gl_FragCoord.xy); imageStore(image, at, vec4(vec2(at) / 24.0, colour.xy)); c = "
        "colour; }");
    set4("colour", (float)i / 4, 0.75f, 0, 1);
    glBindImageTexture(0, made, kPlaces[i][0], GL_FALSE, kPlaces[i][1], GL_WRITE_ONLY, GL_RGBA8);
    slants();
  }
  glMemoryBarrier(GL_ALL_BARRIER_BITS);
  for (int level = 0; level < 3; ++level) {
    for (int layer = 0; layer < 4; ++layer) {
      make_frame();
      glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, made, level, layer);
      take(24 >> level, 20 >> level);
    }
  }
}
// All layers bound: cube, line array, volume.
static void image_kinds(void) {
  const GLuint cubes = make_texture(GL_TEXTURE_CUBE_MAP);
  glTexStorage2D(GL_TEXTURE_CUBE_MAP, 2, GL_RGBA8, 16, 16);
  const GLuint lines = make_texture(GL_TEXTURE_1D_ARRAY);
  glTexStorage2D(GL_TEXTURE_1D_ARRAY, 1, GL_RGBA8, 16, 6);
  const GLuint volume = make_texture(GL_TEXTURE_3D);
  glTexStorage3D(GL_TEXTURE_3D, 2, GL_RGBA8, 16, 16, 6);
  picture(GL_RGBA8, 16, 16);
  use(PLAIN,
      "#version 420\nlayout(rgba8, binding = 0) writeonly uniform imageCube a; layout(rgba8, binding = 1) writeonly "
      "uniform image1DArray b;\n"
      "layout(rgba8, binding = 2) writeonly uniform image3D d; out vec4 c;\n"
      "void main() { ivec2 at = ivec2(gl_FragCoord.xy); for (int i = 0; i < 6; ++i) { vec4 v = vec4(vec2(at) / 16.0, "
      "float(i) / 6.0, 1.0);\n"
      "  imageStore(a, ivec3(at, i), v); imageStore(b, ivec2(at.x, i), vec4(float(at.x) / 16.0, v.z, 0.0, 1.0)); "
      "imageStore(d, ivec3(at, i), v.zyxw); } c = vec4(1.0); }");
  glBindImageTexture(0, cubes, 0, GL_TRUE, 0, GL_WRITE_ONLY, GL_RGBA8);
  glBindImageTexture(1, lines, 0, GL_TRUE, 0, GL_WRITE_ONLY, GL_RGBA8);
  glBindImageTexture(2, volume, 0, GL_TRUE, 0, GL_WRITE_ONLY, GL_RGBA8);
  everything();
  glMemoryBarrier(GL_ALL_BARRIER_BITS);
  glBindTexture(GL_TEXTURE_CUBE_MAP, cubes);
  for (unsigned face = 0; face < 6; ++face) {
    glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA, GL_UNSIGNED_BYTE, room(16 * 16 * 4));
  }
  glBindTexture(GL_TEXTURE_1D_ARRAY, lines);
  glGetTexImage(GL_TEXTURE_1D_ARRAY, 0, GL_RGBA, GL_UNSIGNED_BYTE, room(16 * 6 * 4));
  glBindTexture(GL_TEXTURE_3D, volume);
  glGetTexImage(GL_TEXTURE_3D, 0, GL_RGBA, GL_UNSIGNED_BYTE, room(16 * 16 * 6 * 4));
}

// Depth and stencil --------------------------------------------------------------------------------------------------

static void stencil_read(void) {
  picture(GL_RGBA8, kSize, kSize);
  render_buffer(GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, 0, kSize, kSize);
  if (!complete()) return;
  glClearStencil(0x5a);
  glClearDepth(0.75);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
  glEnable(GL_STENCIL_TEST);
  glEnable(GL_DEPTH_TEST);
  use(PLAIN, COLOUR);
  static const GLenum kOperations[] = {GL_REPLACE,   GL_INCR,      GL_DECR, GL_INVERT,
                                       GL_INCR_WRAP, GL_DECR_WRAP, GL_ZERO, GL_KEEP};
  for (int i = 0; i < 8; ++i) {
    glStencilFunc(GL_LEQUAL, 0x40 + i, 0xff);
    glStencilMask(i % 2 == 0 ? 0xff : 0x3c);
    glStencilOp(kOperations[(i + 2) % 8], kOperations[(i + 1) % 8], kOperations[i]);
    set4("colour", (float)i / 8, 0.5f, 0.5f, 1);
    const float x = -0.875f + 0.21875f * (float)i;
    square(x, -0.75f, x + 0.25f, 0.75f, i % 3 == 0 ? 0.8f : -0.5f);
    square(x, -0.25f, x + 0.125f, 0.25f, 0);
  }
  glStencilMask(0xff);
  glDisable(GL_STENCIL_TEST);
  glDisable(GL_DEPTH_TEST);
  glClearStencil(0);
  glClearDepth(1);
  glReadPixels(0, 0, kSize, kSize, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, room(kSize * kSize));
  glReadPixels(0, 0, kSize, kSize, GL_DEPTH_COMPONENT, GL_UNSIGNED_BYTE, room(kSize * kSize));
  take(kSize, kSize);
}
// Clears with masks and scissors, of stencil alone and of depth alone.
static void stencil_clears(void) {
  picture(GL_RGBA8, 40, 28);
  render_buffer(GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, 0, 40, 28);
  glClearStencil(0xc3);
  glClearDepth(0.5);
  glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
  glStencilMask(0x0f);
  glClearStencil(0x55);
  glClear(GL_STENCIL_BUFFER_BIT);
  glStencilMask(0xff);
  glEnable(GL_SCISSOR_TEST);
  glScissor(3, 5, 17, 11);
  glClearDepth(0.25);
  glClear(GL_DEPTH_BUFFER_BIT);
  glScissor(9, 7, 21, 13);
  glClearStencil(0x99);
  glClear(GL_STENCIL_BUFFER_BIT);
  glDisable(GL_SCISSOR_TEST);
  glClearStencil(0);
  glClearDepth(1);
  glReadPixels(0, 0, 40, 28, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, room(40 * 28));
  glReadPixels(0, 0, 40, 28, GL_DEPTH_COMPONENT, GL_UNSIGNED_BYTE, room(40 * 28));
}
// Depth textures of all formats: cleared, drawn to, sampled.
static void depth_formats(void) {
  static const GLenum kFormats[] = {GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT32F};
  for (unsigned i = 0; i < (version >= 30 ? 3u : 2u); ++i) {
    const GLuint made = make_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)kFormats[i], 40, 24, 0, GL_DEPTH_COMPONENT, GL_FLOAT, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    picture(GL_RGBA8, 40, 24);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, made, 0);
    if (!complete()) return;
    glClearDepth(0.61);
    glClear(GL_DEPTH_BUFFER_BIT);
    glClearDepth(1);
    glEnable(GL_DEPTH_TEST);
    use(PLAIN, COLOUR);
    set4("colour", 1, 0, 0, 1);
    static const float kLeaning[] = {-0.9f, -0.8f, -0.9f, 0.9f, -0.7f, 0.9f, -0.1f, 0.9f, 0.1f};
    triangles(kLeaning, 3, 3);
    glDisable(GL_DEPTH_TEST);
    take(40, 24);
    picture(GL_RGBA8, 40, 24);
    use(PLAIN,
        "#version 120\nuniform sampler2D image; varying vec2 u; void main() { gl_FragColor = vec4(texture2D(image, "
        "u).rrr, 1.0); }");
    glBindTexture(GL_TEXTURE_2D, made);
    everything();
    take(40, 24);
  }
}

// Blits and copies ---------------------------------------------------------------------------------------------------

static GLuint pattern(GLenum format, int width, int height) {
  static unsigned char texels[64 * 64 * 4];
  // Smooth, so that filtering is seen and the last bits of weights are not.
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      unsigned char* const at = texels + (y * width + x) * 4;
      at[0] = (unsigned char)(x * 255 / width);
      at[1] = (unsigned char)(y * 255 / height);
      at[2] = (unsigned char)((x / 3 + y / 2) % 2 * 128);
      at[3] = (unsigned char)(255 - x);
    }
  }
  const GLuint made = make_frame();
  const GLuint texture = make_texture(GL_TEXTURE_2D);
  glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  complete();
  return made;
}
static void blits(GLenum filter) {
  static const GLenum kFormats[] = {GL_RGBA8, GL_RGBA16F, GL_RGB10_A2};
  for (unsigned f = 0; f < (version >= 30 ? 3u : 1u); ++f) {
    const GLuint from = pattern(GL_RGBA8, 32, 24);
    const GLuint to = picture(kFormats[f], kSize, kSize);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
    // From odd sizes, so that no centre lies between two pixels.
    glBlitFramebuffer(0, 0, 31, 23, 0, 0, 51, 37, GL_COLOR_BUFFER_BIT, filter);     // larger
    glBlitFramebuffer(0, 0, 31, 23, 60, 63, 48, 40, GL_COLOR_BUFFER_BIT, filter);   // smaller, turned round
    glBlitFramebuffer(5, 3, 20, 16, 2, 63, 34, 41, GL_COLOR_BUFFER_BIT, filter);    // upside down
    glBlitFramebuffer(-4, -4, 11, 11, 44, 4, 76, 36, GL_COLOR_BUFFER_BIT, filter);  // over the edges of both
    glEnable(GL_SCISSOR_TEST);
    glScissor(20, 10, 9, 7);
    glBlitFramebuffer(31, 0, 0, 23, 10, 5, 40, 30, GL_COLOR_BUFFER_BIT, filter);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, to);
    take(kSize, kSize);
  }
}
static void blit_nearest(void) {
  blits(GL_NEAREST);
}
static void blit_linear(void) {
  blits(GL_LINEAR);
}
static void blit_depth(void) {
  const GLuint from = make_frame();
  render_buffer(GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, 0, 32, 24);
  glDrawBuffer(GL_NONE);
  glReadBuffer(GL_NONE);
  glViewport(0, 0, 32, 24);
  glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
  glEnable(GL_DEPTH_TEST);
  glEnable(GL_STENCIL_TEST);
  glStencilFunc(GL_ALWAYS, 0x77, 0xff);
  glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
  use(PLAIN, COLOUR);
  static const float kLeaning[] = {-0.9f, -0.8f, -0.9f, 0.9f, -0.7f, 0.9f, -0.1f, 0.9f, 0.1f};
  triangles(kLeaning, 3, 3);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_STENCIL_TEST);
  const GLuint to = make_frame();
  render_buffer(GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, 0, 48, 48);
  glDrawBuffer(GL_NONE);
  glReadBuffer(GL_NONE);
  glClearDepth(0.5);
  glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
  glClearDepth(1);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
  glBlitFramebuffer(0, 0, 31, 23, 3, 2, 45, 40, GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT, GL_NEAREST);
  glBlitFramebuffer(0, 0, 15, 11, 47, 47, 31, 35, GL_DEPTH_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, to);
  glReadPixels(0, 0, 48, 48, GL_DEPTH_COMPONENT, GL_UNSIGNED_BYTE, room(48 * 48));
  glReadPixels(0, 0, 48, 48, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, room(48 * 48));
}
static void copies(void) {
  pattern(GL_RGBA8, 32, 24);
  const GLuint made = make_texture(GL_TEXTURE_2D_ARRAY);
  glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAX_LEVEL, 0);
  glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_RGBA8, 20, 20, 3, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  for (int layer = 0; layer < 3; ++layer) {
    glCopyTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, layer, 2 * layer, layer, 20, 20);
  }
  glCopyTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 3, 5, 1, 1, 1, 7, 9);
  glGetTexImage(GL_TEXTURE_2D_ARRAY, 0, GL_RGBA, GL_UNSIGNED_BYTE, room(20 * 20 * 3 * 4));
  (void)made;
}
static void mipmaps(void) {
  static unsigned char texels[37 * 21 * 4];
  fill_texels(texels, sizeof texels, 2);
  make_texture(GL_TEXTURE_2D);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
  glGenerateMipmap(GL_TEXTURE_2D);
  for (int level = 0; level < 6; ++level) {
    const size_t width = 32u >> level, height = 16u >> level > 0 ? 16u >> level : 1;
    glGetTexImage(GL_TEXTURE_2D, level, GL_RGBA, GL_UNSIGNED_BYTE, room(width * height * 4));
  }
}

// Formats that are drawn to, and blended.
static void draw_formats(const GLenum* all, unsigned count, unsigned plain) {
  for (unsigned i = 0; i < count; ++i) {
    picture(all[i], 16, 16);
    if (!complete()) continue;
    use(PLAIN, "#version 120\nvarying vec2 u; void main() { gl_FragColor = vec4(u, 0.7, 0.6); }");
    everything();
    if (i >= plain) glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    use(PLAIN, COLOUR);
    set4("colour", 1, 0.4f, 0.2f, 0.6f);
    slants();
    glDisable(GL_BLEND);
    take(16, 16);
  }
}
static void small_floats(void) {
  static const GLenum kFormat = GL_R11F_G11F_B10F;
  draw_formats(&kFormat, 1, 0);
}
static void formats(void) {
  static const GLenum kFormats[] = {GL_RGB565,   GL_RGBA4,   GL_RGB5_A1, GL_RGBA8,   GL_RGB8,        GL_RGBA16,
                                    GL_RGB10_A2, GL_R8,      GL_RG8,     GL_R16,     GL_RG16,        GL_R16F,
                                    GL_RG16F,    GL_RGBA16F, GL_R32F,    GL_RGBA32F, GL_SRGB8_ALPHA8};
  // Of the first three llvmpipe rounds more than once when it blends.
  draw_formats(kFormats, sizeof kFormats / sizeof kFormats[0], 3);
}

// Attributes without perspective -------------------------------------------------------------------------------------

// A triangle that the near plane and a user's plane cut. (llvmpipe draws black where the sides cut one.)
static void no_perspective(void) {
  static const float kPlaces[] = {-0.9f, -0.8f, 0.0f, 1.0f, 0.9f, -0.7f, -3.0f, 0.7f, -0.2f, 1.8f, 0.5f, 2.0f};
  static const float kColours[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int turn = 0; turn < 3; ++turn) {
    picture(GL_RGBA8, kSize, kSize);
    use("#version 130\nin vec4 p; in vec3 t; noperspective out vec3 a; out vec3 b; uniform float plane;\n"
        "void main() { gl_Position = p; a = t; b = t.zxy; gl_ClipDistance[0] = plane > 0.5 ? p.x + 0.4 * p.w : 1.0; }",
        "#version 130\nnoperspective in vec3 a; in vec3 b; uniform float which;\n"
        "void main() { gl_FragColor = vec4(which > 0.5 ? b : a, 1.0); }");
    set1("plane", turn == 2 ? 1 : 0);
    set1("which", turn == 1 ? 1 : 0);
    if (turn == 2) glEnable(GL_CLIP_DISTANCE0);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, kPlaces);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, kColours);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glDisable(GL_CLIP_DISTANCE0);
    glDisableVertexAttribArray(1);
    take(kSize, kSize);
  }
}

// All of them --------------------------------------------------------------------------------------------------------

static const struct Scene {
  const char* name;
  int version;            // at least, or
  const char* extension;  // if there is one
  void (*draw)(void);
} kScenes[] = {
    {"masks", 21, NULL, masks},
    {"masked_clears", 21, NULL, masked_clears},
    {"masks_each", 30, "GL_EXT_draw_buffers2", masks_each},
    {"cube_nearest", 21, NULL, cube_nearest},
    {"cube_linear", 21, NULL, cube_linear},
    {"cube_seamless", 32, "GL_ARB_seamless_cube_map", cube_seamless},
    {"cube_levels", 30, NULL, cube_levels},
    {"cube_faces", 21, NULL, cube_faces},
    {"cube_mipmaps", 21, NULL, cube_mipmaps},
    {"cube_buffers", 21, NULL, cube_buffers},
    {"arrays_1d", 30, NULL, arrays_1d},
    {"depth_1d_arrays", 30, NULL, depth_1d_arrays},
    {"layer_clears", 30, NULL, layer_clears},
    {"volumes", 21, NULL, volumes},
    {"samples_4", 30, NULL, samples_4},
    {"sample_masks_4", 32, NULL, sample_masks_4},
    {"sample_masks_8", 32, NULL, sample_masks_8},
    {"sample_masks_16", 32, NULL, sample_masks_16},
    {"sample_fetch", 32, NULL, sample_fetch},
    {"alpha_coverage", 30, NULL, alpha_coverage},
    {"image_store", 42, NULL, image_store},
    {"image_kinds", 42, NULL, image_kinds},
    {"stencil_read", 21, NULL, stencil_read},
    {"stencil_clears", 21, NULL, stencil_clears},
    {"depth_formats", 21, NULL, depth_formats},
    {"blit_nearest", 21, NULL, blit_nearest},
    {"blit_linear", 21, NULL, blit_linear},
    {"blit_depth", 30, NULL, blit_depth},
    {"copies", 30, NULL, copies},
    {"mipmaps", 21, NULL, mipmaps},
    {"formats", 30, NULL, formats},
    {"small_floats", 30, NULL, small_floats},
    {"no_perspective", 30, NULL, no_perspective},
};

static EGLDisplay open_context(void) {
  EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  if (!eglInitialize(display, NULL, NULL)) return fprintf(stderr, "no display\n"), NULL;
  eglBindAPI(EGL_OPENGL_API);
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = NULL;
  EGLint found = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &found) || found == 0) return fprintf(stderr, "no config\n"), NULL;
  EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, NULL);
  if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) return fprintf(stderr, "no context\n"), NULL;
  int major = 0, minor = 0;
  sscanf((const char*)glGetString(GL_VERSION), "%d.%d", &major, &minor);
  version = major * 10 + minor;
  return display;
}

static int wanted(const struct Scene* scene, int count, char** names) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(scene->name, names[i]) == 0) return 1;
  }
  return count == 0 && (version >= scene->version || (scene->extension != NULL && has(scene->extension)));
}

int main(int count, char** names) {
  const char* folder = NULL;
  if (count > 2 && strcmp(names[1], "-o") == 0) {
    folder = names[2];
    count -= 2;
    names += 2;
  }
  EGLDisplay display = open_context();
  if (display == NULL) return 1;
  for (unsigned i = 0; i < sizeof kScenes / sizeof kScenes[0]; ++i) {
    const struct Scene* const scene = &kScenes[i];
    if (!wanted(scene, count - 1, names + 1)) continue;
    result_bytes = 0;
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    scene->draw();
    const GLenum error = glGetError();
    if (error != GL_NO_ERROR) return fprintf(stderr, "%s: GL error %x\n", scene->name, error), 1;
    if (folder != NULL) {
      char path[4096];
      snprintf(path, sizeof path, "%s/%s.rgba", folder, scene->name);
      FILE* const file = fopen(path, "wb");
      if (file == NULL || fwrite(result, 1, result_bytes, file) != result_bytes) return 1;
      fclose(file);
    }
    printf("%s\n", scene->name);
    fflush(stdout);
  }
  eglTerminate(display);
  return 0;
}
