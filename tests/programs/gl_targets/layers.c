// Layers of 1D arrays, 2D arrays and 3D textures, and their levels.
#include "targets.h"

// 1D arrays: layers are filled, rendered to one by one, and shown as rows.
void arrays_1d(void) {
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
      if (!frame_complete()) return;
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
void depth_1d_arrays(void) {
  const GLuint made = make_texture(GL_TEXTURE_1D_ARRAY);
  glTexImage2D(GL_TEXTURE_1D_ARRAY, 0, GL_DEPTH_COMPONENT24, 64, 5, 0, GL_DEPTH_COMPONENT, GL_FLOAT, NULL);
  glTexParameteri(GL_TEXTURE_1D_ARRAY, GL_TEXTURE_MAX_LEVEL, 0);
  glEnable(GL_DEPTH_TEST);
  for (int layer = 0; layer < 5; ++layer) {
    make_frame();
    glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, made, 0, layer);
    glDrawBuffer(GL_NONE);
    glReadBuffer(GL_NONE);
    if (!frame_complete()) return;
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
// Clears of single layers, in several formats and two levels; other layers stay.
void layer_clears(void) {
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
void volumes(void) {
  static unsigned char texels[18 * 10 * 9 * 4];
  fill_texels(texels, sizeof texels, 8);
  const GLuint made = make_texture(GL_TEXTURE_3D);
  glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_R, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAX_LEVEL, 2);
  static const int kDepths[] = {9, 4, 2};
  for (int level = 0; level < 3; ++level) {
    const int width = 18 >> level, height = 10 >> level;
    glTexImage3D(GL_TEXTURE_3D, level, GL_RGBA8, width, height, kDepths[level], 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    // One by one: for the first chips Mesa wrongly treats slices of smaller levels as equally spaced.
    for (int layer = 0; layer < kDepths[level]; ++layer) {
      glTexSubImage3D(GL_TEXTURE_3D, level, 0, 0, layer, width, height, 1, GL_RGBA, GL_UNSIGNED_BYTE,
                      texels + (layer * 4 + level) * 99);
    }
  }
  for (int level = 0; level < 3; ++level) {
    for (int layer = 0; layer < kDepths[level]; ++layer) {
      make_frame();
      glFramebufferTexture3D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_3D, made, level, layer);
      if (!frame_complete()) return;
      glViewport(0, 0, 18 >> level, 10 >> level);
      use(PLAIN, COLOUR);
      set4("colour", 1, (float)layer / 9, (float)level / 3, 0.5f);
      if (layer % 3 == 1) slants();
      take(18 >> level, 10 >> level);
    }
  }
}
