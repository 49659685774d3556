#include "scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBytes = 1 << 20 };
static unsigned char result[kBytes];
static size_t result_bytes;
static const struct Scene* current;

const struct Scene* scene(void) {
  return current;
}

void* room(size_t bytes) {
  if (bytes > kBytes - result_bytes) fail("too many bytes: ", current->name);
  void* const at = result + result_bytes;
  result_bytes += bytes;
  return at;
}

void take(int width, int height) {
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, room((size_t)(width * height) * 4));
}

void save_bytes(const char* folder, const char* name, const void* bytes, size_t count) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.rgba", folder, name);
  FILE* const file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) fail("cannot be written: ", path);
}

static int named(const struct Scene* one, int count, char** names) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(one->name, names[i]) == 0) return 1;
  }
  return 0;
}

static int there_is(const struct Scene* one) {
  return gl_version() >= one->version || (one->extension != NULL && has_extension(one->extension));
}

static void run_scene(const char* folder, void (*before)(void), void (*after)(void)) {
  result_bytes = 0;
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  if (before != NULL) before();
  current->draw();
  if (after != NULL) after();
  check_errors(current->name);
  if (folder != NULL) save_bytes(folder, current->name, result, result_bytes);
}

int run_scenes(int count, char** words, const struct Scene* scenes, size_t how_many, void (*before)(void),
               void (*after)(void)) {
  const char* folder = NULL;
  time_t end = 0;
  --count;
  ++words;
  for (; count > 1 && words[0][0] == '-'; count -= 2, words += 2) {
    if (strcmp(words[0], "-o") == 0) folder = words[1];
    if (strcmp(words[0], "-t") == 0) end = time(NULL) + atoi(words[1]);
  }
  int done = 0;
  do {
    done = 0;
    for (size_t i = 0; i < how_many; ++i) {
      current = &scenes[i];
      if (!(count == 0 ? there_is(current) : named(current, count, words))) continue;
      run_scene(folder, before, after);
      printf("%s\n", current->name);
      fflush(stdout);
      ++done;
    }
  } while (done > 0 && time(NULL) < end);
  close_display();
  if (done < count) return fprintf(stderr, "%d scenes have names that there are not\n", count - done), 2;
  return 0;
}
