// usage: gl_geometry [-o FOLDER] [scene...]   without scenes: all that the context's version has; -o: their bytes, as
// FOLDER/SCENE.rgba. Exit 0: nothing failed and nothing hung.
#include <string.h>

#include "stages.h"

int main(int count, char** words) {
  enum { kMax = 80 };
  static struct Scene all[kMax];
  memcpy(all, kGeometryScenes, kGeometryCount * sizeof all[0]);
  memcpy(all + kGeometryCount, kFeedbackScenes, kFeedbackCount * sizeof all[0]);
  const size_t before = kGeometryCount + kFeedbackCount;
  const size_t how_many = before + tessellation_scenes(all + before, kMax - before);

  open_display(EGL_OPENGL_API);
  static const int kVersions[] = {45, 40, 32};
  int made = 0;
  for (int i = 0; i < 3 && !made; ++i) {
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION,
                                 kVersions[i] / 10,
                                 EGL_CONTEXT_MINOR_VERSION,
                                 kVersions[i] % 10,
                                 EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                 EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                 EGL_NONE};
    made = make_context(attributes);
  }
  if (!made) fail("no context", "");
  GLuint array = 0;
  glGenVertexArrays(1, &array);
  glBindVertexArray(array);
  return run_scenes(count, words, all, how_many, NULL, NULL);
}
