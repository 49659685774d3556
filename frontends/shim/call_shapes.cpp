#include "call_shapes.h"

#include <libdrm/drm.h>
#include <libdrm/i915_drm.h>
#include <sys/ioctl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace halogen::shim {
namespace {

struct CallShape {
  unsigned long request;
  unsigned min_bytes = 0;  // of older headers, if not 0
  unsigned max_bytes = 0;  // of newer headers, if not 0
};

constexpr CallShape kShapes[] = {
    {DRM_IOCTL_VERSION},
    {DRM_IOCTL_GET_UNIQUE},
    {DRM_IOCTL_GET_MAGIC},
    {DRM_IOCTL_GET_CLIENT},
    {DRM_IOCTL_GET_STATS},
    {DRM_IOCTL_SET_VERSION},
    {DRM_IOCTL_GEM_CLOSE},
    {DRM_IOCTL_GEM_FLINK},
    {DRM_IOCTL_GEM_OPEN},
    {DRM_IOCTL_GET_CAP},
    {DRM_IOCTL_SET_CLIENT_CAP},
    {DRM_IOCTL_AUTH_MAGIC},
    {DRM_IOCTL_SET_MASTER},
    {DRM_IOCTL_DROP_MASTER},
    {DRM_IOCTL_PRIME_HANDLE_TO_FD},
    {DRM_IOCTL_PRIME_FD_TO_HANDLE},
    {DRM_IOCTL_WAIT_VBLANK},
    {DRM_IOCTL_CRTC_GET_SEQUENCE},
    {DRM_IOCTL_CRTC_QUEUE_SEQUENCE},
    {DRM_IOCTL_MODE_GETRESOURCES},
    {DRM_IOCTL_MODE_GETCRTC},
    {DRM_IOCTL_MODE_SETCRTC},
    {DRM_IOCTL_MODE_CURSOR},
    {DRM_IOCTL_MODE_GETGAMMA},
    {DRM_IOCTL_MODE_SETGAMMA},
    {DRM_IOCTL_MODE_GETENCODER},
    {DRM_IOCTL_MODE_GETCONNECTOR},
    {DRM_IOCTL_MODE_GETPROPERTY},
    {DRM_IOCTL_MODE_SETPROPERTY},
    {DRM_IOCTL_MODE_GETPROPBLOB},
    {DRM_IOCTL_MODE_GETFB},
    {DRM_IOCTL_MODE_ADDFB},
    {DRM_IOCTL_MODE_RMFB},
    {DRM_IOCTL_MODE_PAGE_FLIP},
    {DRM_IOCTL_MODE_DIRTYFB},
    {DRM_IOCTL_MODE_CREATE_DUMB},
    {DRM_IOCTL_MODE_MAP_DUMB},
    {DRM_IOCTL_MODE_DESTROY_DUMB},
    {DRM_IOCTL_MODE_GETPLANERESOURCES},
    {DRM_IOCTL_MODE_GETPLANE},
    {DRM_IOCTL_MODE_SETPLANE},
    {DRM_IOCTL_MODE_ADDFB2, 68},  // before modifiers
    {DRM_IOCTL_MODE_OBJ_GETPROPERTIES},
    {DRM_IOCTL_MODE_OBJ_SETPROPERTY},
    {DRM_IOCTL_MODE_CURSOR2},
    {DRM_IOCTL_MODE_ATOMIC},
    {DRM_IOCTL_MODE_CREATEPROPBLOB},
    {DRM_IOCTL_MODE_DESTROYPROPBLOB},
    {DRM_IOCTL_MODE_GETFB2},
    {DRM_IOCTL_SYNCOBJ_CREATE},
    {DRM_IOCTL_SYNCOBJ_DESTROY},
    {DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, 16, 24},  // newer: a point
    {DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, 16, 24},
    {DRM_IOCTL_SYNCOBJ_WAIT, 32, 40},  // newer: a deadline
    {DRM_IOCTL_SYNCOBJ_RESET},
    {DRM_IOCTL_SYNCOBJ_SIGNAL},
    {DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, 40, 48},
    {DRM_IOCTL_SYNCOBJ_QUERY},
    {DRM_IOCTL_SYNCOBJ_TRANSFER},
    {DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL},
    {DRM_IOCTL_I915_GETPARAM},
    {DRM_IOCTL_I915_GEM_GET_APERTURE},
    {DRM_IOCTL_I915_REG_READ},
    {DRM_IOCTL_I915_QUERY},
    {DRM_IOCTL_I915_GEM_CREATE},
    {DRM_IOCTL_I915_GEM_CREATE_EXT},
    {DRM_IOCTL_I915_GEM_PREAD},
    {DRM_IOCTL_I915_GEM_PWRITE},
    {DRM_IOCTL_I915_GEM_MMAP, 32},  // before flags
    {DRM_IOCTL_I915_GEM_USERPTR},
    {DRM_IOCTL_I915_PERF_OPEN},
    {DRM_IOCTL_I915_PERF_ADD_CONFIG},
    {DRM_IOCTL_I915_PERF_REMOVE_CONFIG},
    {DRM_IOCTL_I915_GEM_MMAP_GTT},
    {DRM_IOCTL_I915_GEM_MMAP_OFFSET},
    {DRM_IOCTL_I915_GEM_SET_DOMAIN},
    {DRM_IOCTL_I915_GEM_SW_FINISH},
    {DRM_IOCTL_I915_GEM_SET_TILING},
    {DRM_IOCTL_I915_GEM_GET_TILING},
    {DRM_IOCTL_I915_GEM_SET_CACHING},
    {DRM_IOCTL_I915_GEM_GET_CACHING},
    {DRM_IOCTL_I915_GEM_MADVISE},
    {DRM_IOCTL_I915_GEM_BUSY},
    {DRM_IOCTL_I915_GEM_WAIT},
    {DRM_IOCTL_I915_GEM_THROTTLE},
    {DRM_IOCTL_I915_GEM_CONTEXT_CREATE},
    {DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT},
    {DRM_IOCTL_I915_GEM_CONTEXT_DESTROY},
    {DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM},
    {DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM},
    {DRM_IOCTL_I915_GET_RESET_STATS},
    {DRM_IOCTL_I915_GEM_VM_CREATE},
    {DRM_IOCTL_I915_GEM_VM_DESTROY},
    {DRM_IOCTL_I915_GEM_EXECBUFFER2},
    {DRM_IOCTL_I915_GEM_EXECBUFFER2_WR},
    {DRM_IOCTL_I915_GET_PIPE_FROM_CRTC_ID},
};

bool fits(unsigned long request, const CallShape& shape) {
  if (_IOC_DIR(request) != _IOC_DIR(shape.request)) return false;
  const unsigned bytes = _IOC_SIZE(shape.request);
  const unsigned min = shape.min_bytes != 0 ? shape.min_bytes : bytes;
  const unsigned max = shape.max_bytes != 0 ? shape.max_bytes : bytes;
  return _IOC_SIZE(request) >= min && _IOC_SIZE(request) <= max;
}

// The first row of each number; rows of one number follow each other.
constexpr auto kFirst = [] {
  std::array<uint8_t, 256> first{};
  first.fill(std::size(kShapes));
  for (size_t i = std::size(kShapes); i-- > 0;) first[_IOC_NR(kShapes[i].request)] = static_cast<uint8_t>(i);
  return first;
}();

}  // namespace

bool has_known_shape(unsigned long request) {
  if (_IOC_TYPE(request) != DRM_IOCTL_BASE) return false;
  size_t row = kFirst[_IOC_NR(request)];
  if (row == std::size(kShapes)) return true;
  for (; row < std::size(kShapes) && _IOC_NR(kShapes[row].request) == _IOC_NR(request); ++row) {
    if (fits(request, kShapes[row])) return true;
  }
  return false;
}

}  // namespace halogen::shim
