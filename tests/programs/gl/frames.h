// Textures and frame buffers that GL programs without a window draw to.
#pragma once
#include "offscreen.h"

// Bound; nearest texels, clamped at its edges.
GLuint make_texture(GLenum target);
// Bound, with nothing attached.
GLuint make_frame(void);
// Whether it can be drawn to; else the program says so and goes on.
int frame_complete(void);
GLuint attach_buffer(GLenum attachment, GLenum format, int samples, int width, int height);
// A frame with a texture, which stays bound; the viewport is all of it.
GLuint make_picture(GLenum format, int width, int height);
// The same, of size x size, with a depth buffer.
void make_target(int size);
// To the colour that scenes begin with; more: GL_DEPTH_BUFFER_BIT, ...
void clear_frame(GLbitfield more);
// What a frame of several samples holds, in a picture of one, which is bound then.
void resolve(GLuint many, GLuint one, int width, int height);
