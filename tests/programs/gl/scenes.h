// Programs that draw scenes of a list and leave what stands in them as FOLDER/SCENE.rgba: pixels of RGBA8, or bytes
// that were read back. Nothing is judged in them.
#pragma once
#include <stddef.h>

#include "offscreen.h"

struct Scene {
  const char* name;
  void (*draw)(void);
  const void* with;       // for scenes that share a function: scene()->with
  int version;            // of GL, at least this, or
  const char* extension;  // if there is one
};

// usage: PROGRAM [-o FOLDER] [scene...]   without scenes: all that the context has; -o: their bytes. Prints the name of
// each that is done. before and after, where they are not NULL, are called around each. Gives main's status.
int run_scenes(int count, char** words, const struct Scene* scenes, size_t how_many, void (*before)(void),
               void (*after)(void));
// The one that is drawn.
const struct Scene* scene(void);
// Where the next bytes of the scene go.
void* room(size_t bytes);
// Pixels from the lower left of the frame buffer.
void take(int width, int height);

void save_bytes(const char* folder, const char* name, const void* bytes, size_t count);
