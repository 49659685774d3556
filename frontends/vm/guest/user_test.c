// Runs in the guest: an unprivileged user with a render node attacks the guest's kernel and another process. It writes
// control registers in every way that a batch has, tries to disable the privilege check, names memory of the global
// table and of another address space, and changes commands while the engine executes them. Every attempt must fail and
// every batch must end. Started by root, which owns the memory that is attacked. Gen8 and later. Prints one line per
// check, and the number of checks at the end. Status 0: all checks passed.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gem.h"

static int steps = 0, failures = 0;

static void expect(int holds, const char* what) {
  printf("user %s: %s\n", holds ? "ok" : "FAILED", what);
  ++steps;
  failures += !holds;
}

enum {
  nobody = 65534,
  page = 4096,
  untouched = 0x5e5e5e5e,  // content of memory that an attack would overwrite
  secret = 0x5ec2e7,
  gpr = 0x600,
  nopid = 0x94,
  mode = 0x29c,  // GFX_MODE
  check_disable = 0x00010001,
};
enum { use_global_table = 1 << 22 };

static const struct {
  const char* name;
  uint64_t flag;
  uint32_t base;
} engines[] = {{"render", I915_EXEC_RENDER, 0x2000}, {"blit", I915_EXEC_BLT, 0x22000}};

// Registers that control the engine, its page tables and the chip: offsets from the engine's base, and absolute ones.
static const uint32_t own_registers[] = {0x30,  0x38,  0x3c,  0x80,  0x98,  0x9c,  0xa8,  0xb4,  0xd0,  0x180, 0x230, 0x244,
                                         0x270, 0x274, 0x288, 0x28c, 0x29c, 0x4d0, 0x4d4, 0x4fc, 0x510, 0x550};
static const uint32_t other_registers[] = {0x4094,  0x941c,  0x9424,  0xa188,  0x44200, 0x44304,
                                           0x45010, 0x70084, 0x7019c, 0x100000, 0x190010, 0x190030};
enum {
  own_count = sizeof(own_registers) / sizeof(own_registers[0]),
  other_count = sizeof(other_registers) / sizeof(other_registers[0])
};

static struct object commands, results;

static void add_load(struct batch* batch, uint32_t offset, uint32_t value) {
  add(batch, 0x11000001);
  add(batch, offset);
  add(batch, value);
}

static void add_save(struct batch* batch, uint32_t offset, uint32_t offset_in_results) {
  add(batch, 0x12000002);
  add(batch, offset);
  add_address(batch, &results, offset_in_results);
}

static int run(struct batch* batch, uint64_t flag) {
  return submit(batch, flag, 0) == 0 && wait_for(&commands) == 0;
}

static void fill_results(uint32_t value) {
  uint32_t words[page / 4];
  for (unsigned i = 0; i < page / 4; ++i) words[i] = value;
  put(&results, 0, words, sizeof(words));
}

static uint32_t result(uint32_t offset) {
  uint32_t value = 0;
  get(&results, offset, &value, sizeof(value));
  return value;
}

// Checks that a batch may use its own general purpose registers, so that the attacks below fail for the right reason.
static void test_open_registers(void) {
  struct batch batch;
  fill_results(untouched);
  start_batch(&batch, &commands);
  add_load(&batch, engines[0].base + gpr, 0x12345678);
  add_save(&batch, engines[0].base + gpr, 0);
  const int done = run(&batch, engines[0].flag);
  expect(done && result(0) == 0x12345678, "a user batch writes and reads a general purpose register");
}

// Loads a register in every way, with the value that memory at `offset_in_results` holds.
static void add_attack(struct batch* batch, unsigned engine, uint32_t offset, uint32_t value, uint32_t offset_in_results) {
  const uint32_t source = engines[engine].base + gpr;
  add_load(batch, offset, value);
  add(batch, 0x14800002);  // MI_LOAD_REGISTER_MEM
  add(batch, offset);
  add_address(batch, &results, offset_in_results);
  add_load(batch, source, value);
  add(batch, 0x15000001);  // MI_LOAD_REGISTER_REG
  add(batch, source);
  add(batch, offset);
  if (engine == 0) {  // PIPE_CONTROL that loads a register
    const uint32_t words[] = {0x7a000004, 1u << 20 | 1u << 23 | 1u << 14, offset, 0, value, 0};
    for (unsigned i = 0; i < 6; ++i) add(batch, words[i]);
  }
}

