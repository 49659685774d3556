// Colour masks of draws, of clears, and per render target.
#include "targets.h"

void masks(void) {
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
void masked_clears(void) {
  for (int mask = 0; mask < 16; ++mask) {
    picture(GL_RGBA8, 16, 16);
    glColorMask(mask & 1, mask >> 1 & 1, mask >> 2 & 1, mask >> 3 & 1);
    glClearColor(0.8f, 0.6f, 0.2f, 0.4f);
    glClear(GL_COLOR_BUFFER_BIT);
    glColorMask(1, 1, 1, 1);
    take(16, 16);
  }
}
// One mask per render target.
void masks_each(void) {
  make_frame();
  GLenum order[3];
  for (unsigned i = 0; i < 3; ++i) {
    const GLuint texture = make_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    order[i] = GL_COLOR_ATTACHMENT0 + i;
    glFramebufferTexture2D(GL_FRAMEBUFFER, order[i], GL_TEXTURE_2D, texture, 0);
  }
  glDrawBuffers(3, order);
  if (!frame_complete()) return;
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
