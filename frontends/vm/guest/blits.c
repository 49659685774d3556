#include "blits.h"

#include <stdio.h>
#include <string.h>

#include "gem.h"

enum { width = 64, height = 24, pitch = 4 * width, bytes = pitch * height };  // two pages, the second in part

struct rectangle {
  unsigned left, top, right, bottom;
};

static uint64_t engine(void) {
  return chip.generation == 4 ? I915_EXEC_RENDER : I915_EXEC_BLT;
}

static uint32_t corner(unsigned x, unsigned y) {
  return y << 16 | x;
}

static void add_fill_of(struct batch* batch, const struct object* to, unsigned depth, unsigned to_pitch,
                        struct rectangle area, uint32_t color) {
  const uint32_t channels = depth == 3 ? 3u << 20 : 0;
  add(batch, 2u << 29 | 0x50 << 22 | channels | (chip.generation >= 8 ? 5 : 4));  // XY_COLOR_BLT
  add(batch, depth << 24 | 0xf0 << 16 | to_pitch);
  add(batch, corner(area.left, area.top));
  add(batch, corner(area.right, area.bottom));
  add_address(batch, to, 0);
  add(batch, color);
}

static void add_fill(struct batch* batch, const struct object* to, unsigned depth, struct rectangle area,
                     uint32_t color) {
  add_fill_of(batch, to, depth, pitch, area, color);
}

static void add_copy(struct batch* batch, const struct object* to, struct rectangle area, const struct object* from,
                     unsigned x, unsigned y) {
  add(batch, 2u << 29 | 0x53 << 22 | 3u << 20 | (chip.generation >= 8 ? 8 : 6));  // XY_SRC_COPY_BLT
  add(batch, 3u << 24 | 0xcc << 16 | pitch);
  add(batch, corner(area.left, area.top));
  add(batch, corner(area.right, area.bottom));
  add_address(batch, to, 0);
  add(batch, corner(x, y));
  add(batch, pitch);
  add_address(batch, from, 0);
}

static void add_fast_copy(struct batch* batch, const struct object* to, int to_place, struct rectangle area,
                          const struct object* from, int from_place, unsigned x, unsigned y) {
  uint32_t memory = 0;
  if (chip.generation >= 12) memory = (from_place == in_system ? 1u << 29 : 0) | (to_place == in_system ? 1u << 28 : 0);
  add(batch, 2u << 29 | 0x42 << 22 | 8);  // XY_FAST_COPY_BLT
  add(batch, memory | 3u << 24 | pitch);
  add(batch, corner(area.left, area.top));
  add(batch, corner(area.right, area.bottom));
  add_address(batch, to, 0);
  add(batch, corner(x, y));
  add(batch, pitch);
  add_address(batch, from, 0);
}

static void add_block_copy(struct batch* batch, const struct object* to, int to_place, struct rectangle area,
                           const struct object* from, int from_place, unsigned x, unsigned y) {
  add(batch, 2u << 29 | 0x41 << 22 | 2u << 19 | 10);  // XY_BLOCK_COPY_BLT
  add(batch, pitch - 1);
  add(batch, corner(area.left, area.top));
  add(batch, corner(area.right, area.bottom));
  add_address(batch, to, 0);
  add(batch, to_place == in_system ? 1u << 31 : 0);
  add(batch, corner(x, y));
  add(batch, pitch - 1);
  add_address(batch, from, 0);
  add(batch, from_place == in_system ? 1u << 31 : 0);
}

// The expected content of the surface.
static uint8_t wanted[bytes], source[bytes], seen[bytes];

static void reset_surfaces(const struct object* to, const struct object* from) {
  for (unsigned i = 0; i < bytes; ++i) {
    wanted[i] = (uint8_t)(0x5a + i / pitch);
    source[i] = (uint8_t)(i * 7 + i / 251);
  }
  put(to, 0, wanted, bytes);
  put(from, 0, source, bytes);
}

static void fill_wanted(unsigned pixel_bytes, struct rectangle area, uint32_t color) {
  for (unsigned y = area.top; y < area.bottom; ++y) {
    for (unsigned x = area.left; x < area.right; ++x) memcpy(wanted + y * pitch + x * pixel_bytes, &color, pixel_bytes);
  }
}

static void copy_wanted(struct rectangle area, unsigned x, unsigned y) {
  for (unsigned row = area.top; row < area.bottom; ++row) {
    memcpy(wanted + row * pitch + 4 * area.left, source + (y + row - area.top) * pitch + 4 * x,
           4 * (area.right - area.left));
  }
}