static int attack_register(unsigned engine, uint32_t offset) {
  static const uint32_t values[] = {0xffffffff, check_disable};
  int holds = 1;
  for (unsigned i = 0; i < 2 && holds; ++i) {
    struct batch batch;
    fill_results(values[i]);
    start_batch(&batch, &commands);
    add_save(&batch, offset, 0x100);  // before; chips that check reads give zero
    add_attack(&batch, engine, offset, values[i], 0);
    add_save(&batch, offset, 0x104);
    add_store(&batch, &results, 0x108, 0xd0e);
    holds = run(&batch, engines[engine].flag) && result(0x108) == 0xd0e && result(0x100) == result(0x104);
  }
  return holds;
}

static void test_registers(void) {
  for (unsigned engine = 0; engine < 2; ++engine) {
    int holds = 1;
    char text[128];
    for (unsigned i = 0; i < own_count + other_count && holds; ++i) {
      const uint32_t offset = i < own_count ? engines[engine].base + own_registers[i] : other_registers[i - own_count];
      // The tail moves with the next request.
      if (offset == engines[engine].base + 0x30) continue;
      holds = attack_register(engine, offset);
      if (!holds) printf("register %06x of %s\n", (unsigned)offset, engines[engine].name);
    }
    snprintf(text, sizeof(text), "%s: control registers cannot be written", engines[engine].name);
    expect(holds, text);
  }
}

// Adds commands that read or write through the global table, at an address that the guest's kernel uses or the user
// owns in its own space. A read would overwrite `untouched`, or a general purpose register.
static void add_global_accesses(struct batch* batch, unsigned engine, uint32_t address) {
  const uint32_t source = engines[engine].base + gpr;
  add_load(batch, source, untouched);
  add(batch, 0x17000003 | 1u << 22);  // MI_COPY_MEM_MEM from the global table
  add_address(batch, &results, 0);
  add(batch, address);
  add(batch, 0);
  add(batch, 0x14800002 | use_global_table);  // MI_LOAD_REGISTER_MEM
  add(batch, source);
  add(batch, address);
  add(batch, 0);
  add_save(batch, source, 4);
}

static int global_table_is_closed(unsigned engine) {
  int holds = 1;
  for (uint32_t address = 0; address < 64 * page && holds; address += 4 * page) {
    struct batch batch;
    fill_results(untouched);
    start_batch(&batch, &commands);
    add_load(&batch, engines[engine].base + mode, check_disable);
    add_attack(&batch, engine, engines[engine].base + mode, check_disable, 0x200);
    add_global_accesses(&batch, engine, address);
    holds = run(&batch, engines[engine].flag) && result(0) == untouched;
    // General purpose registers of the copy engine are open from Gen9 on.
    if (engine == 0 || chip.generation > 8) holds = holds && (result(4) == untouched || result(4) == 0);
    if (!holds) printf("address %08x: %08x %08x\n", (unsigned)address, (unsigned)result(0), (unsigned)result(4));
  }
  return holds;
}

static void test_global_reads(void) {
  for (unsigned engine = 0; engine < 2; ++engine) {
    char text[128];
    snprintf(text, sizeof(text), "%s: the privilege check stays on, and global memory cannot be read", engines[engine].name);
    expect(global_table_is_closed(engine), text);
  }
}

// Accesses through the global GTT, and privileged commands: each is dropped and the batch continues.
static void test_privileged_commands(void) {
  const uint32_t attempts[][6] = {
      {4, 0x10000002 | use_global_table, 0x1000, 0, 0xbad},     // MI_STORE_DATA_IMM
      {3, 0x10800001, 0x40 << 2, 0xbad},                        // MI_STORE_DATA_INDEX
      {4, 0x12000002 | use_global_table, 0x2358, 0x1000, 0},    // MI_STORE_REGISTER_MEM
      {3, 0x17800501 | use_global_table, 0x1000, 0},            // MI_ATOMIC
      {4, 0x11800002, 0x1000, 0x00001003, 0},                   // MI_UPDATE_GTT
      {4, 0x0e009002 | use_global_table, 0x1234, 0x1000, 0},    // MI_SEMAPHORE_WAIT
      {3, 0x0a000001, 4096, 0},                                 // MI_DISPLAY_FLIP
      {2, 0x0c000000, 0x00100100},                              // MI_SET_CONTEXT
      {1, 0x04000000},                                          // MI_ARB_ON_OFF
  };
  int holds = 1;
  for (unsigned i = 0; i < sizeof(attempts) / sizeof(attempts[0]); ++i) {
    struct batch batch;
    fill_results(untouched);
    start_batch(&batch, &commands);
    for (unsigned word = 1; word <= attempts[i][0]; ++word) add(&batch, attempts[i][word]);
    add_store(&batch, &results, 8, 0xd0e);
    holds = holds && run(&batch, engines[0].flag) && result(8) == 0xd0e;
    if (!holds) printf("command %08x\n", (unsigned)attempts[i][1]);
  }
  expect(holds, "privileged commands are dropped and the batch continues");
}

