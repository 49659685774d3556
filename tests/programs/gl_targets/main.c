// usage: gl_targets [-o FOLDER] [scene...]   without scenes: all that the context has; -o: their bytes, as
// FOLDER/SCENE.rgba. Exit 0: nothing failed and nothing hung.
#include "targets.h"

#define ROW(name, version, extension) {#name, name, NULL, version, extension},
static const struct Scene kScenes[] = {TARGET_SCENES(ROW)};

int main(int count, char** words) {
  open_offscreen();
  return run_scenes(count, words, kScenes, sizeof kScenes / sizeof kScenes[0], NULL, NULL);
}
