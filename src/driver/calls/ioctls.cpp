#include "driver/calls/ioctls.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "driver/calls/ioctl_entry.h"
#include "driver/kms/kms_calls.h"

namespace halogen::driver {
namespace {

int without_argument(Call& call, unsigned long, uint64_t) {
  return throttle(call);
}

constexpr unsigned kI915 = DRM_COMMAND_BASE;
constexpr IoctlEntry kEntries[] = {
    {0x00, with_argument<drm_version, get_version>},
    {0x09, with_argument<drm_gem_close, close_buffer>},
    {0x0c, with_argument<drm_get_cap, get_capability>},
    {0x2d, with_argument<drm_prime_handle, export_buffer>},
    {0x2e, with_argument<drm_prime_handle, import_buffer>},
    {0xbf, with_argument<drm_syncobj_create, create_sync_object>},
    {0xc0, with_argument<drm_syncobj_destroy, destroy_sync_object>},
    {0xc1, with_argument<drm_syncobj_handle, export_sync_object>},
    {0xc2, with_argument<drm_syncobj_handle, import_sync_object>},
    {0xc3, with_argument<drm_syncobj_wait, wait_sync_objects>},
    {0xc4, with_argument<drm_syncobj_array, reset_sync_objects>},
    {0xc5, with_argument<drm_syncobj_array, signal_sync_objects>},
    {0xca, with_argument<drm_syncobj_timeline_wait, wait_timelines>},
    {0xcb, with_argument<drm_syncobj_timeline_array, query_timelines>},
    {0xcc, with_argument<drm_syncobj_transfer, transfer_sync_object>},
    {0xcd, with_argument<drm_syncobj_timeline_array, signal_timelines>},
    {kI915 + DRM_I915_GETPARAM, with_argument<drm_i915_getparam_t, get_parameter>},
    {kI915 + DRM_I915_GEM_GET_APERTURE, with_argument<drm_i915_gem_get_aperture, get_aperture>},
    {kI915 + DRM_I915_REG_READ, with_argument<drm_i915_reg_read, read_register>},
    {kI915 + DRM_I915_QUERY, with_argument<drm_i915_query, query>},
    {kI915 + DRM_I915_GEM_CREATE, with_argument<drm_i915_gem_create, create_buffer>},
    {kI915 + DRM_I915_GEM_CREATE_EXT, with_argument<drm_i915_gem_create_ext, create_buffer_ext>},
    {kI915 + DRM_I915_GEM_PREAD, with_argument<drm_i915_gem_pread, read_buffer>},
    {kI915 + DRM_I915_GEM_PWRITE, with_argument<drm_i915_gem_pwrite, write_buffer>},
    {kI915 + DRM_I915_GEM_MMAP, with_argument<drm_i915_gem_mmap, map_now>},
    {kI915 + DRM_I915_GEM_USERPTR, with_argument<drm_i915_gem_userptr, adopt_memory>},
    {kI915 + DRM_I915_PERF_OPEN, with_argument<drm_i915_perf_open_param, open_perf>},
    {kI915 + DRM_I915_PERF_ADD_CONFIG, with_argument<drm_i915_perf_oa_config, add_perf_configuration>},
    {kI915 + DRM_I915_PERF_REMOVE_CONFIG, with_argument<uint64_t, remove_perf_configuration>},
    {kI915 + DRM_I915_GEM_MMAP_GTT, with_argument<drm_i915_gem_mmap_offset, map_offset>},
    {kI915 + DRM_I915_GEM_SET_DOMAIN, with_argument<drm_i915_gem_set_domain, set_domain>},
    {kI915 + DRM_I915_GEM_SW_FINISH, with_argument<drm_i915_gem_sw_finish, finish_writing>},
    {kI915 + DRM_I915_GEM_SET_TILING, with_argument<drm_i915_gem_set_tiling, set_tiling>},
    {kI915 + DRM_I915_GEM_GET_TILING, with_argument<drm_i915_gem_get_tiling, get_tiling>},
    {kI915 + DRM_I915_GEM_SET_CACHING, with_argument<drm_i915_gem_caching, set_caching>},
    {kI915 + DRM_I915_GEM_GET_CACHING, with_argument<drm_i915_gem_caching, get_caching>},
    {kI915 + DRM_I915_GEM_MADVISE, with_argument<drm_i915_gem_madvise, advise>},
    {kI915 + DRM_I915_GEM_BUSY, with_argument<drm_i915_gem_busy, is_busy>},
    {kI915 + DRM_I915_GEM_WAIT, with_argument<drm_i915_gem_wait, wait_for_buffer>},
    {kI915 + DRM_I915_GEM_THROTTLE, without_argument},
    {kI915 + DRM_I915_GEM_CONTEXT_CREATE, with_argument<drm_i915_gem_context_create_ext, create_context>},
    {kI915 + DRM_I915_GEM_CONTEXT_DESTROY, with_argument<drm_i915_gem_context_destroy, destroy_context>},
    {kI915 + DRM_I915_GEM_CONTEXT_GETPARAM, with_argument<drm_i915_gem_context_param, get_context_parameter>},
    {kI915 + DRM_I915_GEM_CONTEXT_SETPARAM, with_argument<drm_i915_gem_context_param, set_context_parameter>},
    {kI915 + DRM_I915_GET_RESET_STATS, with_argument<drm_i915_reset_stats, get_reset_statistics>},
    {kI915 + DRM_I915_GEM_VM_CREATE, with_argument<drm_i915_gem_vm_control, create_space>},
    {kI915 + DRM_I915_GEM_VM_DESTROY, with_argument<drm_i915_gem_vm_control, destroy_space>},
    {kI915 + DRM_I915_GEM_EXECBUFFER2, with_argument<drm_i915_gem_execbuffer2, execute>},
};

// Calls that exist, but not on a render node: masters, mode setting, and i915 before GEM.
bool is_refused(unsigned number) {
  struct Range {
    unsigned first, last;
  };
  constexpr Range kRanges[] = {{0x01, 0x08}, {0x0a, 0x0b}, {0x0d, 0x0d}, {0x10, 0x2c}, {0x30, 0x3c}, {0x3f, 0x45},
                               {0x47, 0x4f}, {0x51, 0x51}, {0x53, 0x56}, {0x59, 0x5a}, {0x65, 0x65}, {0x67, 0x68},
                               {0x6a, 0x6b}, {0xa0, 0xbe}, {0xc6, 0xc9}, {0xce, 0xce}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const Range& range) { return number >= range.first && number <= range.last; });
}

}  // namespace

int dispatch_ioctl(Driver& driver, File& file, Driver::Lock& lock, unsigned long request, uint64_t argument) {
  Call call{driver, file, lock};
  for (const IoctlEntry& entry : kEntries) {
    if (entry.number == _IOC_NR(request)) return entry.function(call, request, argument);
  }
  if (file.render && is_refused(_IOC_NR(request))) return -EACCES;
  return dispatch_kms(call, request, argument);
}

}  // namespace halogen::driver
