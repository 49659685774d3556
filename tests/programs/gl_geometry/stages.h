// Scenes of the stages between vertices and pixels: geometry shaders of several topologies, transform feedback read
// back, tessellation. They write 64 x 64 RGBA8 pixels, or the captured bytes and the results of queries.
// Colours are flat and positions are whole pixels, so that there is only one right answer.
#pragma once
#include "gl/frames.h"
#include "gl/scenes.h"

enum { kSize = 64 };

struct Stages {
  const char *vertex, *control, *evaluation, *geometry, *fragment;
  const char* fed[8];  // captured varyings
  GLenum mode;
};
GLuint use(const struct Stages* stages);

// A grid of 4 x 4 points in steps of a half, each with a number.
#define GRID                                                                     \
  "vec2 place(int i) { return vec2(float(i % 4), float(i / 4)) * 0.5 - 1.0; }\n" \
  "vec3 paint(int i) { return vec3(float(i % 5), float(i % 3), float(i % 7)) * 0.125; }\n"
extern const char kGrid[], kFlat[];

// Creates a cleared render target.
void frame(void);
// Creates a feedback buffer of this many bytes.
GLuint feedback_buffer(unsigned index, size_t bytes);
void read_back(GLuint buffer, size_t bytes);
// Adds the results of queries to the scene.
void take_counts(const GLuint* queries, int count);
// Captures one draw into one buffer and records the two queries. Rasterisation is off.
void feed(GLenum primitive, GLenum topology, int vertices, int instances, size_t bytes);

// Rows of the scenes in each file.
extern const struct Scene kGeometryScenes[], kFeedbackScenes[];
extern const size_t kGeometryCount, kFeedbackCount;
// Writes the rows of the tessellation scenes; returns their number.
size_t tessellation_scenes(struct Scene* rows, size_t most);
