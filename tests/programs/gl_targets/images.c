// Image stores: to one layer of a level, or to all layers.
#include "targets.h"

// Stores to one layer of one level; all layers are read back.
void image_store(void) {
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
// All layers are bound: cube map, 1D array, 3D texture.
void image_kinds(void) {
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
