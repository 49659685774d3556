#include "system.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

unsigned long interrupt_count(void) {
  unsigned long count = 0;
  char line[512];
  FILE* file = fopen("/proc/interrupts", "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof(line), file) != NULL) {
    const char* numbers = strchr(line, ':');
    if (numbers != NULL && strstr(line, "i915") != NULL) count += strtoul(numbers + 1, NULL, 10);
  }
  fclose(file);
  return count;
}

static int is_shown(const struct dirent* entry) {
  return entry->d_name[0] != '.';
}

unsigned engine_names(char* text, unsigned bytes) {
  struct dirent** entries;
  const int found = scandir("/sys/class/drm/card0/engine", &entries, is_shown, alphasort);
  unsigned used = 0;
  text[0] = 0;
  for (int i = 0; i < found; ++i) {
    used +=
        (unsigned)snprintf(text + used, used < bytes ? bytes - used : 0, "%s%s", i == 0 ? "" : " ", entries[i]->d_name);
    free(entries[i]);
  }
  if (found >= 0) free(entries);
  return found < 0 ? 0 : (unsigned)found;
}

static void read_one(const char* path, struct files_read* sum) {
  enum { most_bytes = 1 << 20 };
  static char data[65536];
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) {
    ++sum->refused;
    return;
  }
  ++sum->opened;
  ssize_t got;
  for (long all = 0; all < most_bytes && (got = read(file, data, sizeof(data))) > 0; all += got) {
    sum->bytes += (unsigned long)got;
  }
  close(file);
}

static void read_below(const char* folder, unsigned depth, struct files_read* sum) {
  enum { deepest = 12 };
  DIR* list = depth > deepest ? NULL : opendir(folder);
  if (list == NULL) return;
  for (const struct dirent* entry = readdir(list); entry != NULL; entry = readdir(list)) {
    char path[1024];
    struct stat kind;
    if (!is_shown(entry)) continue;
    if (snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= (int)sizeof(path)) continue;
    if (lstat(path, &kind) != 0) continue;
    if (S_ISDIR(kind.st_mode)) read_below(path, depth + 1, sum);
    if (S_ISREG(kind.st_mode)) read_one(path, sum);
  }
  closedir(list);
}

struct files_read read_files(const char* folder) {
  struct files_read sum = {0, 0, 0};
  read_below(folder, 0, &sum);
  return sum;
}
