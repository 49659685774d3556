// usage: gl_targets [-o FOLDER] [scene...]   default: all that the context supports; -o: writes their
// bytes as FOLDER/SCENE.rgba. Exit status 0: no error and no hang.
#include "targets.h"

#define ROW(name, version, extension) {#name, name, NULL, version, extension},
static const struct Scene kScenes[] = {TARGET_SCENES(ROW)};

int main(int count, char** words) {
  open_offscreen();
  return run_scenes(count, words, kScenes, sizeof kScenes / sizeof kScenes[0], NULL, NULL);
}
