// Calls that report the resources: one connector, one encoder, one CRTC, two planes.
#include <libdrm/drm_fourcc.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "driver/gem/user_memory.h"
#include "driver/kms/kms_calls.h"
#include "driver/kms/kms_properties.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kSmallest = 0;

// Copies as many elements as fit; the count is that of all.
template <class T>
bool give_some(uint64_t address, uint32_t& count, std::span<const T> values) {
  const size_t room = std::min<size_t>(count, values.size());
  count = static_cast<uint32_t>(values.size());
  return room == 0 || write_user(address, values.data(), room * sizeof(T));
}
// Copies all elements, or none if they do not fit.
template <class T>
bool give_all(uint64_t address, uint32_t& count, std::span<const T> values) {
  const bool fits = count >= values.size();
  count = static_cast<uint32_t>(values.size());
  return !fits || values.empty() || write_user(address, values.data(), values.size_bytes());
}

constexpr uint32_t kCrtcs[] = {kCrtcId};
constexpr uint32_t kConnectors[] = {kConnectorId};
constexpr uint32_t kEncoders[] = {kEncoderId};

drm_mode_modeinfo make_mode(const char* name, uint32_t clock, std::array<uint16_t, 4> h, std::array<uint16_t, 4> v,
                            uint32_t flags, bool preferred = false) {
  drm_mode_modeinfo mode{};
  mode.clock = clock;
  mode.hdisplay = h[0];
  mode.hsync_start = h[1];
  mode.hsync_end = h[2];
  mode.htotal = h[3];
  mode.vdisplay = v[0];
  mode.vsync_start = v[1];
  mode.vsync_end = v[2];
  mode.vtotal = v[3];
  mode.vrefresh = 60;
  mode.flags = flags;
  mode.type = DRM_MODE_TYPE_DRIVER | (preferred ? DRM_MODE_TYPE_PREFERRED : 0);
  std::strncpy(mode.name, name, sizeof mode.name - 1);
  return mode;
}

}  // namespace

