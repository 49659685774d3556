// Render target formats, and generated mip levels.
#include "targets.h"

void mipmaps(void) {
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

// Rendering and blending.
static void draw_formats(const GLenum* all, unsigned count, unsigned plain) {
  for (unsigned i = 0; i < count; ++i) {
    picture(all[i], 16, 16);
    if (!frame_complete()) continue;
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
void small_floats(void) {
  static const GLenum kFormat = GL_R11F_G11F_B10F;
  draw_formats(&kFormat, 1, 0);
}
void formats(void) {
  static const GLenum kFormats[] = {GL_RGB565,   GL_RGBA4,   GL_RGB5_A1, GL_RGBA8,   GL_RGB8,        GL_RGBA16,
                                    GL_RGB10_A2, GL_R8,      GL_RG8,     GL_R16,     GL_RG16,        GL_R16F,
                                    GL_RG16F,    GL_RGBA16F, GL_R32F,    GL_RGBA32F, GL_SRGB8_ALPHA8};
  // For the first three formats llvmpipe rounds more than once when it blends.
  draw_formats(kFormats, sizeof kFormats / sizeof kFormats[0], 3);
}
