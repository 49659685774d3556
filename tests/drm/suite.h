// The suite over i915's public interface: raw ioctl(2) and mmap(2), so that the same program tests Linux's i915 in a
// guest and the driver of this project. A case opens the node again, records what it sees by name, and checks most of
// it against an expected value. Kernel: Linux 6.1. Left out: modes and connectors (except what a card without a
// connector answers: screen.c), protected content.
#pragma once

#include <errno.h>
#include <i915_drm.h>
#include <stddef.h>
#include <stdint.h>

struct test {
  const char* name;
  void (*run)(void);
  int kind;  // 1: waits for the driver's hang check; 2: uses the node with the screen
};
// Each list ends with a row without a name.
extern const struct test core_tests[], parameter_tests[], query_tests[], buffer_tests[], access_tests[], map_tests[],
    tiling_tests[], domain_tests[], context_tests[], context_parameter_tests[], engine_map_tests[], space_tests[],
    execute_tests[], relocation_tests[], pin_tests[], store_tests[], fence_tests[], syncobj_tests[], timeline_tests[],
    sync_file_tests[], prime_tests[], process_tests[], signal_tests[], userptr_tests[], busy_tests[], load_tests[],
    schedule_tests[], hang_tests[], screen_tests[], perf_tests[], monitor_tests[];

// ---- harness.c: results of a case: zero or more, or a negative errno.
// Returns a name formatted as by printf; valid until a few more are made.
const char* key(const char* format, ...) __attribute__((format(printf, 1, 2)));
void expect(const char* name, int64_t result, int64_t wanted);
void expect_number(const char* name, uint64_t value, uint64_t wanted);
void expect_true(const char* name, int holds);
// Records a value; it is only compared with the other driver.
void observe(const char* name, int64_t result);
void observe_number(const char* name, uint64_t value);
void observe_text(const char* name, const char* text);
// require() ends the case as failed if the condition does not hold. skip() ends it as not applicable to this chip.
void require(int holds, const char* what);
_Noreturn void skip(const char* why);
// Gives the program all rights that it was started with, or none: cases begin with none, because some calls ask for
// CAP_SYS_ADMIN, CAP_SYS_NICE or CAP_PERFMON. 0: it has none to give.
int set_rights(int all);

// ---- device.c
struct chip {
  int id;
  int generation;  // 4, 6, 8, 9, 11, 12
  int has_local_memory;
  int has_relocations;
  int has_own_spaces;  // each context has its own page tables
};
extern struct chip chip;
extern int device;  // opened again for each case
int open_device(void);
int call_on(int file, unsigned long request, void* argument);
int call(unsigned long request, void* argument);
int parameter(int number);  // or a negative errno
extern const char* node;

struct engine {
  const char* name;
  uint64_t flag;
  int parameter;
  uint16_t class, instance;
};
enum { engine_kinds = 4 };
extern const struct engine engines[engine_kinds];
int has_engine(unsigned number);

// ---- objects.c
struct object {
  uint32_t handle;
  uint64_t bytes;
  uint64_t address;  // used where batches hold addresses instead of relocations
};
struct object create(uint64_t bytes);
void close_object(const struct object* object);
int put_on(int file, const struct object* object, uint64_t offset, const void* data, uint64_t bytes);
int get_on(int file, const struct object* object, uint64_t offset, void* data, uint64_t bytes);
void put(const struct object* object, uint64_t offset, const void* data, uint64_t bytes);
void get(const struct object* object, uint64_t offset, void* data, uint64_t bytes);
uint32_t word_at(const struct object* object, uint64_t offset);
// Returns a mapping whose writes engines see at once.
void* map_coherent(const struct object* object);
void* map_offset(int file, uint32_t handle, uint64_t bytes, uint64_t kind, int* error);
int wait_on(int file, uint32_t handle, int64_t nanoseconds);
int wait_for(const struct object* object);
int is_busy(const struct object* object);
uint32_t create_context(void);

// ---- batch.c
enum { most_words = 512, most_targets = 16 };
struct batch {
  struct object object;
  uint32_t words[most_words];
  unsigned count;
  struct drm_i915_gem_relocation_entry relocations[2 * most_targets];
  unsigned addresses;
  struct drm_i915_gem_exec_object2 objects[most_targets + 1];  // the batch comes last
  unsigned target_count;
  struct drm_i915_gem_execbuffer2 execute;
};
void start_batch(struct batch* batch);
void add(struct batch* batch, uint32_t word);
void add_address(struct batch* batch, const struct object* target, uint32_t delta, int is_written);
void add_store(struct batch* batch, const struct object* target, uint32_t offset, uint32_t value);
void add_jump(struct batch* batch, const struct object* target, uint32_t offset);
void add_end(struct batch* batch);
// Writes the batch and fills `objects` and `execute`.
void finish_batch(struct batch* batch, uint64_t flags, uint32_t context);
int submit_as_is(struct batch* batch);
int submit(struct batch* batch, uint64_t flags, uint32_t context);
// Executes one store by an engine in this context.
int store(uint64_t flags, uint32_t context, const struct object* target, uint32_t offset, uint32_t value);
// Returns whether this engine can store from an unprivileged batch.
int can_store(unsigned engine);

// An endless batch that ends on request. It can be preempted, on chips that support it.
enum { arbitration_check = 0x02800000 };  // MI_ARB_CHECK
struct spinner {
  struct batch batch;
  volatile uint32_t* words;
};
void prepare_spinner(struct spinner* spinner, const struct object* target);
void start_spinner(struct spinner* spinner, uint64_t flags, uint32_t context, const struct object* target);
void end_spinner(struct spinner* spinner);
