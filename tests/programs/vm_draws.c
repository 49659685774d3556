// Runs in a guest of `halogen vm`: starts draws that never end, of so many vertices that one draw lasts for minutes, and
// prints that they are at work. Built with frontends/vm/guest/gem.c; Gen8 and later.
#include <stdio.h>
#include <unistd.h>

#include "gem.h"

int main(void) {
  if (open_chip() != 0 || chip.generation < 8) {
    puts("no device");
    return 1;
  }
  const struct object commands = create(4096, in_system), results = create(4096, in_system);
  // PIPELINE_SELECT; 3DPRIMITIVE: triangles, vertices, first, instances, first, base
  const uint32_t words[] = {0x69040300, 0x7b000005, 4, 0xffffffff, 0, 0xffffffff, 0, 0};
  struct batch batch;
  start_batch(&batch, &commands);
  add_store(&batch, &results, 0, 1);
  for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); ++i) add(&batch, words[i]);
  add_loop(&batch);
  if (submit(&batch, I915_EXEC_RENDER, 0) != 0) {
    puts("cannot submit");
    return 1;
  }
  const volatile uint32_t* const started = map_memory(&results);
  while (*started == 0) usleep(1000);
  puts("at work");
  fflush(stdout);
  for (;;) pause();
}
