// Scenes of the stages between vertices and pixels: geometry shaders of several topologies, transform feedback read
// back, tessellation. They leave 64 x 64 pixels RGBA8, or the bytes that were fed back and what queries counted.
// Colours are flat and places lie on whole pixels, so that every right answer is the same one.
#pragma once
#include "gl/frames.h"
#include "gl/scenes.h"

enum { kSize = 64 };

struct Stages {
  const char *vertex, *control, *evaluation, *geometry, *fragment;
  const char* fed[8];  // varyings that are fed back
  GLenum mode;
};
GLuint use(const struct Stages* stages);

// A grid of 4 x 4 places, in steps of a half; a number each.
#define GRID                                                                     \
  "vec2 place(int i) { return vec2(float(i % 4), float(i / 4)) * 0.5 - 1.0; }\n" \
  "vec3 paint(int i) { return vec3(float(i % 5), float(i % 3), float(i % 7)) * 0.125; }\n"
extern const char kGrid[], kFlat[];

// A cleared picture to draw to.
void frame(void);
// A buffer for what is fed back, and its bytes.
GLuint feedback_buffer(unsigned index, size_t bytes);
void read_back(GLuint buffer, size_t bytes);
// Counts of queries become numbers of the scene.
void take_counts(const GLuint* queries, int count);
// Feeds one draw back into one buffer and notes the two queries. Nothing is drawn.
void feed(GLenum primitive, GLenum topology, int vertices, int instances, size_t bytes);

// Rows of the scenes that each file has.
extern const struct Scene kGeometryScenes[], kFeedbackScenes[];
extern const size_t kGeometryCount, kFeedbackCount;
// As many as there are.
size_t tessellation_scenes(struct Scene* rows, size_t most);
