// Blits and copies: stretched, mirrored, clipped at edges.
#include "targets.h"

static GLuint pattern(GLenum format, int width, int height) {
  static unsigned char texels[64 * 64 * 4];
  // Smooth, so that filtering shows and the last bits of weights do not.
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
  frame_complete();
  return made;
}
static void blits(GLenum filter) {
  static const GLenum kFormats[] = {GL_RGBA8, GL_RGBA16F, GL_RGB10_A2};
  for (unsigned f = 0; f < (gl_version() >= 30 ? 3u : 1u); ++f) {
    const GLuint from = pattern(GL_RGBA8, 32, 24);
    const GLuint to = picture(kFormats[f], kSize, kSize);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
    // Odd sizes, so that no sample point is exactly between two pixels.
    glBlitFramebuffer(0, 0, 31, 23, 0, 0, 51, 37, GL_COLOR_BUFFER_BIT, filter);     // larger
    glBlitFramebuffer(0, 0, 31, 23, 60, 63, 48, 40, GL_COLOR_BUFFER_BIT, filter);   // smaller, mirrored
    glBlitFramebuffer(5, 3, 20, 16, 2, 63, 34, 41, GL_COLOR_BUFFER_BIT, filter);    // upside down
    glBlitFramebuffer(-4, -4, 11, 11, 44, 4, 76, 36, GL_COLOR_BUFFER_BIT, filter);  // beyond both frame buffers
    glEnable(GL_SCISSOR_TEST);
    glScissor(20, 10, 9, 7);
    glBlitFramebuffer(31, 0, 0, 23, 10, 5, 40, 30, GL_COLOR_BUFFER_BIT, filter);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, to);
    take(kSize, kSize);
  }
}
void blit_nearest(void) {
  blits(GL_NEAREST);
}
void blit_linear(void) {
  blits(GL_LINEAR);
}
void blit_depth(void) {
  const GLuint from = make_frame();
  attach_buffer(GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, 0, 32, 24);
  glDrawBuffer(GL_NONE);
  glReadBuffer(GL_NONE);
  glViewport(0, 0, 32, 24);
  glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
  glEnable(GL_DEPTH_TEST);
  glEnable(GL_STENCIL_TEST);
  glStencilFunc(GL_ALWAYS, 0x77, 0xff);
  glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
  use(PLAIN, COLOUR);
  leaning();
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_STENCIL_TEST);
  const GLuint to = make_frame();
  attach_buffer(GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, 0, 48, 48);
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
void copies(void) {
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
