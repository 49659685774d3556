// EXECBUFFER2: what it refuses, and where batches start and end.
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static void nothing(struct batch* batch) {
  start_batch(batch);
  add_end(batch);
  finish_batch(batch, I915_EXEC_RENDER, 0);
}

static void counts(void) {
  struct batch batch;
  nothing(&batch);
  expect("nothing to do", submit_as_is(&batch), 0);
  batch.execute.buffer_count = 0;
  expect("no buffers", submit_as_is(&batch), -EINVAL);
  batch.execute.buffer_count = 0x7fffffff;
  observe("too many", submit_as_is(&batch));
  batch.execute.buffer_count = ~0u;
  expect("far too many", submit_as_is(&batch), -EINVAL);
  batch.execute.buffer_count = 1;
  batch.execute.buffers_ptr = 0;
  expect("null", submit_as_is(&batch), -EFAULT);
  batch.execute.buffers_ptr = 0x1000;
  expect("wild", submit_as_is(&batch), -EFAULT);
  nothing(&batch);
  batch.objects[0].handle = 0;
  expect("handle 0", submit_as_is(&batch), -ENOENT);
  batch.objects[0].handle = 4711;
  expect("unknown handle", submit_as_is(&batch), -ENOENT);
  nothing(&batch);
  batch.objects[1] = batch.objects[0];
  batch.execute.buffer_count = 2;
  observe("twice", submit_as_is(&batch));
  struct drm_i915_gem_execbuffer old = {.buffers_ptr = (uintptr_t)batch.objects, .buffer_count = 1};
  observe("old call", call(DRM_IOCTL_I915_GEM_EXECBUFFER, &old));
}

static void flags(void) {
  for (unsigned bit = 6; bit < 64; ++bit) {
    struct batch batch;
    nothing(&batch);
    batch.execute.flags |= 1ull << bit;
    const int result = submit_as_is(&batch);
    observe(key("bit %u", bit), result);
    if (bit >= 22) expect(key("free bit %u", bit), result, -EINVAL);
    close_object(&batch.object);
  }
  struct batch batch;
  nothing(&batch);
  batch.execute.flags |= I915_EXEC_CONSTANTS_REL_SURFACE;
  observe("both of constants", submit_as_is(&batch));
}

static void engine_numbers(void) {
  for (unsigned number = 0; number < 64; ++number) {
    struct batch batch;
    nothing(&batch);
    batch.execute.flags = number;
    const int result = submit_as_is(&batch);
    if (number < 8) {
      observe(key("engine %u", number), result);
    } else {
      expect(key("engine %u", number), result, -EINVAL);
    }
    wait_for(&batch.object);
    close_object(&batch.object);
  }
  for (uint64_t choice = 1; choice < 4; ++choice) {
    for (uint64_t engine = I915_EXEC_RENDER; engine <= I915_EXEC_BLT; ++engine) {
      struct batch batch;
      nothing(&batch);
      batch.execute.flags = engine | choice << 13;
      observe(key("engine %u choice %u", (unsigned)engine, (unsigned)choice), submit_as_is(&batch));
      wait_for(&batch.object);
    }
  }
}

static void fields(void) {
  struct batch batch;
  nothing(&batch);
  batch.execute.DR1 = 1;
  observe("DR1", submit_as_is(&batch));
  nothing(&batch);
  batch.execute.DR4 = 1;
  observe("DR4", submit_as_is(&batch));
  nothing(&batch);
  batch.execute.DR4 = 0xffffffff;
  observe("DR4, all", submit_as_is(&batch));
  nothing(&batch);
  batch.execute.num_cliprects = 1;
  observe("clip rectangles", submit_as_is(&batch));
  nothing(&batch);
  batch.execute.cliprects_ptr = 0x1000;
  observe("pointer to clip rectangles", submit_as_is(&batch));
  nothing(&batch);
  batch.execute.rsvd2 = 77;
  observe("reserved", submit_as_is(&batch));
  nothing(&batch);
  batch.execute.rsvd1 = 1ull << 40;
  observe("context's upper half", submit_as_is(&batch));
}

