// Textures and frame buffers that GL programs without a window draw to.
#pragma once
#include "offscreen.h"

// Creates a texture and binds it; nearest filter, clamped at its edges.
GLuint make_texture(GLenum target);
// Creates a frame buffer and binds it, without attachments.
GLuint make_frame(void);
// Returns whether the bound frame buffer is complete; prints a line if it is not.
int frame_complete(void);
GLuint attach_buffer(GLenum attachment, GLenum format, int samples, int width, int height);
// Creates a frame buffer with a texture, which stays bound; the viewport covers it.
GLuint make_picture(GLenum format, int width, int height);
// Does the same with size x size pixels and a depth buffer.
void make_target(int size);
// Clears to the colour that scenes start with; more: GL_DEPTH_BUFFER_BIT, ...
void clear_frame(GLbitfield more);
// Resolves a multisampled frame buffer into one with a single sample and binds that.
void resolve(GLuint many, GLuint one, int width, int height);