// Returns -1 if the content is as expected, otherwise the offset of the first byte that differs. Returns 0 if
// the content cannot be read.
static int difference(const struct object* object, enum way way) {
  memset(seen, 0xee, sizeof(seen));
  if (see(object, way, seen, bytes) != 0) return 0;
  for (int i = 0; i < bytes; ++i) {
    if (seen[i] != wanted[i]) return i;
  }
  return -1;
}

static void check(void (*expect)(int, const char*), const char* what, struct batch* batch, const struct object* to) {
  char text[160];
  const int done = submit(batch, engine(), 0) == 0 && wait_for(&batch->object) == 0;
  int used = snprintf(text, sizeof(text), "%s%s:", what, done ? "" : " does not end");
  int holds = done;
  for (enum way way = 0; way < ways; ++way) {
    if (!is_offered(way)) continue;
    const int at = difference(to, way);
    holds = holds && at < 0;
    if (at < 0) {
      used += snprintf(text + used, sizeof(text) - (unsigned)used, " %s right", way_name[way]);
    } else {
      used += snprintf(text + used, sizeof(text) - (unsigned)used, " %s byte %d is %02x, not %02x", way_name[way], at,
                       seen[at], wanted[at]);
    }
  }
  expect(holds, text);
}

static void test_between(void (*expect)(int, const char*), int from_place, int to_place) {
  static const char* const places[] = {"", " in local memory"};
  const struct object from = create(bytes, from_place), to = create(bytes, to_place), commands = create(4096, to_place);
  struct batch batch;
  char text[96];
  for (unsigned depth = 0; depth <= 3; depth += depth == 1 ? 2 : 1) {  // 8, 16 and 32 bits
    const unsigned pixel_bytes = depth == 3 ? 4 : depth + 1;
    const struct rectangle area = {5, 3, 61, 22};
    reset_surfaces(&to, &from);
    start_batch(&batch, &commands);
    add_fill(&batch, &to, depth, area, 0xc1d2e3f4);
    fill_wanted(pixel_bytes, area, 0xc1d2e3f4);
    snprintf(text, sizeof(text), "a fill of %u bits%s", 8 * pixel_bytes, places[to_place]);
    check(expect, text, &batch, &to);
  }
  static const char* const kinds[] = {"a copy", "a fast copy", "a block copy"};
  for (unsigned kind = 0; kind < 3; ++kind) {
    if ((kind == 1 && chip.generation < 9) || (kind == 2 && chip.generation < 12)) continue;
    const struct rectangle area = {7, 5, 55, 19};
    reset_surfaces(&to, &from);
    start_batch(&batch, &commands);
    if (kind == 0) add_copy(&batch, &to, area, &from, 16, 8);
    if (kind == 1) add_fast_copy(&batch, &to, to_place, area, &from, from_place, 16, 8);
    if (kind == 2) add_block_copy(&batch, &to, to_place, area, &from, from_place, 16, 8);
    copy_wanted(area, 16, 8);
    snprintf(text, sizeof(text), "%s%s%s", kinds[kind], places[to_place],
             from_place != to_place ? " from the other" : "");
    check(expect, text, &batch, &to);
  }
}

void test_blits(void (*expect)(int holds, const char* what), int everywhere) {
  test_between(expect, in_system, in_system);
  if (!everywhere || !chip.has_local_memory) return;
  test_between(expect, in_system, in_local);
  test_between(expect, in_local, in_system);
}

int run_long_fills(void) {
  enum { side = 512, large_pitch = 4 * side, batches = 8, fills = 6 };
  const struct object to = create(large_pitch * side, in_system);
  const struct rectangle all = {0, 0, side, side};
  for (unsigned i = 0; i < batches; ++i) {
    const struct object commands = create(4096, in_system);
    struct batch batch;
    start_batch(&batch, &commands);
    for (unsigned fill = 0; fill < fills; ++fill) add_fill_of(&batch, &to, 3, large_pitch, all, i * fills + fill);
    if (submit(&batch, engine(), 0) != 0) return -1;
  }
  uint32_t last = 0;
  if (wait_for(&to) != 0 || get(&to, large_pitch * side - 4, &last, sizeof(last)) != 0) return -1;
  return last == batches * fills - 1 ? 0 : -1;
}