static void object_flags(void) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    struct batch batch;
    nothing(&batch);
    batch.objects[0].flags ^= 1ull << bit;
    const int result = submit_as_is(&batch);
    observe(key("bit %u", bit), result);
    if (bit >= 8) expect(key("free bit %u", bit), result, -EINVAL);
    close_object(&batch.object);
  }
  static const uint64_t alignments[] = {1, 2, 3, 4096, 8192, 12288, 5, 65536, 1ull << 32, 1ull << 63, ~0ull};
  for (unsigned i = 0; i < sizeof(alignments) / sizeof(alignments[0]); ++i) {
    struct batch batch;
    nothing(&batch);
    batch.objects[0].flags &= ~(uint64_t)EXEC_OBJECT_PINNED;
    batch.objects[0].alignment = alignments[i];
    const int result = submit_as_is(&batch);
    observe(key("alignment %llx", (unsigned long long)alignments[i]), result);
    if (result == 0 && alignments[i] % 4096 == 0) {
      expect_number("misplaced", batch.objects[0].offset % alignments[i], 0);
    }
  }
  static const uint64_t pads[] = {0, 1, 4096, 8192, 65536, 1ull << 63};
  for (unsigned i = 0; i < sizeof(pads) / sizeof(pads[0]); ++i) {
    struct batch batch;
    nothing(&batch);
    batch.objects[0].flags &= ~(uint64_t)EXEC_OBJECT_PINNED;
    batch.objects[0].flags |= EXEC_OBJECT_PAD_TO_SIZE;
    batch.objects[0].pad_to_size = pads[i];
    observe(key("pad %llx", (unsigned long long)pads[i]), submit_as_is(&batch));
    nothing(&batch);
    batch.objects[0].pad_to_size = pads[i];
    observe(key("pad without flag %llx", (unsigned long long)pads[i]), submit_as_is(&batch));
  }
  struct batch batch;
  nothing(&batch);
  batch.objects[0].rsvd2 = 5;
  observe("reserved", submit_as_is(&batch));
  observe_number("reserved becomes", batch.objects[0].rsvd2);
}

static void lengths(void) {
  static const struct {
    uint32_t start, length;
  } rows[] = {{0, 0},    {0, 8},    {0, 4},          {0, 1},          {0, 12},         {4, 8},         {2, 8},
              {8, 8},    {8, 0},    {4088, 8},       {4088, 16},      {4096, 8},       {4096, 0},      {0, 4096},
              {0, 4104}, {8192, 8}, {0xfffffff8, 8}, {8, 0xfffffff8}, {0, 0xfffffff8}, {0, 0x80000000}};
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    struct batch batch;
    nothing(&batch);
    uint32_t ends[1024];
    for (unsigned j = 0; j < 1024; ++j) ends[j] = 0x05000000;
    put(&batch.object, 0, ends, sizeof(ends));
    batch.execute.batch_start_offset = rows[i].start;
    batch.execute.batch_len = rows[i].length;
    observe(key("start %x length %x", rows[i].start, rows[i].length), submit_as_is(&batch));
    wait_for(&batch.object);
    close_object(&batch.object);
  }
}

// Tests a batch in the middle of its object, and a batch that is first in the list.
static void starts(void) {
  const struct object target = create(4096);
  struct batch batch;
  start_batch(&batch);
  for (unsigned i = 0; i < 64; ++i) add(&batch, 0x05000000);
  add_store(&batch, &target, 0, 0x1234);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER, 0);
  batch.execute.batch_start_offset = 256;
  batch.execute.batch_len = 0;
  expect("in the middle", submit_as_is(&batch), 0);
  wait_for(&target);
  expect_number("word", word_at(&target, 0), 0x1234);
  start_batch(&batch);
  add_store(&batch, &target, 4, 0x5678);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER | I915_EXEC_BATCH_FIRST, 0);
  const struct drm_i915_gem_exec_object2 entry = batch.objects[0];
  batch.objects[0] = batch.objects[1];
  batch.objects[1] = entry;
  expect("first", submit_as_is(&batch), 0);
  wait_for(&target);
  expect_number("second word", word_at(&target, 4), 0x5678);
}

static void secure(void) {
  struct batch batch;
  nothing(&batch);
  batch.execute.flags |= I915_EXEC_SECURE;
  observe("secure", submit_as_is(&batch));
}

// If the list is read-only, the call succeeds without writing it, or fails with an error.
static void written_back(void) {
  struct batch batch;
  nothing(&batch);
  batch.objects[0].flags &= ~(uint64_t)EXEC_OBJECT_PINNED;
  batch.objects[0].offset = 0;
  expect("execute", submit_as_is(&batch), 0);
  const uint64_t place = batch.objects[0].offset;
  expect("again", submit_as_is(&batch), 0);
  expect_true("the same place", batch.objects[0].offset == place);
  batch.objects[0].offset = 0x7000;
  expect("with another guess", submit_as_is(&batch), 0);
  expect_true("still the same", batch.objects[0].offset == place);
}

const struct test execute_tests[] = {{"execute.counts", counts, 0},
                                     {"execute.flags", flags, 0},
                                     {"execute.engines", engine_numbers, 0},
                                     {"execute.fields", fields, 0},
                                     {"execute.object-flags", object_flags, 0},
                                     {"execute.lengths", lengths, 0},
                                     {"execute.starts", starts, 0},
                                     {"execute.secure", secure, 0},
                                     {"execute.written-back", written_back, 0},
                                     {0}};
