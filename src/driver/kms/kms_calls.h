// The ioctls of mode setting, on primary nodes only.
#pragma once

#include "driver/calls/ioctls.h"

namespace halogen::driver {

// Handles ioctls that no other table has. Returns -EINVAL if the ioctl is unknown here too.
int dispatch_kms(Call& call, unsigned long request, uint64_t argument);

// Authentication and masters.
int get_unique(Call& call, drm_unique& unique);
int set_version(Call& call, drm_set_version& version);
int get_client(Call& call, drm_client& client);
int get_statistics(Call& call, drm_stats& statistics);
int name_buffer(Call& call, drm_gem_flink& flink);
int open_named_buffer(Call& call, drm_gem_open& open);
int get_magic(Call& call, drm_auth& auth);
int authenticate(Call& call, drm_auth& auth);
int set_master(Call& call);
int drop_master(Call& call);
int set_client_capability(Call& call, drm_set_client_cap& capability);

// Resources.
int get_resources(Call& call, drm_mode_card_res& resources);
int get_connector(Call& call, drm_mode_get_connector& connector);
int get_encoder(Call& call, drm_mode_get_encoder& encoder);
int get_crtc(Call& call, drm_mode_crtc& crtc);
int get_planes(Call& call, drm_mode_get_plane_res& planes);
int get_plane(Call& call, drm_mode_get_plane& plane);
int get_properties(Call& call, drm_mode_obj_get_properties& properties);
int get_property(Call& call, drm_mode_get_property& property);
int get_blob(Call& call, drm_mode_get_blob& blob);
int create_blob(Call& call, drm_mode_create_blob& blob);
int destroy_blob(Call& call, drm_mode_destroy_blob& blob);
int get_pipe_of_crtc(Call& call, drm_i915_get_pipe_from_crtc_id& pipe);
int get_gamma(Call& call, drm_mode_crtc_lut& table);

// Framebuffers.
int create_dumb(Call& call, drm_mode_create_dumb& dumb);
int map_dumb(Call& call, drm_mode_map_dumb& dumb);
int destroy_dumb(Call& call, drm_mode_destroy_dumb& dumb);
int add_fb(Call& call, drm_mode_fb_cmd& fb);
int add_fb2(Call& call, drm_mode_fb_cmd2& fb);
int get_fb(Call& call, drm_mode_fb_cmd& fb);
int get_fb2(Call& call, drm_mode_fb_cmd2& fb);
int remove_fb(Call& call, unsigned& id);
int mark_dirty(Call& call, drm_mode_fb_dirty_cmd& dirty);

// Display state.
int set_crtc(Call& call, drm_mode_crtc& crtc);
int flip_page(Call& call, drm_mode_crtc_page_flip_target& flip);
int set_plane(Call& call, drm_mode_set_plane& plane);
int set_cursor(Call& call, drm_mode_cursor& cursor);
int set_cursor2(Call& call, drm_mode_cursor2& cursor);
int set_object_property(Call& call, drm_mode_obj_set_property& property);
int set_connector_property(Call& call, drm_mode_connector_set_property& property);
int commit_atomic(Call& call, drm_mode_atomic& atomic);

// Vertical blanks.
int wait_vblank(Call& call, drm_wait_vblank& wait);
int get_sequence(Call& call, drm_crtc_get_sequence& sequence);
int queue_sequence(Call& call, drm_crtc_queue_sequence& sequence);

// ---- shared by these files
enum class WhenBusy { wait, refuse };
// Checks and commits a state. With `wait`, returns once the state is visible; with `refuse`, once it is queued. Both
// return -EBUSY if a commit is pending.
int commit_state(Call& call, KmsState next, std::vector<KmsEvent> events, WhenBusy busy, bool modeset,
                 bool async = false, FenceRef done = nullptr);
// Makes the plane fill the screen, starting at this point of the framebuffer. Null: disables it.
void fill_screen(PlaneState& plane, FramebufferRef fb, const drm_mode_modeinfo& mode, uint32_t x, uint32_t y);
// Checks a mode given by a program. Returns 0 or a negative errno.
int check_mode(const Kms& kms, const drm_mode_modeinfo& mode);
BlobRef mode_blob(Kms& kms, const drm_mode_modeinfo& mode);
FramebufferRef cursor_picture(Call& call, uint32_t handle, uint32_t width, uint32_t height, int& error);

}  // namespace halogen::driver