const std::vector<drm_mode_modeinfo>& Kms::modes() {
  constexpr uint32_t kPositive = DRM_MODE_FLAG_PHSYNC | DRM_MODE_FLAG_PVSYNC;
  constexpr uint32_t kNegative = DRM_MODE_FLAG_NHSYNC | DRM_MODE_FLAG_NVSYNC;
  static const std::vector<drm_mode_modeinfo> modes = {
      make_mode("1024x768", 65'000, {1024, 1048, 1184, 1344}, {768, 771, 777, 806}, kNegative, true),
      make_mode("1920x1080", 148'500, {1920, 2008, 2052, 2200}, {1080, 1084, 1089, 1125}, kPositive),
      make_mode("1280x720", 74'250, {1280, 1390, 1430, 1650}, {720, 725, 730, 750}, kPositive),
      make_mode("800x600", 40'000, {800, 840, 968, 1056}, {600, 601, 605, 628}, kPositive),
      make_mode("640x480", 25'175, {640, 656, 752, 800}, {480, 490, 492, 525}, kNegative),
  };
  return modes;
}

uint32_t Kms::largest_edge() const {
  return spec::interface_of(gpu_.hardware().model().id).max_framebuffer;
}

int get_resources(Call& call, drm_mode_card_res& resources) {
  Kms& kms = call.driver.kms();
  std::vector<uint32_t> pictures;
  for (const auto& [id, fb] : kms.fbs()) {
    if (fb->owner == &call.file) pictures.push_back(id);
  }
  resources.min_width = resources.min_height = kSmallest;
  resources.max_width = resources.max_height = kms.largest_edge();
  const bool given = give_some<uint32_t>(resources.fb_id_ptr, resources.count_fbs, pictures) &&
                     give_some<uint32_t>(resources.crtc_id_ptr, resources.count_crtcs, kCrtcs) &&
                     give_some<uint32_t>(resources.encoder_id_ptr, resources.count_encoders, kEncoders) &&
                     give_some<uint32_t>(resources.connector_id_ptr, resources.count_connectors, kConnectors);
  return given ? 0 : -EFAULT;
}

int get_connector(Call& call, drm_mode_get_connector& connector) {
  if (connector.connector_id != kConnectorId) return -ENOENT;
  Kms& kms = call.driver.kms();
  connector.encoder_id = kms.state().connected ? uint32_t{kEncoderId} : 0;
  connector.connector_type = DRM_MODE_CONNECTOR_HDMIA;
  connector.connector_type_id = 1;
  connector.connection = 1;
  connector.mm_width = 270;
  connector.mm_height = 203;
  connector.subpixel = 1;  // unknown
  const PropertyList list = list_properties(kms, kConnectorId, call.file.atomic);
  const bool fits = connector.count_props >= list.ids.size();
  connector.count_props = static_cast<uint32_t>(list.ids.size());
  const bool given = give_all<drm_mode_modeinfo>(connector.modes_ptr, connector.count_modes, Kms::modes()) &&
                     give_all<uint32_t>(connector.encoders_ptr, connector.count_encoders, kEncoders) &&
                     (!fits || (write_user(connector.props_ptr, list.ids.data(), list.ids.size() * 4) &&
                                write_user(connector.prop_values_ptr, list.values.data(), list.values.size() * 8)));
  return given ? 0 : -EFAULT;
}

int get_encoder(Call& call, drm_mode_get_encoder& encoder) {
  if (encoder.encoder_id != kEncoderId) return -ENOENT;
  encoder.encoder_type = DRM_MODE_ENCODER_TMDS;
  encoder.crtc_id = call.driver.kms().state().connected ? uint32_t{kCrtcId} : 0;
  encoder.possible_crtcs = 1;
  encoder.possible_clones = 1;
  return 0;
}

int get_crtc(Call& call, drm_mode_crtc& crtc) {
  if (crtc.crtc_id != kCrtcId) return -ENOENT;
  const KmsState& state = call.driver.kms().state();
  crtc.gamma_size = 0;
  crtc.fb_id = state.primary.fb ? state.primary.fb->id : 0;
  crtc.x = state.primary.src_x >> 16;
  crtc.y = state.primary.src_y >> 16;
  crtc.mode_valid = state.mode ? 1 : 0;
  if (state.mode) crtc.mode = state.timing();
  return 0;
}

// Without DRM_CLIENT_CAP_UNIVERSAL_PLANES only overlays are listed. The model has no overlays.
int get_planes(Call& call, drm_mode_get_plane_res& planes) {
  constexpr uint32_t kPlanes[] = {kPrimaryId, kCursorId};
  const std::span<const uint32_t> all = call.file.universal_planes ? kPlanes : std::span<const uint32_t>();
  return give_some<uint32_t>(planes.plane_id_ptr, planes.count_planes, all) ? 0 : -EFAULT;
}

int get_plane(Call& call, drm_mode_get_plane& plane) {
  if (plane.plane_id != kPrimaryId && plane.plane_id != kCursorId) return -ENOENT;
  Kms& kms = call.driver.kms();
  const bool cursor = plane.plane_id == kCursorId;
  const PlaneState& state = cursor ? kms.state().cursor : kms.state().primary;
  plane.crtc_id = state.on_crtc ? uint32_t{kCrtcId} : 0;
  plane.fb_id = state.fb ? state.fb->id : 0;
  plane.possible_crtcs = 1;
  plane.gamma_size = 0;
  const std::vector<uint32_t> formats = cursor ? std::vector<uint32_t>{DRM_FORMAT_ARGB8888} : kms.pipe().formats();
  return give_all<uint32_t>(plane.format_type_ptr, plane.count_format_types, formats) ? 0 : -EFAULT;
}

int get_pipe_of_crtc(Call&, drm_i915_get_pipe_from_crtc_id& pipe) {
  if (pipe.crtc_id != kCrtcId) return -ENOENT;
  pipe.pipe = 0;
  return 0;
}

// Refuses the call, because the model has no gamma table.
int get_gamma(Call&, drm_mode_crtc_lut& table) {
  if (table.crtc_id != kCrtcId) return -ENOENT;
  return table.gamma_size == 0 ? 0 : -EINVAL;
}

}  // namespace halogen::driver
