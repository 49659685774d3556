// Runs the scenes of a list and writes each as FOLDER/SCENE.rgba: RGBA8 pixels, or bytes that were read back. The
// programs check nothing.
#pragma once
#include <stddef.h>

#include "offscreen.h"

struct Scene {
  const char* name;
  void (*draw)(void);
  const void* with;       // for scenes that share a function: scene()->with
  int version;            // minimum version of GL, or
  const char* extension;  // an extension that replaces it
};

// usage: PROGRAM [-o FOLDER] [-t SECONDS] [scene...]   default: all that the context supports; -o: writes their bytes;
// -t: draws them again until the time is over. Prints the name of each finished scene. before and after, if not NULL,
// are called around each scene. Returns main's status.
int run_scenes(int count, char** words, const struct Scene* scenes, size_t how_many, void (*before)(void),
               void (*after)(void));
// Returns the current scene.
const struct Scene* scene(void);
// Returns memory for the next bytes of the scene.
void* room(size_t bytes);
// Adds pixels from the lower left of the frame buffer.
void take(int width, int height);

void save_bytes(const char* folder, const char* name, const void* bytes, size_t count);