// Checks that the address of the secret in root's process does not reach the secret from this process.
static void test_other_process(uint64_t address) {
  struct batch batch;
  fill_results(untouched);
  start_batch(&batch, &commands);
  add(&batch, 0x17000003);  // MI_COPY_MEM_MEM
  add_address(&batch, &results, 0);
  add(&batch, (uint32_t)address);
  add(&batch, (uint32_t)(address >> 32));
  add(&batch, 0x10000002);  // MI_STORE_DATA_IMM
  add(&batch, (uint32_t)address);
  add(&batch, (uint32_t)(address >> 32));
  add(&batch, 0xbad);
  const int done = run(&batch, engines[0].flag);
  expect(done && result(0) != secret, "memory of another process cannot be read at its address");
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Changes the register that a command names many times while a batch loops over the command. The batch must end before
// i915 calls it hung, even on a busy host.
static void test_changing_commands(void) {
  const struct object changing = create(page, in_system);
  volatile uint32_t* const words = map_memory(&changing);
  expect(words != NULL, "the batch can be mapped");
  if (words == NULL) return;
  struct batch batch;
  words[0] = 0;
  start_batch(&batch, &changing);
  add(&batch, 0);
  add(&batch, 0x11000003);
  add(&batch, engines[0].base + nopid);
  add(&batch, 0);
  add(&batch, engines[0].base + nopid);  // changes
  add(&batch, check_disable);
  add_loop(&batch);
  const int submitted = submit(&batch, engines[0].flag, 0) == 0;
  unsigned long changes = 0;
  const unsigned long enough = 200000;
  for (const double end = now() + 1; submitted && changes < enough && now() < end; ++changes) {
    words[4] = engines[0].base + (changes % 2 == 0 ? mode : nopid);
    __sync_synchronize();
  }
  words[0] = 0x05000000;  // MI_BATCH_BUFFER_END
  __sync_synchronize();
  const int ended = wait_for(&changing) == 0;
  char text[128];
  snprintf(text, sizeof(text), "a command cannot be changed after it was checked (%lu changes)", changes);
  expect(submitted && ended && global_table_is_closed(0), text);
}

static int attack(uint64_t address_of_secret) {
  expect(setgid(nobody) == 0 && setuid(nobody) == 0 && getuid() == nobody && setuid(0) != 0, "the user is unprivileged");
  expect(open("/dev/dri/card0", O_RDWR | O_CLOEXEC) < 0 && errno == EACCES, "the card node is closed to the user");
  const int opened = open_chip_at("/dev/dri/renderD128") == 0;
  expect(opened, "the render node opens");
  if (!opened) return 1;
  chip.holds_addresses = 1;
  commands = create(page, in_system);
  results = create(page, in_system);
  test_open_registers();
  test_registers();
  test_global_reads();
  test_privileged_commands();
  test_other_process(address_of_secret);
  test_changing_commands();
  printf("user done: %d checks, %d failed\n", steps, failures);
  return failures != 0;
}

// Lets the GPU store to memory of root's process, so that an address space holds that memory.
static int use(const struct object* object, uint32_t value) {
  struct batch batch;
  commands = create(page, in_system);
  start_batch(&batch, &commands);
  add_store(&batch, object, 0, value);
  return run(&batch, I915_EXEC_RENDER);
}

// Gives every user access to the render node; only root may open the card node.
static int open_way(void) {
  return chmod("/", 0755) == 0 && chmod("/dev", 0755) == 0 && chmod("/dev/dri", 0755) == 0 &&
         chmod("/dev/dri/card0", 0600) == 0 && chmod("/dev/dri/renderD128", 0666) == 0;
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (open_chip() != 0 || chip.generation < 8 || !open_way()) {
    printf("user FAILED: the device, Gen8 or later, opens for root\n");
    return 1;
  }
  chip.holds_addresses = 1;
  const struct object owned = create(page, in_system);
  uint32_t value = 0;
  if (!use(&owned, secret) || get(&owned, 0, &value, sizeof(value)) != 0 || value != secret) {
    printf("user FAILED: root stores its secret\n");
    return 1;
  }
  const pid_t child = fork();
  if (child == 0) _exit(attack(owned.address));
  int status = 1;
  const int ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
  const int intact = get(&owned, 0, &value, sizeof(value)) == 0 && value == secret;
  printf("user %s: root's memory is intact\n", intact ? "ok" : "FAILED");
  const int works = use(&owned, 0x900d) && get(&owned, 0, &value, sizeof(value)) == 0 && value == 0x900d;
  printf("user %s: root's batches still run\n", works ? "ok" : "FAILED");
  return !(ended && WEXITSTATUS(status) == 0 && intact && works);
}
