// Stores by every engine.
#include <string.h>

#include "suite.h"

static void every_engine(void) {
  const struct object target = create(4096);
  for (unsigned i = 0; i < engine_kinds; ++i) {
    if (!has_engine(i)) continue;
    if (!can_store(i)) {
      struct batch batch;
      start_batch(&batch);
      expect(key("%s nothing", engines[i].name), submit(&batch, engines[i].flag, 0), 0);
      expect(key("%s wait", engines[i].name), wait_for(&batch.object), 0);
      continue;
    }
    expect(key("%s store", engines[i].name), store(engines[i].flag, 0, &target, 8 * i, 0xc0de00 + i), 0);
    expect(key("%s wait", engines[i].name), wait_for(&target), 0);
    expect_number(engines[i].name, word_at(&target, 8 * i), 0xc0de00 + i);
    expect_number(key("%s beside", engines[i].name), word_at(&target, 8 * i + 4), 0);
  }
}

static void timestamps(void) {
  if (chip.generation < 6) skip("needs privilege");
  static const uint32_t bases[engine_kinds] = {0x2000, 0x22000, 0x12000, 0x1a000};
  static const uint32_t new_bases[engine_kinds] = {0x2000, 0x22000, 0x1c0000, 0x1c8000};
  const struct object target = create(4096);
  for (unsigned i = 0; i < engine_kinds; ++i) {
    if (!has_engine(i)) continue;
    struct batch batch;
    start_batch(&batch);
    for (unsigned j = 0; j < 2; ++j) {
      add(&batch, 0x12000001 + (chip.generation >= 8));  // MI_STORE_REGISTER_MEM
      add(&batch, (chip.generation >= 11 ? new_bases : bases)[i] + 0x358);
      add_address(&batch, &target, 8 * i + 4 * j, 1);
      for (unsigned k = 0; k < 64; ++k) add(&batch, 0);
    }
    expect(key("%s", engines[i].name), submit(&batch, engines[i].flag, 0), 0);
    expect(key("%s wait", engines[i].name), wait_for(&target), 0);
    const uint32_t first = word_at(&target, 8 * i), second = word_at(&target, 8 * i + 4);
    observe_text(key("%s time is told", engines[i].name), first != 0 ? "yes" : "no");
    expect_true(key("%s not backwards", engines[i].name), second - first < 1u << 31);
  }
}

// A batch that chains to another object, which ends it.
static void chains(void) {
  const struct object target = create(4096);
  struct batch first, second;
  start_batch(&second);
  start_batch(&first);
  add_store(&first, &target, 0, 0xf125);
  add_jump(&first, &second.object, 64);
  add_store(&first, &target, 8, 0xbad);
  if (chip.generation < 8) skip("the second object would need relocations of its own");
  for (unsigned i = 0; i < 16; ++i) add(&second, 0x05000000);
  add_store(&second, &target, 4, 0x5ec0);
  add_end(&second);
  put(&second.object, 0, second.words, 4 * second.count);
  expect("execute", submit(&first, I915_EXEC_RENDER, 0), 0);
  wait_for(&target);
  expect_number("first", word_at(&target, 0), 0xf125);
  expect_number("second", word_at(&target, 4), 0x5ec0);
  expect_number("behind the jump", word_at(&target, 8), 0);
}

static void contexts_in_turn(void) {
  enum { rounds = 16 };
  const struct object target = create(4096);
  const uint32_t contexts[3] = {0, create_context(), create_context()};
  for (unsigned engine = 0; engine < engine_kinds; ++engine) {
    if (!has_engine(engine) || !can_store(engine)) continue;
    int result = 0;
    for (uint32_t i = 0; i < rounds && result == 0; ++i) {
      result = store(engines[engine].flag, contexts[i % 3], &target, 64 * engine + 4 * i, 0x100 * engine + i);
    }
    expect(key("%s stores", engines[engine].name), result, 0);
    wait_for(&target);
    uint32_t words[rounds], wrong = 0;
    get(&target, 64 * engine, words, sizeof(words));
    for (uint32_t i = 0; i < rounds; ++i) wrong += words[i] != 0x100 * engine + i;
    expect_number(key("%s wrong words", engines[engine].name), wrong, 0);
  }
}

// Engines write one dword in turn: the order of the calls holds, because all write the object.
static void order_between_engines(void) {
  const struct object target = create(4096);
  uint32_t last = 0;
  int result = 0;
  for (uint32_t i = 0; i < 32 && result == 0; ++i) {
    const unsigned engine = i % engine_kinds;
    if (!has_engine(engine) || !can_store(engine)) continue;
    last = 0xe000 + i;
    result = store(engines[engine].flag, 0, &target, 0, last);
  }
  expect("stores", result, 0);
  wait_for(&target);
  expect_number("the last one stays", word_at(&target, 0), last);
}

const struct test store_tests[] = {{"stores.every-engine", every_engine, 0},
                                   {"stores.timestamps", timestamps, 0},
                                   {"stores.chains", chains, 0},
                                   {"stores.contexts-in-turn", contexts_in_turn, 0},
                                   {"stores.order", order_between_engines, 0},
                                   {0}};
