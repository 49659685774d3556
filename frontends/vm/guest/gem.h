// The parts of the i915 interface for the guest's test programs: objects, batches with addresses, and ways to read
// memory.
#pragma once

#include <i915_drm.h>
#include <stdint.h>

struct chip {
  int id;
  int generation;        // 4, 6, 8, 9, 11, 12
  int has_local_memory;  // objects can only be mapped
  int holds_addresses;   // batches hold addresses instead of relocations: with local memory, and if a program sets it
};
extern struct chip chip;

// Opens the device and identifies the chip. 0: done.
int open_chip(void);
int open_chip_at(const char* node);
int call(unsigned long request, void* argument);
int parameter(int number);

struct object {
  uint32_t handle;
  uint64_t bytes;
  uint64_t address;  // where batches hold addresses
};
enum { in_system = 0, in_local = 1 };
struct object create(uint64_t bytes, int memory);

int put(const struct object* object, uint64_t offset, const void* data, uint64_t bytes);
int get(const struct object* object, uint64_t offset, void* data, uint64_t bytes);

// Ways to read an object; see() returns -1 for a way that this chip's driver does not offer.
enum way { by_copy, by_aperture, by_memory, ways };
extern const char* const way_name[ways];
int is_offered(enum way way);
int see(const struct object* object, enum way way, void* data, uint64_t bytes);

enum { most_words = 256, most_addresses = 8 };
struct batch {
  struct object object;
  uint32_t words[most_words];
  unsigned count;
  struct drm_i915_gem_relocation_entry relocations[most_addresses];
  unsigned addresses;
  struct drm_i915_gem_exec_object2 targets[most_addresses];
  unsigned target_count;
  int needs_privilege;
};
void start_batch(struct batch* batch, const struct object* object);
void add(struct batch* batch, uint32_t word);
// Adds one or two dwords, depending on the chip.
void add_address(struct batch* batch, const struct object* target, uint32_t delta);
void add_store(struct batch* batch, const struct object* target, uint32_t offset, uint32_t value);
void add_loop(struct batch* batch);
// Declares an object that the batch uses and names by its own address.
void add_target(struct batch* batch, const struct object* target);
// Ends the batch and submits it to an engine.
int submit(struct batch* batch, uint64_t engine, uint32_t context);
// Does the same and returns a file that can be polled for the end of the work. -1: the submission failed.
int submit_with_fence(struct batch* batch, uint64_t engine);
// Maps the memory of an object; does not wait for work on it.
void* map_memory(const struct object* object);
// Waits until the object is idle. -1: it is still busy after a minute.
int wait_for(const struct object* object);
