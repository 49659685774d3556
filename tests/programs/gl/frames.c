#include "frames.h"

#include <stdio.h>

GLuint make_texture(GLenum target) {
  GLuint made = 0;
  glGenTextures(1, &made);
  glBindTexture(target, made);
  glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(target, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(target, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  return made;
}

GLuint make_frame(void) {
  GLuint made = 0;
  glGenFramebuffers(1, &made);
  glBindFramebuffer(GL_FRAMEBUFFER, made);
  return made;
}

int frame_complete(void) {
  const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
  if (status != GL_FRAMEBUFFER_COMPLETE) fprintf(stderr, "frame buffer: %x\n", status);
  return status == GL_FRAMEBUFFER_COMPLETE;
}

GLuint attach_buffer(GLenum attachment, GLenum format, int samples, int width, int height) {
  GLuint made = 0;
  glGenRenderbuffers(1, &made);
  glBindRenderbuffer(GL_RENDERBUFFER, made);
  glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, made);
  return made;
}

GLuint make_picture(GLenum format, int width, int height) {
  const GLuint made = make_frame();
  const GLuint texture = make_texture(GL_TEXTURE_2D);
  glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  glViewport(0, 0, width, height);
  return made;
}

void make_target(int size) {
  make_picture(GL_RGBA, size, size);
  attach_buffer(GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT24, 0, size, size);
}

void clear_frame(GLbitfield more) {
  glClearColor(0.25f, 0.5f, 0.75f, 1);
  glClear(GL_COLOR_BUFFER_BIT | more);
}

void resolve(GLuint many, GLuint one, int width, int height) {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, many);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, one);
  glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, one);
}
