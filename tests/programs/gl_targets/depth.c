// Depth and stencil: tests, clears, reads, sampling.
#include "targets.h"

void stencil_read(void) {
  picture(GL_RGBA8, kSize, kSize);
  attach_buffer(GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, 0, kSize, kSize);
  if (!frame_complete()) return;
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
// Clears with masks and scissors, of stencil only and of depth only.
void stencil_clears(void) {
  picture(GL_RGBA8, 40, 28);
  attach_buffer(GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, 0, 40, 28);
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
// Depth textures of all formats: clears, rendering, sampling.
void depth_formats(void) {
  static const GLenum kFormats[] = {GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT32F};
  for (unsigned i = 0; i < (gl_version() >= 30 ? 3u : 2u); ++i) {
    const GLuint made = make_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)kFormats[i], 40, 24, 0, GL_DEPTH_COMPONENT, GL_FLOAT, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    picture(GL_RGBA8, 40, 24);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, made, 0);
    if (!frame_complete()) return;
    glClearDepth(0.61);
    glClear(GL_DEPTH_BUFFER_BIT);
    glClearDepth(1);
    glEnable(GL_DEPTH_TEST);
    use(PLAIN, COLOUR);
    set4("colour", 1, 0, 0, 1);
    leaning();
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
