// One function for each ioctl. Each gets a copy of its argument, which is copied back to the program if the ioctl's
// direction says so.
#pragma once

#include <cstddef>
#include <cstdint>

#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>

#include "driver/core/driver.h"

namespace halogen::driver {

inline constexpr uint32_t kGpuDomains = I915_GEM_DOMAIN_RENDER | I915_GEM_DOMAIN_SAMPLER | I915_GEM_DOMAIN_COMMAND |
                                        I915_GEM_DOMAIN_INSTRUCTION | I915_GEM_DOMAIN_VERTEX;

struct Call {
  Driver& driver;
  File& file;
  Driver::Lock& lock;
};

// Call next() in each round of a loop whose length a program chooses: it regularly lets other calls run, which may
// change everything. If it returns nonzero, the call must fail with that error: a signal is pending, or its caller is
// gone.
class LongLoop {
 public:
  // Whether a pending signal ends the loop. In loops whose effects must not be repeated it waits for their end.
  enum class Signals { end, wait };

  // `together`: the number of rounds between two calls of let_others_pass().
  LongLoop(Call& call, size_t together, Signals signals = Signals::end)
      : call_(call), together_(together), signals_(signals) {}
  bool is_due() { return ++count_ % together_ == 0; }  // let_others_pass() must be called
  int let_others_pass() { return call_.driver.let_others_pass(call_.lock, signals_ == Signals::end); }
  int next() { return is_due() ? let_others_pass() : 0; }

 private:
  Call& call_;
  size_t together_;
  Signals signals_;
  size_t count_ = 0;
};

int dispatch_ioctl(Driver& driver, File& file, Driver::Lock& lock, unsigned long request, uint64_t argument);

// Files and parameters.
int get_version(Call& call, drm_version& version);
int get_capability(Call& call, drm_get_cap& capability);
int get_parameter(Call& call, drm_i915_getparam_t& parameter);
int get_aperture(Call& call, drm_i915_gem_get_aperture& aperture);
int read_register(Call& call, drm_i915_reg_read& read);
int query(Call& call, drm_i915_query& query);

// Buffers.
int create_buffer(Call& call, drm_i915_gem_create& create);
int create_buffer_ext(Call& call, drm_i915_gem_create_ext& create);
int close_buffer(Call& call, drm_gem_close& close);
int read_buffer(Call& call, drm_i915_gem_pread& read);
int write_buffer(Call& call, drm_i915_gem_pwrite& write);
int map_offset(Call& call, drm_i915_gem_mmap_offset& map);
int map_now(Call& call, drm_i915_gem_mmap& map);
int find_mapping(Buffer& buffer, uint64_t offset, uint64_t bytes, Mapping& mapping);
int adopt_memory(Call& call, drm_i915_gem_userptr& user);
int set_domain(Call& call, drm_i915_gem_set_domain& domain);
int finish_writing(Call& call, drm_i915_gem_sw_finish& finish);
int set_tiling(Call& call, drm_i915_gem_set_tiling& tiling);
int get_tiling(Call& call, drm_i915_gem_get_tiling& tiling);
int set_caching(Call& call, drm_i915_gem_caching& caching);
int get_caching(Call& call, drm_i915_gem_caching& caching);
int advise(Call& call, drm_i915_gem_madvise& advice);
int is_busy(Call& call, drm_i915_gem_busy& busy);
int wait_for_buffer(Call& call, drm_i915_gem_wait& wait);
int throttle(Call& call);

// Contexts and address spaces.
int create_context(Call& call, drm_i915_gem_context_create_ext& create);
int destroy_context(Call& call, drm_i915_gem_context_destroy& destroy);
int get_context_parameter(Call& call, drm_i915_gem_context_param& parameter);
int set_context_parameter(Call& call, drm_i915_gem_context_param& parameter);
int get_reset_statistics(Call& call, drm_i915_reset_stats& statistics);
int check_global_sseu(Call& call, uint64_t address);
int create_space(Call& call, drm_i915_gem_vm_control& control);
int destroy_space(Call& call, drm_i915_gem_vm_control& control);

// Sharing of buffers.
int export_buffer(Call& call, drm_prime_handle& prime);
int import_buffer(Call& call, drm_prime_handle& prime);

// Sync objects.
int create_sync_object(Call& call, drm_syncobj_create& create);
int destroy_sync_object(Call& call, drm_syncobj_destroy& destroy);
int export_sync_object(Call& call, drm_syncobj_handle& handle);
int import_sync_object(Call& call, drm_syncobj_handle& handle);
int wait_sync_objects(Call& call, drm_syncobj_wait& wait);
int wait_timelines(Call& call, drm_syncobj_timeline_wait& wait);
int reset_sync_objects(Call& call, drm_syncobj_array& array);
int signal_sync_objects(Call& call, drm_syncobj_array& array);
int signal_timelines(Call& call, drm_syncobj_timeline_array& array);
int query_timelines(Call& call, drm_syncobj_timeline_array& array);
int transfer_sync_object(Call& call, drm_syncobj_transfer& transfer);

// Performance counters.
int open_perf(Call& call, drm_i915_perf_open_param& open);
int add_perf_configuration(Call& call, drm_i915_perf_oa_config& configuration);
int remove_perf_configuration(Call& call, uint64_t& number);

// Submission.
int execute(Call& call, drm_i915_gem_execbuffer2& execute);

}  // namespace halogen::driver
