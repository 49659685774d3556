// Scenes of render targets and other things that GL programs draw to and read from: masks, faces, layers, levels,
// samples, stretched blits, images, stencil and depth, pixel buffers, attributes without perspective. Each writes RGBA8
// pixels or bytes that were read back. tests/doors/targets.py checks them.
#pragma once
#include "gl/frames.h"
#include "gl/scenes.h"

// All scenes: name, minimum version of GL, and an extension that replaces the version (NULL: none). A scene is a
// function in one of the other files.
#define TARGET_SCENES(X)                           \
  X(masks, 21, NULL)                               \
  X(masked_clears, 21, NULL)                       \
  X(masks_each, 30, "GL_EXT_draw_buffers2")        \
  X(cube_nearest, 21, NULL)                        \
  X(cube_linear, 21, NULL)                         \
  X(cube_seamless, 32, "GL_ARB_seamless_cube_map") \
  X(cube_levels, 30, NULL)                         \
  X(cube_faces, 21, NULL)                          \
  X(cube_mipmaps, 21, NULL)                        \
  X(cube_buffers, 21, NULL)                        \
  X(arrays_1d, 30, NULL)                           \
  X(depth_1d_arrays, 30, NULL)                     \
  X(layer_clears, 30, NULL)                        \
  X(volumes, 21, NULL)                             \
  X(samples_4, 30, NULL)                           \
  X(sample_masks_4, 32, NULL)                      \
  X(sample_masks_8, 32, NULL)                      \
  X(sample_masks_16, 32, NULL)                     \
  X(sample_fetch, 32, NULL)                        \
  X(alpha_coverage, 30, NULL)                      \
  X(image_store, 42, NULL)                         \
  X(image_kinds, 42, NULL)                         \
  X(stencil_read, 21, NULL)                        \
  X(stencil_clears, 21, NULL)                      \
  X(depth_formats, 21, NULL)                       \
  X(blit_nearest, 21, NULL)                        \
  X(blit_linear, 21, NULL)                         \
  X(blit_depth, 30, NULL)                          \
  X(copies, 30, NULL)                              \
  X(mipmaps, 21, NULL)                             \
  X(formats, 30, NULL)                             \
  X(small_floats, 30, NULL)                        \
  X(no_perspective, 30, NULL)

#define DECLARE(name, version, extension) void name(void);
TARGET_SCENES(DECLARE)
#undef DECLARE

enum { kSize = 64 };

#define PLAIN "#version 120\nattribute vec4 p; varying vec2 u; void main() { gl_Position = p; u = p.xy * 0.5 + 0.5; }\n"
#define COLOUR "#version 120\nuniform vec4 colour; void main() { gl_FragColor = colour; }\n"

// Creates a program with the attributes p and t.
void use(const char* vertex, const char* fragment);
// Set uniforms of the program in use.
void set1(const char* name, float value);
void set4(const char* name, float r, float g, float b, float a);

void triangles(const float* places, int size, int count);
void square(float x0, float y0, float x1, float y1, float z);
void everything(void);
// Draws two triangles with slanted edges.
void slants(void);
// Draws a triangle with a different depth at each corner.
void leaning(void);

// Creates a cleared render target.
GLuint picture(GLenum format, int width, int height);
void fill_texels(unsigned char* texels, size_t bytes, unsigned seed);
