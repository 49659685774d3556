// The table of mode setting ioctls, with access checks in the order of Linux: render nodes last.
#include <cerrno>
#include <cstring>

#include "driver/calls/ioctl_entry.h"
#include "driver/gem/user_memory.h"
#include "driver/kms/kms_calls.h"

namespace halogen::driver {
namespace {

struct KmsEntry : IoctlEntry {
  bool master = false;  // for the current master only
};

template <int (*Function)(Call&)>
int plain(Call& call, unsigned long, uint64_t) {
  return Function(call);
}
int nothing(Call&, unsigned long, uint64_t) {
  return 0;
}

constexpr unsigned kI915 = DRM_COMMAND_BASE;
constexpr KmsEntry kEntries[] = {
    {{0x01, with_argument<drm_unique, get_unique>}},
    {{0x02, with_argument<drm_auth, get_magic>}},
    {{0x05, with_argument<drm_client, get_client>}},
    {{0x06, with_argument<drm_stats, get_statistics>}},
    {{0x07, with_argument<drm_set_version, set_version>}, true},
    {{0x0a, with_argument<drm_gem_flink, name_buffer>}},
    {{0x0b, with_argument<drm_gem_open, open_named_buffer>}},
    {{0x0d, with_argument<drm_set_client_cap, set_client_capability>}},
    {{0x11, with_argument<drm_auth, authenticate>}, true},
    {{0x1e, plain<set_master>}},
    {{0x1f, plain<drop_master>}},
    {{0x3a, with_argument<drm_wait_vblank, wait_vblank>}},
    {{0x3b, with_argument<drm_crtc_get_sequence, get_sequence>}},
    {{0x3c, with_argument<drm_crtc_queue_sequence, queue_sequence>}},
    {{kI915 + DRM_I915_GET_PIPE_FROM_CRTC_ID, with_argument<drm_i915_get_pipe_from_crtc_id, get_pipe_of_crtc>}},
    {{0xa0, with_argument<drm_mode_card_res, get_resources>}},
    {{0xa1, with_argument<drm_mode_crtc, get_crtc>}},
    {{0xa2, with_argument<drm_mode_crtc, set_crtc>}, true},
    {{0xa3, with_argument<drm_mode_cursor, set_cursor>}, true},
    {{0xa4, with_argument<drm_mode_crtc_lut, get_gamma>}},
    {{0xa5, with_argument<drm_mode_crtc_lut, get_gamma>}, true},
    {{0xa6, with_argument<drm_mode_get_encoder, get_encoder>}},
    {{0xa7, with_argument<drm_mode_get_connector, get_connector>}},
    {{0xa8, nothing}, true},
    {{0xa9, nothing}, true},
    {{0xaa, with_argument<drm_mode_get_property, get_property>}},
    {{0xab, with_argument<drm_mode_connector_set_property, set_connector_property>}, true},
    {{0xac, with_argument<drm_mode_get_blob, get_blob>}},
    {{0xad, with_argument<drm_mode_fb_cmd, get_fb>}},
    {{0xae, with_argument<drm_mode_fb_cmd, add_fb>}},
    {{0xaf, with_argument<unsigned, remove_fb>}},
    {{0xb0, with_argument<drm_mode_crtc_page_flip_target, flip_page>}, true},
    {{0xb1, with_argument<drm_mode_fb_dirty_cmd, mark_dirty>}, true},
    {{0xb2, with_argument<drm_mode_create_dumb, create_dumb>}},
    {{0xb3, with_argument<drm_mode_map_dumb, map_dumb>}},
    {{0xb4, with_argument<drm_mode_destroy_dumb, destroy_dumb>}},
    {{0xb5, with_argument<drm_mode_get_plane_res, get_planes>}},
    {{0xb6, with_argument<drm_mode_get_plane, get_plane>}},
    {{0xb7, with_argument<drm_mode_set_plane, set_plane>}, true},
    {{0xb8, with_argument<drm_mode_fb_cmd2, add_fb2>}},
    {{0xb9, with_argument<drm_mode_obj_get_properties, get_properties>}},
    {{0xba, with_argument<drm_mode_obj_set_property, set_object_property>}, true},
    {{0xbb, with_argument<drm_mode_cursor2, set_cursor2>}, true},
    {{0xbc, with_argument<drm_mode_atomic, commit_atomic>}, true},
    {{0xbd, with_argument<drm_mode_create_blob, create_blob>}},
    {{0xbe, with_argument<drm_mode_destroy_blob, destroy_blob>}},
    {{0xce, with_argument<drm_mode_fb_cmd2, get_fb2>}},
};

}  // namespace

int dispatch_kms(Call& call, unsigned long request, uint64_t argument) {
  for (const KmsEntry& entry : kEntries) {
    if (entry.number != _IOC_NR(request)) continue;
    if (entry.master && call.driver.kms().master != &call.file) return -EACCES;
    if (call.file.render) return -EACCES;
    return entry.function(call, request, argument);
  }
  return -EINVAL;
}

// ---- authentication and masters

// Returns the bus name of the master, which is set only after it was queried.
int get_unique(Call&, drm_unique& unique) {
  unique.unique_len = 0;
  return 0;
}

int set_version(Call&, drm_set_version& version) {
  const bool wrong =
      version.drm_di_major != -1 && (version.drm_di_major != 1 || version.drm_di_minor < 0 || version.drm_di_minor > 4);
  const bool driver_wrong =
      version.drm_dd_major != -1 && (version.drm_dd_major != 1 || version.drm_dd_minor < 0 || version.drm_dd_minor > 6);
  version = {.drm_di_major = 1, .drm_di_minor = 4, .drm_dd_major = 1, .drm_dd_minor = 6};
  return wrong || driver_wrong ? -EINVAL : 0;
}

// Lists the caller only: Linux no longer lists all opens.
int get_client(Call& call, drm_client& client) {
  constexpr unsigned long kNobodyUid = 65534;
  if (client.idx != 0) return -EINVAL;
  client.auth = call.file.authenticated ? 1 : 0;
  client.pid = static_cast<unsigned long>(user_process());
  client.uid = kNobodyUid;
  client.magic = client.iocs = 0;
  return 0;
}

int get_statistics(Call&, drm_stats& statistics) {
  statistics = {};
  return 0;
}

// Gives a buffer a global name, by which every authenticated file finds it.
int name_buffer(Call& call, drm_gem_flink& flink) {
  if (!call.file.authenticated) return -EACCES;
  const BufferRef buffer = call.file.buffers.find(flink.handle);
  if (!buffer) return -ENOENT;
  flink.name = call.driver.shared_buffers().name(buffer);
  return 0;
}

int open_named_buffer(Call& call, drm_gem_open& open) {
  if (!call.file.authenticated) return -EACCES;
  const BufferRef buffer = call.driver.shared_buffers().named(open.name);
  if (!buffer) return -ENOENT;
  open.handle = call.file.buffers.add(buffer);
  open.size = buffer->size();
  return 0;
}

int get_magic(Call& call, drm_auth& auth) {
  Kms& kms = call.driver.kms();
  if (call.file.magic == 0) {
    call.file.magic = kms.next_magic++;
    kms.magics[call.file.magic] = &call.file;
  }
  auth.magic = call.file.magic;
  return 0;
}

int authenticate(Call& call, drm_auth& auth) {
  Kms& kms = call.driver.kms();
  const auto found = kms.magics.find(auth.magic);
  if (found == kms.magics.end()) return -EINVAL;
  found->second->authenticated = true;
  kms.magics.erase(found);
  return 0;
}

// Only a former master or an administrator may become master.
int set_master(Call& call) {
  Kms& kms = call.driver.kms();
  if (!call.file.was_master && !call.driver.privileged()) return -EACCES;
  if (kms.master == &call.file) return 0;
  if (kms.master != nullptr) return -EBUSY;
  kms.master = &call.file;
  call.file.was_master = call.file.authenticated = true;
  return 0;
}

int drop_master(Call& call) {
  Kms& kms = call.driver.kms();
  if (!call.file.was_master && !call.driver.privileged()) return -EACCES;
  if (kms.master != &call.file) return -EINVAL;
  kms.master = nullptr;
  return 0;
}

int set_client_capability(Call& call, drm_set_client_cap& capability) {
  const uint64_t value = capability.value;
  switch (capability.capability) {
    case DRM_CLIENT_CAP_STEREO_3D:
    case DRM_CLIENT_CAP_ASPECT_RATIO:
      return value > 1 ? -EINVAL : 0;
    case DRM_CLIENT_CAP_UNIVERSAL_PLANES:
      if (value > 1) return -EINVAL;
      call.file.universal_planes = value != 0;
      return 0;
    case DRM_CLIENT_CAP_ATOMIC:
      if (!call.driver.kms().atomic()) return -EOPNOTSUPP;
      if (value > 2) return -EINVAL;
      call.file.atomic = value != 0;
      call.file.universal_planes = value != 0;
      return 0;
    case DRM_CLIENT_CAP_WRITEBACK_CONNECTORS:
      return !call.file.atomic || value > 1 ? -EINVAL : 0;
    default:
      return -EINVAL;
  }
}

}  // namespace halogen::driver
