// Multisampling: resolves, sample masks, sample fetches, alpha to coverage.
#include "targets.h"

static void resolved(int samples, int width, int height) {
  const GLuint many = make_frame();
  attach_buffer(GL_COLOR_ATTACHMENT0, GL_RGBA8, samples, width, height);
  attach_buffer(GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, samples, width, height);
  if (!frame_complete()) return;
  glViewport(0, 0, width, height);
  clear_frame(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
  glEnable(GL_DEPTH_TEST);
  use(PLAIN, COLOUR);
  set4("colour", 1, 0.5f, 0.25f, 1);
  slants();
  set4("colour", 0, 1, 0.5f, 0.5f);
  static const float kLeaning[] = {-0.9f, -0.2f, -0.9f, 0.9f, 0.1f, 0.9f, -0.1f, 0.9f, 0.1f};
  triangles(kLeaning, 3, 3);
  glDisable(GL_DEPTH_TEST);
  const GLuint one = picture(GL_RGBA8, width, height);
  resolve(many, one, width, height);
  take(width, height);
}
void samples_4(void) {
  resolved(4, kSize, kSize);
  resolved(4, 37, 23);
}
// Samples drawn one by one: the mean does not depend on their number.
static void by_masks(int wanted) {
  GLint most = 0;
  glGetIntegerv(GL_MAX_SAMPLES, &most);
  const int samples = wanted < most ? wanted : most;
  const GLuint many = make_frame();
  attach_buffer(GL_COLOR_ATTACHMENT0, GL_RGBA8, samples, 33, 16);
  if (!frame_complete()) return;
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
  resolve(many, one, 33, 16);
  take(33, 16);
}
void sample_masks_4(void) {
  by_masks(4);
}
void sample_masks_8(void) {
  by_masks(8);
}
void sample_masks_16(void) {
  by_masks(16);
}
// Fetches each sample of a multisampled texture.
void sample_fetch(void) {
  GLuint made = 0;
  glGenTextures(1, &made);
  glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, made);
  glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 24, 24, GL_TRUE);
  make_frame();
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D_MULTISAMPLE, made, 0);
  if (!frame_complete()) return;
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
void alpha_coverage(void) {
  const GLuint many = make_frame();
  attach_buffer(GL_COLOR_ATTACHMENT0, GL_RGBA8, 4, 32, 32);
  glViewport(0, 0, 32, 32);
  glClearColor(0, 0, 0, 0);
  glClear(GL_COLOR_BUFFER_BIT);
  glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
  use(PLAIN, COLOUR);
  // Alpha values far from the thresholds of four samples.
  for (int i = 0; i < 5; ++i) {
    set4("colour", 1, 1, 1, i == 4 ? 1 : (float)i / 4 + 0.0001f);
    square(-1 + 0.4f * (float)i, -1, -0.6f + 0.4f * (float)i, 1, 0);
  }
  glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
  const GLuint one = picture(GL_RGBA8, 32, 32);
  resolve(many, one, 32, 32);
  take(32, 32);
}
