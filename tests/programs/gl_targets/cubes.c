// Cube maps: filtering, rendering to faces and levels, transfers from and to buffers.
#include "targets.h"

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
// Shows all faces: two rows of three squares of 24 pixels.
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
void cube_nearest(void) {
  cube(kCube, 1);
  show_cube();
}
void cube_linear(void) {
  cube(8, 1);
  glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  show_cube();
}
void cube_seamless(void) {
  glEnable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
  cube_linear();
  glDisable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
}
void cube_levels(void) {
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
// Renders to each face and level, then reads and shows them.
void cube_faces(void) {
  const GLuint made = cube(16, 3);
  for (int level = 0; level < 3; ++level) {
    for (unsigned face = 0; face < 6; ++face) {
      make_frame();
      glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, made, level);
      if (!frame_complete()) return;
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
void cube_mipmaps(void) {
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
// Sizes that are not powers of two, from a buffer and back into one.
void cube_buffers(void) {
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
  // A part of a face, with another row length.
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
